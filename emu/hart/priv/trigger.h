/* Debug triggers (Sdtrig; RISC-V debug specification 1.0, chapter 5): a program's own breakpoints and watchpoints.
 *
 * Each trigger compares addresses, as mcontrol6 or as its predecessor mcontrol (type 2, the type out of reset), and raises
 * a breakpoint exception before the instruction. A load or store is compared by all its bytes, a cache-block operation by
 * all bytes of its block, code by its first byte; only triggers that do not compare code can ask for a size. A trigger does not
 * fire in machine mode while mstatus.MIE is clear, nor in supervisor mode while sstatus.SIE is clear and breakpoints are
 * delegated (section 5.4, solution 1), so there is no tcontrol. There is no data to compare (select), no debug mode
 * (dmode, action 1), no tdata3, and no contexts. */
#ifndef EMU_HART_PRIV_TRIGGER_H
#define EMU_HART_PRIV_TRIGGER_H

#include <stdbool.h>
#include <stdint.h>

struct hart;

enum { TRIGGERS = 4 };

/* What a trigger compares: bits of tdata1. */
enum trigger_kind { TRIGGER_LOAD = 1, TRIGGER_STORE = 2, TRIGGER_EXECUTE = 4 };

struct trigger {
    uint64_t data1, data2; /* the registers tdata1 and tdata2 */
};

struct triggers {
    uint8_t armed; /* set of enum trigger_kind: the kinds that some trigger compares in some mode */
    uint8_t selected;
    struct trigger list[TRIGGERS];
};

/* Returns triggers as out of reset. */
struct triggers trigger_reset(void);

/* Reads tselect, tdata1, tdata2, tdata3 or tinfo. */
uint64_t trigger_read(const struct hart *hart, unsigned number);

/* Writes one of these registers, keeping only legal values. Returns whether what is armed may have changed. */
bool trigger_write(struct hart *hart, unsigned number, uint64_t value);

/* Return whether some trigger may fire, in some mode, for code at pc; for an access; for an access of that kind to the page
 * (of MMU_PAGE bytes) of an address. If they return false, none does. They change nothing. */
bool trigger_may_execute(const struct hart *hart, uint64_t pc);
bool trigger_may_access(const struct hart *hart, uint64_t address, unsigned size, enum trigger_kind kind);
bool trigger_may_page(const struct hart *hart, uint64_t address, enum trigger_kind kind);

/* Return whether a trigger fires: before the instruction at hart->pc; before it accesses `size` bytes, `kinds` being a set of
 * enum trigger_kind. Then hart->trap is set, and the triggers' hit bits. */
bool trigger_on_execute(struct hart *hart);
bool trigger_on_access(struct hart *hart, uint64_t address, unsigned size, unsigned kinds);

#endif
