/* How a mechanism takes part in machines: the hooks of its kind of part (struct part_kind), and the machine around its parts,
 * as the hooks see it. emu/machine fills in struct assembly and calls the hooks, so that it knows no mechanism by name, and
 * no mechanism includes emu/machine.
 *
 * Of each part of the kind, in this order:
 *   description   reserves(), allows(): the description has been read and each part has been checked
 *   plan          plan(): homes are known, nothing is made
 *   making        place(): all parts before this one in the list of kinds are made, and none is connected;
 *                 without a clock, untimed()
 *   run           allocated()
 *   end           finish() of all parts, then findings() of all parts
 * Parts that serve instructions, count energy and so on have functions in struct part_kind. A mechanism of cores, which
 * takes instructions from them, has struct core_mechanism (emu/core/mechanism.h) too. */
#ifndef EMU_SCHEMA_ASSEMBLY_H
#define EMU_SCHEMA_ASSEMBLY_H

#include "emu/schema/tree.h"

struct Elf; /* libelf */
struct hart;
struct home_layout;
struct home_map;
struct mem_site;
struct simt_grid;
struct stream_peers;
struct assembly;

/* Questions about a machine whose parts are being made. */
struct assembly_ops {
    /* Returns the part made from an instance. NULL: it has not been made yet, or is left out. */
    void *(*object)(const struct assembly *assembly, const struct instance *part);
    /* Returns the part of a kind whose asking port is connected to the part; the first one, or NULL. */
    const struct instance *(*client)(const struct assembly *assembly, const struct instance *part,
                                     const struct part_kind *kind);
    /* Stores the number, module * stacks + stack, of the memory in the part's group. False: there is none. */
    bool (*memory_beside)(const struct assembly *assembly, const struct instance *part, uint32_t *number);
    /* Returns the program's file, which stays open as long as the parts; NULL: there is none. */
    struct Elf *(*program)(const struct assembly *assembly);
    /* Returns zeroed memory that is freed after the parts. */
    void *(*keep)(const struct assembly *assembly, size_t bytes);
};

struct assembly {
    const struct tree *tree;
    uint64_t memory_base, memory_size;     /* main memory */
    uint64_t reserved_first, reserved_end; /* of it what a part reserves; equal: nothing */
    uint64_t stack_size;                   /* a user program's stack, at the end of main memory */

    /* From plan() on, with a clock: the homes of main memory, and their layout as the description has it (emu/mem/home.h). */
    struct home_map *homes;
    const struct home_layout *layout;

    /* From the making on. `harts` have one memory and one decoder. */
    struct hart *harts;
    uint32_t hart_count;

    /* From the making on, with a clock. */
    struct stream_peers *peers; /* those that share memory with the harts */
    struct simt_grid *grid;     /* the scheduler of launches; NULL: the machine has no multiprocessors */
    bool check_coherence;       /* report stale copies */
    const struct assembly_ops *ops;
    void *context; /* of `ops` */
};

/* Returns how many parts of a kind have been made, and stores a list of them, which is freed after the parts. */
uint32_t assembly_objects(const struct assembly *assembly, const struct part_kind *kind, void ***objects);

/* Returns the first part after `last` (NULL: of all) that reserves memory, or NULL. */
const struct instance *assembly_reserver(const struct tree *tree, const struct instance *last);

/* Stores the addresses that a part reserves of main memory, which begins at `base`; part NULL: both are `base`. */
void assembly_reserved(const struct instance *part, uint64_t base, uint64_t *first, uint64_t *end);

/* Reserved memory as a device tree describes it: pieces that take turns among units, of which `together` are a team. */
struct assembly_pieces {
    const char *compatible;
    uint32_t units, together;
    uint64_t piece; /* bytes */
};

/* Each hook may be NULL. Hooks that return false have set err to a message with the place of its cause (tree_at()). */
struct assembly_hooks {
    bool fixed;    /* parts of the kind stand only in roles of other kinds */
    bool offloads; /* multiprocessors let others execute blocks of their code */

    /* Stores the range of main memory, from its first byte on, that programs get from no call. */
    void (*reserves)(const void *config, uint64_t *offset, uint64_t *size);
    /* With reserves(): says what the range is. Returns false if no operating system can use it. */
    bool (*describes)(const struct tree *tree, const void *config, struct assembly_pieces *pieces);
    /* Checks a part of a machine with timed cores against main memory and the other parts. */
    bool (*allows)(const struct assembly *assembly, const struct instance *part, struct error *err);
    /* Checks that the part fits the memories, and sets homes. */
    bool (*plan)(const struct assembly *assembly, const struct instance *part, struct error *err);

    /* Returns part_site.place for make(): a struct of the mechanism, from keep(), that may refer to *memory. NULL: the part
     * is left out. Without the hook, part_site.place is `memory`. */
    const void *(*place)(const struct assembly *assembly, const struct instance *part,
                         const struct mem_site *memory);
    /* Makes a part without time, which units() and free() of its kind take. NULL: it is left out. At most one part of a kind
     * is made. */
    void *(*untimed)(const struct assembly *assembly, const struct instance *part);

    /* The program has allocated [base, base + bytes) or, if bytes is 0, freed the allocation that begins at `base`. */
    void (*allocated)(void *part, uint64_t base, uint64_t bytes);
    /* The run has ended. */
    void (*finish)(void *part);
    /* Prints what the part's checks have found. Returns the number of findings. */
    uint64_t (*findings)(const void *part);

    /* Warns that hosts have run regions themselves because no core of the machine can offload them. Called also for machines
     * without a part of the kind. present: the machine has a core_mechanism. */
    void (*inlined)(const struct tree *tree, const char *machine, bool present);
};

#endif
