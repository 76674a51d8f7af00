/* Trap loops: a hart that takes the same trap again and again without progress, for example because its trap vector leads
 * to memory that does not exist.
 *
 * A trip leads from a trap to the next one. The same trap has the same cause, value, pc and mode. After `limit` same traps
 * in a row, two trips are stepped and compared. It is a loop if both execute the same instructions, store the same bytes at
 * the same places and end with the same registers and CSRs, so that all further trips do the same, and if nothing else can
 * end it:
 *   - no instruction is executed after the return to the pc of the trap: what the program does there is progress;
 *   - no device is accessed, no time, counter or pending interrupt is read, and there is no WFI and no custom instruction;
 *   - no interrupt is taken, and none that could become pending is enabled; with other harts, that includes software
 *     interrupts;
 *   - with other harts, nothing is loaded but what the trip itself has stored, and no page table is used.
 * Otherwise the hart looks again after twice as many traps.
 *
 * A handler that stores registers on an overflowed stack moves sp at each trip. So if the instruction that traps accesses
 * memory at sp, the trap's value, sp and the scratch CSRs may differ from trip to trip. */
#ifndef EMU_HART_PRIV_TRAP_LOOP_H
#define EMU_HART_PRIV_TRAP_LOOP_H

#include <stdbool.h>
#include <stdint.h>

struct hart;
struct step_report;

enum { TRAP_LOOP_DEFAULT = 1000, TRAP_LOOP_STORES = 64 };

struct trap_loop_trap {
    uint64_t pc, value, cause;
    uint64_t instret; /* the hart's, when it trapped */
    uint8_t privilege;
};

struct trap_loop {
    uint64_t limit; /* 0: nothing is observed */
    bool peers;     /* other harts share the memory */
    bool checking;  /* instructions must be stepped and given to trap_loop_step() */
    bool found;     /* the last call of trap_loop_note() has found a loop */
    bool back;      /* the trip has returned to the pc of the trap */
    bool at_stack;  /* the instruction that traps accesses memory at sp */
    unsigned stores;
    uint64_t count; /* same traps in a row */
    uint64_t next;  /* count at which the hart looks closer */
    uint64_t steps, trip,
        previous; /* instructions and digest of this trip; digest of the one before, 0: none */
    struct trap_loop_trap last, before; /* before: the last one that differs; cause UINT64_MAX: none */
    uint64_t stored[TRAP_LOOP_STORES];  /* addresses / 8 of the trip's first stores */
};

/* Starts to observe the hart. */
void trap_loop_init(struct hart *hart, uint64_t limit, bool peers);

/* Call it before the hart takes hart->trap at hart->pc. Returns true if the hart is in a loop. */
bool trap_loop_note(struct hart *hart);

/* Call it after each retired instruction while `checking` is true. */
void trap_loop_step(struct hart *hart, const struct step_report *report);

/* Call it when the hart takes an interrupt or is reset: what came before does not count. */
static inline void trap_loop_forget(struct trap_loop *loop)
{
    loop->checking = loop->found = false;
    loop->count = 0;
    loop->last.cause = loop->before.cause = UINT64_MAX;
}

#endif
