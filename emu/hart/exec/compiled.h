/* Compiled code of blocks, which a compiler (emu/jit) attaches to a hart.
 *
 * A region is the code of some blocks: it does what their ops do, and counts what they count, so that the interpreter can go
 * on at any of their ops. The first op of a block that is an entry of a region has the handler `compiled`, and leads to its
 * struct compiled_entry. */
#ifndef EMU_HART_EXEC_COMPILED_H
#define EMU_HART_EXEC_COMPILED_H

#include <stdbool.h>
#include <stdint.h>

#include "emu/hart/exec/op.h"

struct hart;

/* How the interpreter goes on after a region. */
enum compiled_exit_kind {
    COMPILED_RESUME,   /* executes op, which is one of the region's blocks' */
    COMPILED_LEAVE,    /* leaves the block through the exit slot op, whose instructions have been counted */
    COMPILED_INDIRECT, /* goes to hart->pc by an indirect jump */
    COMPILED_ENTER,    /* executes op, a block's first one, if the budget is not used up */
};

struct compiled_exit {
    const union op *op;
    uint8_t kind; /* enum compiled_exit_kind */
    uint8_t acc;  /* register whose value op finds in acc */
};

/* Runs a region from an entry on, until an exit. Returns its index; hart->budget and the registers are up to date. memory is
 * the host address that guest address 0 would have, slots the ops of the hart's blocks. */
typedef uint32_t compiled_code(struct hart *hart, int64_t budget, uint32_t entry, union op *slots,
                               uint8_t *memory);

struct compiled_region {
    compiled_code *code;
    const struct compiled_exit *exits;
    union op *slots;
    uint8_t *memory;
    uint64_t drops, store_base; /* of the hart when it was compiled: the code is not valid for others */
};

/* Most instructions of a region. */
enum { COMPILED_MOST = 1500 };

struct compiled_entry {
    const struct compiled_region *region;
    uint64_t pc;
    op_handler *run; /* the op's handler in the interpreter */
    uint32_t number;
    uint32_t need;    /* the region goes on here with as much budget */
    uint64_t entered; /* how often the interpreter entered it here */
};

/* A compiler, as the hart sees it. */
struct compiler {
    /* The interpreter has executed `slice` instructions since the last call; hart->pc is where it was interrupted. */
    void (*sampled)(struct compiler *compiler, struct hart *hart);
    /* Blocks have been dropped since the region of the entry was compiled. Returns NULL if the region is still valid, or else the
     * handler that executes the op; then the entry may be gone. */
    op_handler *(*dropped)(struct compiler *compiler, struct compiled_entry *entry);
    int64_t slice, left; /* left: of the slice, when a run begins */
    int64_t ran;         /* what regions have taken of the run's budget, if that has no reserve */
    /* Runs a region in place of its code, with the same results; NULL: the code runs. */
    uint32_t (*run)(struct compiler *compiler, struct hart *hart, const struct compiled_entry *entry,
                    int64_t budget);
    int64_t longest; /* a region is left after about as many instructions, for a sample */
    int64_t entry;   /* what each entry of a region takes from the slice */
    /* Code that accesses data through a mirror (emu/hart/mmu/mirror.h) has faulted at a host address; called in a handler of SIGSEGV.
     * Returns where it goes on, or 0 if that is no access of its regions. */
    uintptr_t (*faulted)(const struct compiler *compiler, uintptr_t pc);
    bool long_run;    /* the run was interrupted because of `longest` */
    int64_t reserve;  /* while code runs: what may retire besides the interpreter's budget */
    uint64_t entered; /* how often regions were entered */
};

#endif
