/* Causes for which a nucd is a no-op, their counters, and one warning per pc. */
#ifndef EMU_NUCD_CAUSE_H
#define EMU_NUCD_CAUSE_H

#include <stdbool.h>
#include <stdint.h>

#include "emu/sim/error.h"
#include "emu/sim/report/stats.h"

/* ROW(symbol, name of its counter, explanation). If several apply, the first is the cause. The rules are in
 * isa/MANUAL.md, "Malformed operands". */
#define NUCD_CAUSES(ROW)                                                                                     \
    ROW(SIGNATURE, "signature", "Xn has no signature: the instruction is an ordinary slt x0")                \
    ROW(PAIR, "odd_pair", "Xd is an odd register; it must be the even one of a pair")                        \
    ROW(LENGTH, "no_length", "N is 0: the region is empty, or its operands cannot be encoded")               \
    ROW(WRAP, "region_wraps", "the region goes past the end of the address space")                           \
    ROW(CODE, "region_outside", "the region goes past the program's text")                                   \
    ROW(RESULTS, "two_results", "Xt brings back two registers; one is allowed")                              \
    ROW(STACK, "stack_pointer", "a segment names sp; accelerators have a stack of their own")                \
    ROW(RANGE_WRAP, "range_wraps", "a range goes past the end of the address space")                         \
    ROW(RANGE, "range_outside", "a range begins outside of memory")                                          \
    ROW(CAPABILITY, "capability", "no accelerator has all of the capabilities in C")

#define NUCD_CAUSE_SYMBOL(symbol, name, text) NUCD_CAUSE_##symbol,
enum nucd_cause { NUCD_CAUSES(NUCD_CAUSE_SYMBOL) NUCD_CAUSE_COUNT, NUCD_WELL_FORMED = NUCD_CAUSE_COUNT };
#undef NUCD_CAUSE_SYMBOL

enum { NUCD_CAUSE_PLACES = 512 }; /* maximum number of pcs that are warned of */

/* Initialize with zeroes. */
struct nucd_causes {
    const char *runner; /* who runs the regions of malformed nucds, for warnings; NULL: the host */
    uint64_t count[NUCD_CAUSE_COUNT];
    bool full;                              /* a warning has said that there is no room for another pc */
    uint64_t places[2 * NUCD_CAUSE_PLACES]; /* hash set of pc + 1; 0 = free */
    unsigned place_count;
};

/* Returns the explanation of a cause, without a place. `cause` must not be NUCD_WELL_FORMED. */
const char *nucd_cause_text(enum nucd_cause cause);

/* Counts the cause. Returns true, with a message in *warning, when the user should be warned: the first time
 * for each pc, and once when there is no room for another pc; never for a missing signature, because ordinary
 * programs contain other slt x0. */
bool nucd_causes_note(struct nucd_causes *causes, enum nucd_cause cause, uint64_t pc, struct error *warning);

/* Registers the counter "malformed.NAME" of each cause. */
void nucd_causes_publish(struct nucd_causes *causes, struct stats *stats, struct scope scope);

#endif
