/* The footprint checker (--check nucd): finds accesses of tasks to memory that their nucds do not name.
 *
 * A task may read its input ranges, read and write its output ranges, each rounded out to cache lines, use its
 * accelerator's stack, and read and execute what no task can write: the program's read-only segments. All else works
 * by luck: the host neither cleans it before the task starts, nor makes others wait for it, nor looks at it anew
 * afterwards (isa/MANUAL.md, "--check nucd").
 *
 * Whoever sends a task says what it may do, in the order in which the accelerator will take them; a task for which
 * nothing was said is not checked. Addresses are those that the program sees. Not seen: walks of tables, and fetches
 * that are never executed. */
#ifndef EMU_NUCD_FOOTPRINT_CHECK_H
#define EMU_NUCD_FOOTPRINT_CHECK_H

#include "emu/hart/stream.h"
#include "emu/nucd/packet.h"
#include "emu/nucd/task.h"
#include "emu/sim/stats.h"

enum footprint_kind { FOOTPRINT_LOAD, FOOTPRINT_STORE, FOOTPRINT_FETCH, FOOTPRINT_KINDS };

/* Accesses of one kind by one instruction that were violations; address, size, accelerator and nucd are of the first. */
struct footprint_finding {
    uint64_t pc, address;
    uint64_t nucd;  /* pc of the task's nucd */
    uint64_t count; /* of all of them */
    enum footprint_kind kind;
    unsigned accelerator;
    uint8_t size;   /* bytes */
    bool read_only; /* a store to what the task may only read */
};

struct footprint_check_options {
    unsigned accelerators;
    /* Is told of each instruction's first violation of a kind. */
    void (*report)(void *context, const struct footprint_finding *finding);
    /* Is told of the first task of which nothing is known: its region begins at `begin`. */
    void (*unknown)(void *context, unsigned accelerator, uint64_t begin);
    void *context;
};

struct footprint_check;

/* Never NULL (out of memory aborts); copies the options. Free with footprint_check_free(), which takes NULL. */
struct footprint_check *footprint_check_new(const struct footprint_check_options *options);
void footprint_check_free(struct footprint_check *check);

/* All tasks may read and execute bytes first..last. */
void footprint_check_allow(struct footprint_check *check, uint64_t first, uint64_t last);

/* Bytes first..last are the stack of an accelerator's tasks. */
void footprint_check_stack(struct footprint_check *check, unsigned accelerator, uint64_t first,
                           uint64_t last);

/* The task is on its way to the accelerator. Copies it. */
void footprint_check_begin(struct footprint_check *check, unsigned accelerator, const struct nucd_task *task);

/* A driver has been called for the task, and may send it to any accelerator. Copies it; of many that never start, the
 * oldest are forgotten. */
void footprint_check_offer(struct footprint_check *check, const struct nucd_task *task);

/* The accelerator has started the task of this packet. Tasks that were sent to it before and are not this one never
 * will be started. */
void footprint_check_start(struct footprint_check *check, unsigned accelerator,
                           const struct nucd_packet *packet);

/* The region under way has executed these. */
void footprint_check_follow(struct footprint_check *check, unsigned accelerator,
                            const struct stream_entry *entries, uint32_t count);

struct footprint_counters {
    uint64_t tasks, unknown; /* that were checked, and that could not be */
    uint64_t accesses;       /* loads and stores that were checked */
    uint64_t violations;     /* of all kinds */
};

const struct footprint_counters *footprint_check_counted(const struct footprint_check *check);

/* The findings, in order of their first violations; valid until the next one. */
const struct footprint_finding *footprint_check_findings(const struct footprint_check *check,
                                                         unsigned *count);

/* Registers "accesses" and all else that is counted. */
void footprint_check_publish(struct footprint_check *check, struct stats *stats, struct scope scope);

/* "load", and what to do about a finding, in one sentence. Constant. */
const char *footprint_kind_name(enum footprint_kind kind);
const char *footprint_advice(const struct footprint_finding *finding);

#endif
