/* Machines: a description (emu/schema/tree.h) whose parts form a computer, and typed views of its parts. */
#ifndef EMU_MACHINE_MACHINE_H
#define EMU_MACHINE_MACHINE_H

#include "emu/core/config.h"
#include "emu/dev/device.h"
#include "emu/dram/config.h"
#include "emu/machine/describe/root.h"
#include "emu/schema/assembly.h"
#include "emu/simt/multiprocessor.h"

/* A resolved description. Pointers point into the tree; they are NULL for parts that the machine lacks. */
struct machine_config {
    struct tree *tree;
    const char *name, *description;
    uint32_t harts;
    uint64_t quantum;
    uint64_t isa;                           /* the harts' extensions (isa/decoder/set.h) */
    unsigned host_count, accel_count;       /* numbers of cores */
    const struct core_config *host, *accel; /* the first core of each; host is never NULL */
    const struct memory_config *memory;
    const struct user_stack_config *stack;
    const struct mmu_config *mmu;
    const struct simt_config *simt;  /* the first SIMT part; NULL: none */
    uint32_t multiprocessors, warps; /* totals of all SIMT parts */
    uint32_t launchers;              /* multiprocessors on which launches place blocks */
    uint64_t threads;                /* most threads that one multiprocessor holds */
    struct {
        uint64_t latency; /* fs */
        const struct device_config *clint, *plic, *uart;
    } devices;
};

/* All kinds, in the order in which parts are made, NULL-terminated (emu/machine/kinds.c). */
extern const struct part_kind *const machine_kinds[];

/* Loads `machine` (a shipped name or a path). Settings apply in the order: defaults, the extended
 * descriptions, the file, then sets[set_count], each NAME=VALUE. Shipped machines are shipped_dir/NAME.yaml.
 * False with err set on failure; the message names file, line, key and what is allowed. After success,
 * release with machine_free(); after failure there is nothing to release. */
bool machine_load(struct machine_config *config, const char *machine, const char *shipped_dir,
                  const char *const *sets, size_t set_count, struct error *err);
/* The same for a description that is a text, unless that is NULL; messages call it `machine`. */
bool machine_load_text(struct machine_config *config, const char *machine, const char *text,
                       const char *shipped_dir, const char *const *sets, size_t set_count, struct error *err);
void machine_free(struct machine_config *config);

/* See tree_show(). */
void machine_show(const struct machine_config *config, FILE *out);

/* See tree_source_of(). */
enum { MACHINE_SOURCE = TREE_SOURCE };
void machine_source(const struct machine_config *config, const char *name, char buffer[MACHINE_SOURCE]);

/* Returns whether a last level keeps caches coherent by word, those of multiprocessors too. */
bool machine_by_word(const struct machine_config *config);

/* Returns whether multiprocessors let others execute blocks of their code. */
bool machine_offloads(const struct machine_config *config);

/* Returns the name of a kind of part of the machine that reports what its own checks find; NULL: there is none. */
const char *machine_checks(const struct machine_config *config);

/* Stores the range of main memory that programs get from no call, because it belongs to a mechanism. Returns the name of the
 * part that has it, or stores an empty range at 0 and returns NULL. */
const char *machine_reserved(const struct machine_config *config, uint64_t *first, uint64_t *end);

/* Returns the machine as hooks see it (emu/schema/assembly.h) before anything is made or planned. */
static inline struct assembly machine_assembly(const struct machine_config *config)
{
    struct assembly assembly = {.tree = config->tree,
                                .memory_base = config->memory->base,
                                .memory_size = config->memory->size,
                                .stack_size = config->stack->size};
    assembly_reserved(assembly_reserver(config->tree, NULL), assembly.memory_base, &assembly.reserved_first,
                      &assembly.reserved_end);
    return assembly;
}

/* Returns true if the machine has a clock, that is, timed cores. */
static inline bool machine_timed(const struct machine_config *config)
{
    return config->host->core != CORE_FUNCTIONAL;
}

#endif
