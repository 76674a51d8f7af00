/* The footprint checker (--check nucd): finds accesses of tasks to memory that their nucds do not name.
 *
 * A task may read its input ranges, and read and write its output ranges, each rounded out to cache lines. It
 * may use its accelerator's stack, and read and execute memory that no task can write, which is the program's
 * read-only segments. Other accesses work only by luck: the host does not clean that memory before the task
 * starts, does not make other accesses wait for the task, and does not read the memory again after the task
 * (emu/nucd/README.md, "--check nucd").
 *
 * The sender of a task reports the task's ranges, in the order in which the accelerator will take the tasks.
 * A task that was not reported is not checked. Addresses are the program's. Page walks and wrong-path fetches
 * are not checked. */
#ifndef EMU_NUCD_UNITS_FOOTPRINT_CHECK_H
#define EMU_NUCD_UNITS_FOOTPRINT_CHECK_H

#include "emu/hart/stream.h"
#include "emu/nucd/packet.h"
#include "emu/nucd/task.h"
#include "emu/sim/report/stats.h"

enum footprint_kind { FOOTPRINT_LOAD, FOOTPRINT_STORE, FOOTPRINT_FETCH, FOOTPRINT_KINDS };

/* The violations of one kind by one instruction. address, size, accelerator and nucd are those of the
 * first. */
struct footprint_finding {
    uint64_t pc, address;
    uint64_t nucd;  /* pc of the task's nucd */
    uint64_t count; /* number of violations */
    enum footprint_kind kind;
    unsigned accelerator;
    uint8_t size;   /* bytes */
    bool read_only; /* a store to memory that the task may read */
};

struct footprint_check_options {
    unsigned accelerators;
    /* Called for the first violation of each kind by each instruction. */
    void (*report)(void *context, const struct footprint_finding *finding);
    /* Called for the first task that was not reported. Its region begins at `begin`. */
    void (*unknown)(void *context, unsigned accelerator, uint64_t begin);
    void *context;
};

struct footprint_check;

/* Creates a checker. Never returns NULL: out of memory aborts. Copies the options. Free it with
 * footprint_check_free(), which accepts NULL. */
struct footprint_check *footprint_check_new(const struct footprint_check_options *options);
void footprint_check_free(struct footprint_check *check);

/* Lets all tasks read and execute bytes first..last. */
void footprint_check_allow(struct footprint_check *check, uint64_t first, uint64_t last);

/* Sets the stack of an accelerator's tasks: bytes first..last. */
void footprint_check_stack(struct footprint_check *check, unsigned accelerator, uint64_t first,
                           uint64_t last);

/* Reports a task that is on its way to the accelerator. Copies it. */
void footprint_check_begin(struct footprint_check *check, unsigned accelerator, const struct nucd_task *task);

/* Reports a task for which a driver was called. The driver may send it to any accelerator. Copies it. If many
 * such tasks never start, the oldest are dropped. */
void footprint_check_offer(struct footprint_check *check, const struct nucd_task *task);

/* Notes that the accelerator has started the task of this packet. Tasks that were sent to it before this one
 * and have not started are dropped. */
void footprint_check_start(struct footprint_check *check, unsigned accelerator,
                           const struct nucd_packet *packet);

/* Checks instructions that the accelerator's current region has executed. */
void footprint_check_follow(struct footprint_check *check, unsigned accelerator,
                            const struct stream_entry *entries, uint32_t count);

struct footprint_counters {
    uint64_t tasks, unknown; /* tasks that were checked; tasks that were not reported */
    uint64_t accesses;       /* loads and stores that were checked */
    uint64_t violations;     /* violations of all kinds */
};

const struct footprint_counters *footprint_check_counted(const struct footprint_check *check);

/* Returns the findings in order of their first violations, and stores their number. They are valid until the
 * next violation. */
const struct footprint_finding *footprint_check_findings(const struct footprint_check *check,
                                                         unsigned *count);

/* Registers "accesses" and the other counters. */
void footprint_check_publish(struct footprint_check *check, struct stats *stats, struct scope scope);

/* Return the name of a kind, such as "load", and one sentence that advises how to correct a finding. Both are
 * constant strings. */
const char *footprint_kind_name(enum footprint_kind kind);
const char *footprint_advice(const struct footprint_finding *finding);

#endif
