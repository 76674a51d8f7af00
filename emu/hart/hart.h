/* One hardware thread: its architectural state, and what running instructions does to it. */
#ifndef EMU_HART_HART_H
#define EMU_HART_HART_H

#include <stdbool.h>
#include <stdint.h>

#include "emu/mem/phys.h"
#include "emu/sim/error.h"
#include "isa/decode.h"

/* Why execution stopped. */
enum hart_stop {
    HART_STOP_LIMIT, /* the instruction limit of this call is reached */
    HART_STOP_TRAP, /* hart->trap says why; pc is the address of the instruction, which has changed nothing */
    HART_STOP_MARKER, /* a marker HINT has retired; hart->marker holds it */
};

/* Exception causes (privileged specification, table of mcause values). */
enum trap_cause {
    TRAP_FETCH_MISALIGNED = 0,
    TRAP_FETCH_ACCESS = 1,
    TRAP_ILLEGAL_INSTRUCTION = 2,
    TRAP_BREAKPOINT = 3,
    TRAP_LOAD_MISALIGNED = 4,
    TRAP_LOAD_ACCESS = 5,
    TRAP_STORE_MISALIGNED = 6,
    TRAP_STORE_ACCESS = 7,
    TRAP_ECALL_USER = 8,
};

struct trap {
    enum trap_cause cause;
    uint64_t value; /* what mtval would hold: the faulting address, or the instruction's bits */
};

struct marker {
    uint32_t code;  /* enum croft_marker of isa/include/croft/roi.h */
    uint64_t value; /* the rs1 operand: the guest address of a name, or 0 */
};

enum {
    HART_SINK = 32,          /* x[HART_SINK] takes what is written to x0 */
    HART_JUMP_ENTRIES = 4096 /* of the indirect-jump cache; a power of two */
};

union op;
struct exec_table;
struct block_cache;

struct hart {
    uint64_t x[33]; /* integer registers; x[0] stays 0 */
    uint64_t f[32]; /* floating-point registers, floats NaN-boxed */
    uint64_t pc;

    /* The fast paths' window on memory: an access of up to 8 bytes at load_base + d is in bounds for d <=
     * load_last, and its bytes are at load_bytes + d; stores likewise. Other accesses take the general path
     * of step.h. */
    uint64_t load_base, load_last;
    uint8_t *load_bytes;
    uint64_t store_base, store_last;
    uint8_t *store_bytes;
    const union op *
        *jump_cache; /* HART_JUMP_ENTRIES entries: the block's first op for a target pc, by its low bits */

    uint64_t instret; /* instructions retired since reset, exact whenever hart_run() has returned */
    uint8_t fflags;   /* accrued exceptions, enum fp_flag; the host's unit holds more while code runs */
    uint8_t frm;      /* dynamic rounding mode, 0-7; 5-7 are reserved and make their users trap */
    bool host_rounds; /* what translated blocks rely on: the host can round as frm says */
    bool reserved;    /* an LR reservation is held, for the address `reservation` */
    uint64_t reservation;

    struct trap trap;
    struct marker marker;

    /* Between handlers (exec_fast.h): what remains of the budget, what instret and budget add up to, the
     * value for the next op, and why the run has ended. */
    int64_t budget;
    uint64_t origin;
    uint64_t acc;
    enum hart_stop stop;

    struct block_cache *blocks;
    const struct exec_table *exec;
    const struct phys *memory;
    const struct decoder *decoder;
    uint64_t stepped[CLASS_COUNT]; /* instructions retired one by one, by class */
};

/* Prepares a hart whose registers are all zero, over memory and decoder, which must outlive it. Until
 * hart_protect() is called, all of memory can be stored to. False when the host has no memory. Release with
 * hart_free(). */
bool hart_init(struct hart *hart, const struct phys *memory, const struct decoder *decoder,
               struct error *err);

void hart_free(struct hart *hart);

/* Lets stores reach [first, end of memory) only. Loads and fetches are not limited. */
void hart_protect(struct hart *hart, uint64_t first);

/* Runs up to max_insns instructions from hart->pc, as fast as it can, and says why it stopped. */
enum hart_stop hart_run(struct hart *hart, uint64_t max_insns);

/* Ends the ECALL at which hart_run() has stopped: it counts as retired, and pc moves behind it. */
void hart_retire_ecall(struct hart *hart);

/* Forgets all predecoded code, as FENCE.I does: call it after bytes of code were changed from outside. */
void hart_flush_code(struct hart *hart);

/* Instructions retired since reset, by class. */
void hart_count_classes(const struct hart *hart, uint64_t counts[CLASS_COUNT]);

/* Blocks translated since reset. */
uint64_t hart_blocks_translated(const struct hart *hart);

#endif
