/* What stands around a device in its test: a time that the test sets, and wires whose levels it sees. */
#ifndef TESTS_DEV_RIG_H
#define TESTS_DEV_RIG_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "emu/dev/timebase.h"
#include "emu/mem/phys/bus.h"

enum { RIG_WIRES = 256, RIG_TEXT = 4096 };

struct rig {
    uint64_t now;
    unsigned moved; /* calls */
    bool level[RIG_WIRES];
    unsigned changes[RIG_WIRES];
    char text[RIG_TEXT]; /* what was output */
    size_t length;
    uint64_t code; /* of the last exit */
    unsigned exits, resets;
};

static inline uint64_t rig_now(void *context)
{
    return ((const struct rig *)context)->now;
}

static inline void rig_moved(void *context)
{
    ((struct rig *)context)->moved++;
}

static inline struct timebase rig_timebase(struct rig *rig)
{
    return (struct timebase){.now = rig_now, .moved = rig_moved, .context = rig};
}

static inline void rig_set(void *context, unsigned number, bool level)
{
    struct rig *rig = context;
    assert_true(number < RIG_WIRES);
    assert_true(rig->level[number] != level); /* wires tell changes only */
    rig->level[number] = level;
    rig->changes[number]++;
}

static inline struct irq_line rig_line(struct rig *rig, unsigned number)
{
    return (struct irq_line){.set = rig_set, .context = rig, .number = number};
}

static inline void rig_output(void *context, uint8_t byte)
{
    struct rig *rig = context;
    assert_true(rig->length < RIG_TEXT - 1);
    rig->text[rig->length++] = (char)byte;
    rig->text[rig->length] = '\0';
}

static inline void rig_code(void *context, uint64_t code)
{
    struct rig *rig = context;
    rig->exits++;
    rig->code = code;
}

static inline void rig_exit(void *context, int status)
{
    rig_code(context, (uint64_t)(int64_t)status);
}

static inline void rig_reset(void *context)
{
    ((struct rig *)context)->resets++;
}

#endif
