#include "emu/hart/priv/trigger.h"

#include "emu/hart/hart.h"
#include "emu/hart/mmu.h"
#include "isa/csr.h"

/* Fields of tdata1 (sections 5.7.11 and 5.7.12). */
enum { TYPE_SHIFT = 60, TYPE_MCONTROL = 2, TYPE_MCONTROL6 = 6, TYPE_DISABLED = 15 };
enum {
    KINDS = TRIGGER_LOAD | TRIGGER_STORE | TRIGGER_EXECUTE,
    IN_USER = 1 << 3,
    IN_SUPERVISOR = 1 << 4,
    IN_MACHINE = 1 << 6,
    IN_ANY = IN_USER | IN_SUPERVISOR | IN_MACHINE,
    MATCH_SHIFT = 7,
    MATCH = 15, /* after the shift: */
    MATCH_EQUAL = 0,
    MATCH_NAPOT = 1,
    MATCH_FROM = 2,
    MATCH_BELOW = 3,
    CHAIN = 1 << 11,
    SIZE_LOW_SHIFT = 16,
    SIZE_LOW_2 = 3, /* after the shift: the lower bits of mcontrol's size, */
    SIZE_LOW_6 = 7, /* all bits of mcontrol6's */
    HIT_2 = 1 << 20,
    SIZE_HIGH_SHIFT = 21, /* the upper two bits of mcontrol's size */
    HIT_6 = 1 << 22,      /* hit0: fired before the instruction */
};
#define MASKMAX (UINT64_C(63) << 53) /* mcontrol: NAPOT ranges of up to 2^63 bytes */
/* tinfo: the types that a trigger can have, and version 1.0 */
#define INFO    (UINT64_C(1) << 24 | 1 << TYPE_DISABLED | 1 << TYPE_MCONTROL6 | 1 << TYPE_MCONTROL)

static unsigned type_of(const struct trigger *trigger)
{
    return (unsigned)(trigger->data1 >> TYPE_SHIFT);
}

static unsigned match_of(uint64_t data1)
{
    return (unsigned)(data1 >> MATCH_SHIFT) & MATCH;
}

/* Returns the size field: 0 any, 1 to 4: n halfwords, the first one 1 byte; 5: 8 bytes. */
static unsigned size_field(const struct trigger *trigger)
{
    unsigned low = (unsigned)(trigger->data1 >> SIZE_LOW_SHIFT);
    if (type_of(trigger) == TYPE_MCONTROL6)
        return low & SIZE_LOW_6;
    return (low & SIZE_LOW_2) | ((unsigned)(trigger->data1 >> SIZE_HIGH_SHIFT) & 3) << 2;
}

static bool size_matches(const struct trigger *trigger, unsigned size)
{
    static const uint8_t bytes[] = {0, 1, 2, 4, 0, 8};
    unsigned field = size_field(trigger);
    return field == 0 || bytes[field] == size;
}

/* Sets the range of addresses that match. Returns false if there are none. */
static bool find_range(const struct trigger *trigger, uint64_t *first, uint64_t *last)
{
    uint64_t address = trigger->data2;
    *first = *last = address;
    switch (match_of(trigger->data1)) {
    case MATCH_NAPOT:
        *first = address & (address + 1);
        *last = address | (address + 1);
        return true;
    case MATCH_FROM: *last = UINT64_MAX; return true;
    case MATCH_BELOW:
        *first = 0;
        *last = address - 1;
        return address > 0;
    default: return true;
    }
}

static bool compares(const struct trigger *trigger, unsigned kinds)
{
    return type_of(trigger) != TYPE_DISABLED && (trigger->data1 & kinds) && (trigger->data1 & IN_ANY);
}

static bool overlaps(const struct trigger *trigger, uint64_t address, uint64_t size)
{
    uint64_t first, last;
    return find_range(trigger, &first, &last) && address <= last && first <= address + (size - 1);
}

static bool may_reach(const struct hart *hart, uint64_t address, uint64_t size, unsigned kinds)
{
    for (unsigned i = 0; i < TRIGGERS; i++) {
        const struct trigger *trigger = &hart->triggers.list[i];
        if (compares(trigger, kinds) && overlaps(trigger, address, size))
            return true;
    }
    return false;
}

bool trigger_may_execute(const struct hart *hart, uint64_t pc)
{
    return may_reach(hart, pc, 1, TRIGGER_EXECUTE);
}

bool trigger_may_access(const struct hart *hart, uint64_t address, unsigned size, enum trigger_kind kind)
{
    return may_reach(hart, address, size, kind);
}

bool trigger_may_page(const struct hart *hart, uint64_t address, enum trigger_kind kind)
{
    return may_reach(hart, address & ~(uint64_t)(MMU_PAGE - 1), MMU_PAGE, kind);
}

/* Section 5.4: whether a breakpoint exception could be taken without losing the state of a handler. */
static bool may_fire(const struct hart *hart)
{
    const struct priv *p = &hart->priv;
    bool delegated = p->medeleg >> TRAP_BREAKPOINT & 1;
    switch (hart->privilege) {
    case PRIV_M: return p->mstatus & MSTATUS_MIE;
    case PRIV_S: return !delegated || (p->mstatus & MSTATUS_SIE);
    default: return true;
    }
}

static bool in_mode(const struct hart *hart, const struct trigger *trigger)
{
    static const uint8_t bits[] = {[PRIV_U] = IN_USER, [PRIV_S] = IN_SUPERVISOR, [PRIV_M] = IN_MACHINE};
    return trigger->data1 & bits[hart->privilege];
}

/* What triggers are compared with: an instruction before it is executed, or its access. */
struct event {
    uint64_t address;
    unsigned size;
    unsigned kinds; /* TRIGGER_EXECUTE, or a set of the others */
};

/* Returns whether a trigger matches the instruction at hart->pc, by its code or by the event's access. In a chain, one
 * trigger may compare the code and another one the access. */
static bool matches(const struct hart *hart, const struct trigger *trigger, const struct event *event)
{
    if (type_of(trigger) == TYPE_DISABLED || !in_mode(hart, trigger))
        return false;
    if ((trigger->data1 & TRIGGER_EXECUTE) && overlaps(trigger, hart->pc, 1))
        return true;
    return (trigger->data1 & event->kinds & (TRIGGER_LOAD | TRIGGER_STORE)) &&
           size_matches(trigger, event->size) && overlaps(trigger, event->address, event->size);
}

/* Returns the index of the first trigger after the chain that begins at `first`. */
static unsigned chain_end(const struct triggers *triggers, unsigned first)
{
    while (triggers->list[first].data1 & CHAIN)
        first++;
    return first + 1;
}

static void note_hit(struct trigger *trigger)
{
    trigger->data1 |= type_of(trigger) == TYPE_MCONTROL6 ? HIT_6 : HIT_2;
}

/* Returns whether some chain matches as a whole. Sets the hit bits of all chains that do, and *fired to the last trigger
 * of the first such chain. */
static bool fires(struct hart *hart, const struct event *event, const struct trigger **fired)
{
    struct triggers *triggers = &hart->triggers;
    *fired = NULL;
    for (unsigned first = 0, end; first < TRIGGERS; first = end) {
        bool all = true;
        end = chain_end(triggers, first);
        for (unsigned i = first; i < end && all; i++)
            all = matches(hart, &triggers->list[i], event);
        for (unsigned i = first; i < end && all; i++)
            note_hit(&triggers->list[i]);
        if (all && !*fired)
            *fired = &triggers->list[end - 1];
    }
    return *fired;
}

bool trigger_on_execute(struct hart *hart)
{
    const struct event event = {.kinds = TRIGGER_EXECUTE};
    const struct trigger *fired;
    if (!may_fire(hart) || !fires(hart, &event, &fired))
        return false;
    hart->trap = (struct trap){TRAP_BREAKPOINT, hart->pc};
    return true;
}

/* The trap's value is the address of the first byte that matches. */
bool trigger_on_access(struct hart *hart, uint64_t address, unsigned size, unsigned kinds)
{
    const struct event event = {address, size, kinds};
    const struct trigger *fired;
    uint64_t first, last;
    if (!may_fire(hart) || !fires(hart, &event, &fired))
        return false;
    bool known = (fired->data1 & kinds) && find_range(fired, &first, &last);
    hart->trap = (struct trap){TRAP_BREAKPOINT, known && first > address ? first : address};
    return true;
}

struct triggers trigger_reset(void)
{
    struct triggers triggers = {0};
    for (unsigned i = 0; i < TRIGGERS; i++)
        triggers.list[i].data1 = (uint64_t)TYPE_MCONTROL << TYPE_SHIFT | MASKMAX;
    return triggers;
}

uint64_t trigger_read(const struct hart *hart, unsigned number)
{
    const struct triggers *triggers = &hart->triggers;
    const struct trigger *trigger = &triggers->list[triggers->selected];
    switch (number) {
    case CSR_tselect: return triggers->selected;
    case CSR_tdata1: return trigger->data1;
    case CSR_tdata2: return trigger->data2;
    case CSR_tinfo: return INFO;
    default: return 0;
    }
}

/* Returns the legal value of tdata1 for trigger `index`. */
static uint64_t legal_data1(unsigned index, uint64_t value)
{
    uint64_t type = value >> TYPE_SHIFT, size = value >> SIZE_LOW_SHIFT & SIZE_LOW_6;
    uint64_t kept = value & (KINDS | IN_ANY | (uint64_t)MATCH << MATCH_SHIFT | CHAIN);
    if (type != TYPE_MCONTROL && type != TYPE_MCONTROL6)
        return (uint64_t)TYPE_DISABLED << TYPE_SHIFT;
    if (type == TYPE_MCONTROL)
        size = (size & SIZE_LOW_2) | (value >> SIZE_HIGH_SHIFT & 3) << 2;
    if (match_of(kept) > MATCH_BELOW)
        kept &= ~((uint64_t)MATCH << MATCH_SHIFT);
    if (index == TRIGGERS - 1)
        kept &= ~(uint64_t)CHAIN; /* there is no next one */
    if ((value & TRIGGER_EXECUTE) || size == 4 || size > 5)
        size = 0;
    kept |= type << TYPE_SHIFT;
    if (type == TYPE_MCONTROL6)
        return kept | size << SIZE_LOW_SHIFT | (value & HIT_6);
    return kept | MASKMAX | (size & SIZE_LOW_2) << SIZE_LOW_SHIFT | (size >> 2) << SIZE_HIGH_SHIFT |
           (value & HIT_2);
}

/* A NAPOT range has at most 2^63 bytes, which 62 ones at the end of tdata2 stand for. Clears bit 62 of a larger range. */
static void limit_range(struct trigger *trigger)
{
    const uint64_t ones = UINT64_MAX >> 1;
    if (match_of(trigger->data1) == MATCH_NAPOT && (trigger->data2 & ones) == ones)
        trigger->data2 &= ~(UINT64_C(1) << 62);
}

/* Sets `armed`. Returns whether some trigger was or is armed. */
static bool rearm(struct triggers *triggers)
{
    uint8_t before = triggers->armed;
    triggers->armed = 0;
    for (unsigned i = 0; i < TRIGGERS; i++)
        if (compares(&triggers->list[i], KINDS))
            triggers->armed |= triggers->list[i].data1 & KINDS;
    return before || triggers->armed;
}

bool trigger_write(struct hart *hart, unsigned number, uint64_t value)
{
    struct triggers *triggers = &hart->triggers;
    struct trigger *trigger = &triggers->list[triggers->selected];
    switch (number) {
    case CSR_tselect:
        if (value < TRIGGERS)
            triggers->selected = (uint8_t)value;
        return false;
    case CSR_tdata1: trigger->data1 = legal_data1(triggers->selected, value); break;
    case CSR_tdata2: trigger->data2 = value; break;
    default: return false;
    }
    limit_range(trigger);
    return rearm(triggers);
}
