#include "emu/stash/unit.h"

#include <stdlib.h>
#include <string.h>

#include "emu/sim/alloc.h"
#include "emu/stash/port.h"

enum { LOADS = 64 };

/* Who loads words of a line. */
struct stash_load {
    uint64_t line, pc, issued;
    unsigned map;
};

struct stash_unit {
    struct word_versions *versions; /* NULL: no checker */
    unsigned agent, load_count;
    struct stash_load loads[LOADS]; /* the latest ones, by number modulo LOADS */
    struct stash *stash;
    struct denovo_unit *unit;
    uint64_t look_up;
    struct stash_port_counters counters;
    /* The stash has seen pending words, and may wait until they are not: a Remap ends without acknowledged(). */
    bool looked;
    /* an answer's words, between keep() and set() */
    bool installs;
    uint32_t value[DENOVO_WORDS];
};

static uint64_t word_at(uint64_t line, unsigned bit)
{
    return line + STASH_WORD * (uint64_t)bit;
}

/* Of a mask, the words that the map has a place for, and which are Invalid there. */
static uint64_t invalid_words(const struct stash *stash, uint64_t line, unsigned map, uint64_t mask)
{
    uint64_t words = 0;
    for (uint64_t left = mask; left; left &= left - 1) {
        const uint32_t place = stash_place(stash, word_at(line, (unsigned)__builtin_ctzll(left)), map);
        if (place != UINT32_MAX && stash_code(stash, place) == STASH_CODE_INVALID)
            words |= left & -left;
    }
    return words;
}

static bool unit_read(void *below, uint64_t line, unsigned map, uint64_t need, uint64_t fill, uint64_t now)
{
    struct stash_unit *unit = below;
    const uint64_t words = invalid_words(unit->stash, line, map, fill);
    if (denovo_read(unit->unit, line, map, need, words, now) == DENOVO_REFUSED)
        return false;
    unit->counters.reads++;
    unit->counters.words_read += (unsigned)__builtin_popcountll(need | words);
    return true;
}

static bool unit_enroll(void *below, uint64_t line, unsigned map, uint64_t mask, uint64_t now)
{
    struct stash_unit *unit = below;
    if (denovo_register(unit->unit, line, map, mask, now) == DENOVO_REFUSED)
        return false;
    unit->counters.registrations++;
    return true;
}

static bool unit_remap(void *below, uint64_t line, unsigned map, uint64_t mask, uint64_t now)
{
    struct stash_unit *unit = below;
    if (denovo_remap(unit->unit, line, map, mask, now) == DENOVO_REFUSED)
        return false;
    unit->counters.registrations++;
    return true;
}

static bool unit_write_back(void *below, uint64_t line, unsigned map, uint64_t mask, uint64_t now)
{
    struct stash_unit *unit = below;
    if (denovo_write_back(unit->unit, line, map, mask, now) == DENOVO_REFUSED)
        return false;
    unit->counters.write_backs++;
    unit->counters.words_written += (unsigned)__builtin_popcountll(mask);
    return true;
}

static uint64_t unit_pending(void *below, uint64_t line)
{
    struct stash_unit *unit = below;
    const uint64_t words = denovo_pending(unit->unit, line);
    if (words) {
        unit->looked = true;
        denovo_hasten(unit->unit, line);
    }
    return words;
}

static void unit_acquire(void *below, uint64_t now)
{
    denovo_acquire(((const struct stash_unit *)below)->unit, now);
}

static bool unit_settled(const void *below)
{
    return denovo_settled(((const struct stash_unit *)below)->unit);
}

const struct stash_below_ops stash_unit_ops = {.read = unit_read,
                                               .enroll = unit_enroll,
                                               .remap = unit_remap,
                                               .write_back = unit_write_back,
                                               .pending = unit_pending,
                                               .acquire = unit_acquire,
                                               .settled = unit_settled};

static uint64_t words(void *holder, uint64_t line, unsigned map, enum denovo_state state)
{
    static const enum stash_state states[] = {[DENOVO_INVALID] = STASH_INVALID,
                                              [DENOVO_VALID] = STASH_VALID,
                                              [DENOVO_REGISTERED] = STASH_REGISTERED};
    return stash_words(((const struct stash_unit *)holder)->stash, line, map, states[state]);
}

/* An answer's words go to their places if these are still Invalid. */
static void install(struct stash_unit *unit, uint64_t line, unsigned map, uint64_t mask, uint64_t now)
{
    const uint64_t free = invalid_words(unit->stash, line, map, mask);
    stash_install(unit->stash, line, map, free, now);
    for (uint64_t left = free; left; left &= left - 1) {
        const unsigned bit = (unsigned)__builtin_ctzll(left);
        *stash_version(unit->stash, stash_place(unit->stash, word_at(line, bit), map)) = unit->value[bit];
    }
}

static void set(void *holder, uint64_t line, unsigned map, uint64_t mask, enum denovo_state state,
                uint64_t now)
{
    struct stash_unit *unit = holder;
    const bool installs = unit->installs;
    unit->installs = false;
    if (state == DENOVO_VALID && installs)
        install(unit, line, map, mask, now);
    else if (state != DENOVO_REGISTERED)
        stash_set(unit->stash, line, map, mask, state == DENOVO_VALID ? STASH_VALID : STASH_INVALID, now);
}

void stash_unit_check(struct stash_unit *unit, struct word_versions *versions, unsigned agent)
{
    unit->versions = versions;
    unit->agent = agent;
}

void stash_unit_loads(struct stash_unit *unit, uint64_t line, unsigned map, uint64_t pc)
{
    unit->loads[unit->load_count++ % LOADS] =
        (struct stash_load){line, pc, word_versions_clock(unit->versions), map};
}

static void note_loads(const struct stash_unit *unit, uint64_t line, unsigned map, uint64_t mask,
                       const uint32_t *value, uint64_t now)
{
    struct word_access access = {.agent = unit->agent, .stash = true, .time = now};
    for (unsigned i = 0; i < LOADS; i++)
        if (unit->loads[i].line == line && unit->loads[i].map == map) {
            access.pc = unit->loads[i].pc;
            access.issued = unit->loads[i].issued;
        }
    for (; mask; mask &= mask - 1) {
        access.address = word_at(line, (unsigned)__builtin_ctzll(mask));
        word_versions_load(unit->versions, &access, value[__builtin_ctzll(mask)]);
    }
}

static void arrived(void *holder, uint64_t line, unsigned map, uint64_t mask, const uint32_t *value,
                    uint64_t now)
{
    if (((const struct stash_unit *)holder)->versions)
        note_loads(holder, line, map, mask, value, now);
    stash_arrived(((const struct stash_unit *)holder)->stash, line, map, mask, now);
}

static void acknowledged(void *holder, uint64_t line, unsigned map, uint64_t mask, const uint32_t *value,
                         uint64_t now)
{
    (void)value;
    stash_acknowledged(((const struct stash_unit *)holder)->stash, line, map, mask, now);
}

static void written_back(void *holder, uint64_t line, unsigned map, uint64_t mask, uint64_t now)
{
    stash_written(((const struct stash_unit *)holder)->stash, line, map, mask, now);
}

static void room(void *holder, uint64_t now)
{
    stash_room(((const struct stash_unit *)holder)->stash, now);
}

static void values(void *holder, uint64_t line, unsigned map, uint64_t mask, uint32_t *value)
{
    const struct stash_unit *unit = holder;
    for (uint64_t left = mask; left; left &= left - 1) {
        const unsigned bit = (unsigned)__builtin_ctzll(left);
        uint32_t place = stash_find(unit->stash, word_at(line, bit), map);
        if (place == UINT32_MAX)
            place = stash_place(unit->stash, word_at(line, bit), map);
        value[bit] = place == UINT32_MAX ? 0 : *stash_version(unit->stash, place);
    }
}

static void keep(void *holder, uint64_t line, unsigned map, uint64_t mask, const uint32_t *value)
{
    struct stash_unit *unit = holder;
    (void)line, (void)map, (void)mask;
    unit->installs = true;
    memcpy(unit->value, value, sizeof unit->value);
}

const struct denovo_holder_ops stash_holder_ops = {.words = words,
                                                   .set = set,
                                                   .arrived = arrived,
                                                   .acknowledged = acknowledged,
                                                   .written_back = written_back,
                                                   .room = room,
                                                   .values = values,
                                                   .keep = keep};

struct stash_unit *stash_unit_new(const struct denovo_unit_config *config,
                                  const struct denovo_holder_ops *ops, struct stash *stash,
                                  struct denovo_post post)
{
    struct stash_unit *unit = alloc(1, sizeof *unit);
    unit->stash = stash;
    unit->unit = denovo_unit_new(config, ops, unit, post);
    stash_connect(stash, &stash_unit_ops, unit);
    return unit;
}

static bool receive(void *receiver, const struct denovo_message *message, uint64_t now)
{
    struct stash_unit *unit = receiver;
    denovo_receive(unit->unit, message, denovo_class(message) == MAIL_FORWARD ? now + unit->look_up : now);
    if (unit->looked) {
        unit->looked = false;
        stash_room(unit->stash, now);
    }
    return true;
}

struct stash_unit *stash_unit_join(const struct stash_config *config, struct stash *stash,
                                   struct denovo_domain *domain, const struct denovo_place *place,
                                   uint64_t look_up)
{
    struct stash_unit *unit = alloc(1, sizeof *unit);
    struct denovo_unit_config own = {.mshrs = (uint16_t)(config->reads + config->writes),
                                     .write_backs = (uint16_t)config->writes,
                                     .words =
                                         (uint8_t)(denovo_domain_configuration(domain)->line / STASH_WORD)};
    const struct denovo_post post = denovo_domain_join(domain, place, receive, unit, &own.number);
    unit->stash = stash;
    unit->look_up = look_up;
    unit->unit = denovo_unit_new(&own, &stash_holder_ops, unit, post);
    stash_connect(stash, &stash_unit_ops, unit);
    return unit;
}

const struct stash_port_counters *stash_unit_counted(const struct stash_unit *unit)
{
    return &unit->counters;
}

void stash_unit_free(struct stash_unit *unit)
{
    if (!unit)
        return;
    denovo_unit_free(unit->unit);
    free(unit);
}

struct denovo_unit *stash_unit_of(const struct stash_unit *unit)
{
    return unit->unit;
}
