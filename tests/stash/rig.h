/* A stash over a level below that a script answers: each call is written to a log, and the tests compare logs and dumps. */
#ifndef TESTS_STASH_RIG_H
#define TESTS_STASH_RIG_H

#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "emu/stash/hardware.h"

enum { RIG_LINE = 64, RIG_BYTES = 1024 };
#define RIG_SHIFT UINT64_C(0x10000000) /* physical = virtual + RIG_SHIFT */

struct rig {
    struct stash *stash;
    struct stash_config config;
    char log[4096], dump[8192];
    bool full;        /* the level below refuses */
    uint64_t pending; /* answer of pending(), for all lines */
    unsigned retries;
    struct rig_waiter {
        struct stash_waiter base;
        unsigned waits, done;
    } waiter;
};

static void rig_note(struct rig *rig, const char *what, uint64_t line, unsigned map, uint64_t a, uint64_t b)
{
    const size_t length = strlen(rig->log);
    (void)snprintf(rig->log + length, sizeof rig->log - length,
                   b ? "%s 0x%" PRIx64 " map %u 0x%" PRIx64 " of 0x%" PRIx64 "\n"
                     : "%s 0x%" PRIx64 " map %u 0x%" PRIx64 "\n",
                   what, line, map, a, b);
}

static bool rig_read(void *below, uint64_t line, unsigned map, uint64_t need, uint64_t fill, uint64_t now)
{
    struct rig *rig = below;
    (void)now;
    if (!rig->full)
        rig_note(rig, "read", line, map, need, fill);
    return !rig->full;
}

static bool rig_enroll(void *below, uint64_t line, unsigned map, uint64_t mask, uint64_t now)
{
    struct rig *rig = below;
    (void)now;
    if (!rig->full)
        rig_note(rig, "enroll", line, map, mask, 0);
    return !rig->full;
}

static bool rig_remap(void *below, uint64_t line, unsigned map, uint64_t mask, uint64_t now)
{
    struct rig *rig = below;
    (void)now;
    if (!rig->full)
        rig_note(rig, "remap", line, map, mask, 0);
    return !rig->full;
}

static bool rig_write_back(void *below, uint64_t line, unsigned map, uint64_t mask, uint64_t now)
{
    struct rig *rig = below;
    (void)now;
    if (!rig->full)
        rig_note(rig, "write", line, map, mask, 0);
    return !rig->full;
}

static uint64_t rig_pending(void *below, uint64_t line)
{
    (void)line;
    return ((const struct rig *)below)->pending;
}

static void rig_acquire(void *below, uint64_t now)
{
    (void)now;
    strcat(((struct rig *)below)->log, "acquire\n");
}

static bool rig_settled(const void *below)
{
    return ((const struct rig *)below)->pending == 0;
}

static const struct stash_below_ops rig_ops = {.read = rig_read,
                                               .enroll = rig_enroll,
                                               .remap = rig_remap,
                                               .write_back = rig_write_back,
                                               .pending = rig_pending,
                                               .acquire = rig_acquire,
                                               .settled = rig_settled};

static bool rig_translate(void *context, uint64_t page, uint64_t *physical)
{
    (void)context;
    *physical = page + RIG_SHIFT;
    return true;
}

static void rig_retry(void *context, uint64_t now)
{
    (void)now;
    ((struct rig *)context)->retries++;
}

static void rig_done(struct stash_waiter *waiter, uint64_t now)
{
    (void)now;
    ((struct rig_waiter *)waiter)->done++;
}

/* The paper's sizes, but for a storage of 1 KiB. `change` may change the configuration. */
static inline void rig_start(struct rig *rig, const struct stash_config *config)
{
    *rig = (struct rig){
        .config = {
            .maps = 4, .entries = 64, .pages = 64, .answer = STASH_ANSWER_MAPPED, .replication = true}};
    if (config)
        rig->config = *config;
    rig->waiter.base.done = rig_done;
    rig->stash =
        stash_new(&rig->config, RIG_BYTES, RIG_LINE, &(struct stash_user){rig_translate, rig_retry, rig});
    stash_connect(rig->stash, &rig_ops, rig);
}

/* What was called since the last look. */
static inline void rig_logged(struct rig *rig, const char *wanted)
{
    assert_string_equal(rig->log, wanted);
    rig->log[0] = '\0';
}

static inline void rig_state(struct rig *rig, const char *wanted)
{
    const char *wrong = stash_check(rig->stash);
    FILE *file = fmemopen(rig->dump, sizeof rig->dump, "w");
    assert_non_null(file);
    stash_dump(rig->stash, file);
    fclose(file);
    assert_string_equal(rig->dump, wanted);
    if (wrong)
        fail_msg("%s", wrong);
}

static inline void rig_end(struct rig *rig)
{
    const char *wrong = stash_check(rig->stash);
    if (wrong)
        fail_msg("%s", wrong);
    stash_free(rig->stash);
}

/* A row of `objects` fields of 4 bytes, one in each 16 bytes. */
static inline struct stash_tile rig_row(uint64_t stash_base, uint64_t global_base, uint64_t objects,
                                        bool coherent)
{
    return (struct stash_tile){.stash_base = stash_base,
                               .global_base = global_base,
                               .field_size = 4,
                               .object_size = 16,
                               .row_size = 16 * objects,
                               .stride_size = 16 * objects,
                               .strides = 1,
                               .coherent = coherent};
}

/* Accesses words `first` to `last` of the block's space, which begins at byte `space`. Returns the outcome; misses are sent. */
static inline enum stash_outcome rig_access(struct rig *rig, unsigned block, bool store, unsigned selector,
                                            unsigned first, unsigned last)
{
    struct stash_access access = {.block = (uint8_t)block, .store = store};
    for (unsigned word = first; word <= last; word++) {
        access.words[access.count].selector = (uint8_t)selector;
        access.words[access.count++].word = word;
    }
    enum stash_outcome outcome = stash_look(rig->stash, &access, 0);
    for (unsigned i = 0; i < access.miss_count && outcome == STASH_DONE; i++) {
        bool waits;
        outcome = stash_send(rig->stash, &access, i, 0, 0, &rig->waiter.base, &waits);
        rig->waiter.waits += waits;
    }
    return outcome;
}

/* Answers a read: installs and delivers. */
static inline void rig_answer(struct rig *rig, uint64_t line, unsigned map, uint64_t mask)
{
    stash_install(rig->stash, line, map, mask, 0);
    stash_arrived(rig->stash, line, map, mask, 0);
}

#endif
