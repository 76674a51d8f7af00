#include "tests/mem/denovo/model.h"

#include <assert.h>
#include <signal.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "emu/mem/denovo/state.h"
#include "emu/sim/alloc.h"

enum { LINE = 0x40, MAPS = 3, MESSAGES = 16, STATE_WORDS = 24 };

/* A cache has map 0; a stash has two places for the words, with maps 1 and 2. */
struct holder {
    uint8_t state[MAPS][MODEL_WORDS];
    uint32_t value[MAPS][MODEL_WORDS];
    unsigned map; /* by which threads use it */
    struct model *model;
    unsigned number;
};

/* An access that others must know of before they may race with it: of a thread, since the word's last
 * store. */
struct access {
    bool exists;
    unsigned known; /* threads that it happens before; none while it is under way */
};

struct word {
    unsigned version, known; /* threads that the last store happens before */
    struct access reads[MODEL_THREADS], atomics[MODEL_THREADS];
};

enum busy { IDLE, LOADING, INCREMENTING };

struct thread {
    unsigned busy, word;
};

/* How a state is reached first. */
struct origin {
    uint32_t parent;
    uint16_t action;
};

struct model {
    const struct model_config *config;
    struct model_result *result;
    size_t number;   /* of the state whose actions are tried */
    unsigned action; /* that is tried */
    bool touched;    /* the state of the moment is not that one any more */
    int out;         /* where the result goes if an assertion fails */
    /* the state of the moment */
    struct holder holders[MODEL_UNITS];
    struct denovo_unit *units[MODEL_UNITS];
    struct denovo_registry *registry;
    struct denovo_line line;
    bool present;
    uint32_t memory[MODEL_WORDS];
    struct word words[MODEL_WORDS];
    struct thread threads[MODEL_THREADS];
    struct denovo_message messages[MESSAGES];
    unsigned message_count, stores, remaps;
    /* all states, as strings of `length` bytes in `text`; `slots` is a hash table of their numbers plus 1 */
    uint64_t *text;
    size_t *begins;
    struct origin *origins;
    size_t count, capacity, used, room, slot_count;
    uint32_t *slots;
    /* pairs of states: a delivery leads from one to the other */
    uint32_t (*steps)[2];
    size_t step_count, step_room;
};

static void fault(struct model *model, const char *format, ...)
{
    va_list arguments;
    if (model->result->fault[0])
        return;
    va_start(arguments, format);
    (void)vsnprintf(model->result->fault, sizeof model->result->fault, format, arguments);
    va_end(arguments);
}

/* States as strings of bits. */

struct codec {
    uint64_t words[STATE_WORDS];
    unsigned bit;
    bool reading;
};

static uint64_t field(struct codec *codec, uint64_t value, unsigned bits)
{
    unsigned at = codec->bit / 64, shift = codec->bit % 64;
    uint64_t mask = (UINT64_C(1) << bits) - 1;
    codec->bit += bits;
    assert(codec->bit <= 64 * STATE_WORDS);
    if (codec->reading) {
        value = codec->words[at] >> shift;
        if (shift + bits > 64)
            value |= codec->words[at + 1] << (64 - shift);
        return value & mask;
    }
    assert((value & ~mask) == 0);
    codec->words[at] |= value << shift;
    if (shift + bits > 64)
        codec->words[at + 1] |= value >> (64 - shift);
    return value;
}

#define FIELD(codec, place, bits) ((place) = (__typeof__(place))field(codec, (uint64_t)(place), bits))

enum { VERSION_BITS = 3, UNIT_BITS = 2, MAP_BITS = 2 };

static void code_values(struct codec *codec, uint32_t *value, uint64_t mask)
{
    for (; mask; mask &= mask - 1)
        FIELD(codec, value[denovo_index(mask)], VERSION_BITS);
}

static void code_mshr(struct codec *codec, struct denovo_mshr *mshr, unsigned words)
{
    uint64_t *const masks[] = {&mshr->want,    &mshr->may,    &mshr->fill,   &mshr->pending,
                               &mshr->waiting, &mshr->moving, &mshr->lost,   &mshr->late,
                               &mshr->atomic,  &mshr->queued, &mshr->revoked};
    for (size_t i = 0; i < sizeof masks / sizeof *masks; i++)
        FIELD(codec, *masks[i], words);
    FIELD(codec, mshr->atomics, 2);
    FIELD(codec, mshr->poisoned, 1);
    for (uint64_t rest = mshr->queued; rest; rest &= rest - 1) {
        struct denovo_successor *next = &mshr->successor[denovo_index(rest)];
        FIELD(codec, next->unit, UNIT_BITS);
        FIELD(codec, next->map, MAP_BITS);
        FIELD(codec, next->with_data, 1);
    }
}

static void code_buffers(struct codec *codec, struct denovo_unit *unit, unsigned words)
{
    struct denovo_buffer *buffers = denovo_buffers(unit);
    unsigned count = unit->config.write_backs;
    for (unsigned i = 1; !codec->reading && i < count; i++) /* in the order of their words */
        for (unsigned j = i; j > 0 && buffers[j].words > buffers[j - 1].words; j--) {
            struct denovo_buffer other = buffers[j];
            buffers[j] = buffers[j - 1];
            buffers[j - 1] = other;
        }
    for (unsigned i = 0; i < count; i++) {
        struct denovo_buffer *buffer = &buffers[i];
        if (FIELD(codec, buffer->words, words) == 0)
            continue;
        buffer->line = LINE;
        FIELD(codec, buffer->taken, words);
        FIELD(codec, buffer->stale, words);
        FIELD(codec, buffer->map, MAP_BITS);
        code_values(codec, buffer->value, buffer->words);
        unit->buffers += codec->reading;
    }
}

static void code_unit(struct codec *codec, struct model *model, unsigned number)
{
    struct denovo_unit *unit = model->units[number];
    unsigned words = model->config->words;
    bool stash = model->config->stash && number + 1 == model->config->units;
    if (codec->reading) {
        unit->open = unit->buffers = 0;
        unit->unsettled = 0;
        unit->refused = unit->freed = false;
        memset(denovo_mshrs(unit), 0, unit->config.mshrs * sizeof(struct denovo_mshr));
        memset(denovo_buffers(unit), 0, unit->config.write_backs * sizeof(struct denovo_buffer));
    }
    for (unsigned map = stash; map < (stash ? MAPS : 1u); map++) {
        struct denovo_mshr *mshr = denovo_mshr_find(unit, LINE, map);
        bool used = field(codec, mshr != NULL, 1);
        if (used && codec->reading)
            mshr = denovo_mshr_open(unit, LINE, map);
        if (!used)
            continue;
        code_mshr(codec, mshr, words);
        if (codec->reading)
            unit->unsettled += (uint32_t)__builtin_popcountll(mshr->pending | mshr->waiting) + mshr->atomics;
    }
    code_buffers(codec, unit, words);
    for (unsigned map = stash; map < (stash ? MAPS : 1u); map++)
        for (unsigned word = 0; word < words; word++)
            if (FIELD(codec, model->holders[number].state[map][word], 2) != DENOVO_INVALID)
                FIELD(codec, model->holders[number].value[map][word], VERSION_BITS);
            else
                model->holders[number].value[map][word] = 0;
    if (stash)
        FIELD(codec, model->holders[number].map, MAP_BITS);
}

static void code_message(struct codec *codec, struct denovo_message *message)
{
    message->line = LINE;
    FIELD(codec, message->kind, 4);
    for (unsigned i = 0; i < 3; i++) { /* the registry as number 3 */
        uint16_t *who = i == 0 ? &message->from : i == 1 ? &message->to : &message->requester;
        unsigned number = (unsigned)field(codec, *who == DENOVO_REGISTRY ? 3u : *who, UNIT_BITS);
        *who = number == 3 ? DENOVO_REGISTRY : (uint16_t)number;
    }
    FIELD(codec, message->map, MAP_BITS);
    FIELD(codec, message->owner_map, MAP_BITS);
    FIELD(codec, message->with_data, 1);
    FIELD(codec, message->tag, 2);
    FIELD(codec, message->mask, MODEL_WORDS);
    FIELD(codec, message->extra, MODEL_WORDS);
    FIELD(codec, message->stale, MODEL_WORDS);
    code_values(codec, message->value, (1u << MODEL_WORDS) - 1);
}

enum {
    MESSAGE_BITS = 4 + 3 * UNIT_BITS + 2 * MAP_BITS + 1 + 2 + 3 * MODEL_WORDS + MODEL_WORDS * VERSION_BITS
};

/* Messages in flight have no order: they are written in that of their bits. */
static void code_messages(struct codec *codec, struct model *model)
{
    uint64_t keys[MESSAGES];
    unsigned count = (unsigned)field(codec, model->message_count, 5);
    for (unsigned i = 0; !codec->reading && i < count; i++) {
        struct codec one = {.reading = false};
        unsigned at = i;
        code_message(&one, &model->messages[i]);
        assert(one.bit == MESSAGE_BITS);
        for (; at > 0 && keys[at - 1] > one.words[0]; at--)
            keys[at] = keys[at - 1];
        keys[at] = one.words[0];
    }
    for (unsigned i = 0; !codec->reading && i < count; i++)
        field(codec, keys[i], MESSAGE_BITS);
    if (codec->reading)
        memset(model->messages, 0, count * sizeof *model->messages);
    for (unsigned i = 0; codec->reading && i < count; i++)
        code_message(codec, &model->messages[i]);
    model->message_count = count;
}

static void code_registry(struct codec *codec, struct model *model)
{
    struct denovo_registry *registry = model->registry;
    struct denovo_line *line = &model->line;
    unsigned words = model->config->words, held = (unsigned)field(codec, registry->held, 3);
    if (FIELD(codec, model->present, 1)) {
        line->address = LINE;
        FIELD(codec, line->registered, words);
        FIELD(codec, line->missing, words);
        FIELD(codec, line->revoked, words);
        FIELD(codec, line->dirty, 1);
        FIELD(codec, line->fetching, 1);
        FIELD(codec, line->evicting, 1);
        for (uint64_t rest = line->registered; rest; rest &= rest - 1) {
            FIELD(codec, line->owner[denovo_index(rest)].unit, UNIT_BITS);
            FIELD(codec, line->owner[denovo_index(rest)].map, MAP_BITS);
        }
        code_values(codec, line->value, ((1u << words) - 1) & ~line->registered & ~line->missing);
    }
    if (codec->reading) {
        line->held = registry->held = registry->placeless = 0;
        registry->refused = false;
        for (uint16_t i = 0; i < registry->config.held; i++)
            denovo_held(registry)[i].next = (uint16_t)(i + 1);
        registry->free = 0;
    }
    uint16_t at = registry->first;
    for (unsigned i = 0; i < held; i++) {
        struct denovo_message message = {0};
        bool counted = true;
        if (!codec->reading) {
            message = denovo_held(registry)[at].message;
            counted = denovo_held(registry)[at].counted;
            at = denovo_held(registry)[at].next;
        }
        FIELD(codec, counted, 1);
        code_message(codec, &message);
        if (codec->reading)
            denovo_hold(registry, &message, message.mask, counted ? line : NULL);
    }
}

static void code_access(struct codec *codec, struct model *model, struct access *access)
{
    if (FIELD(codec, access->exists, 1))
        FIELD(codec, access->known, model->config->threads);
    else
        access->known = 0;
}

static void code_program(struct codec *codec, struct model *model)
{
    const struct model_config *config = model->config;
    /* Who has read what is of interest to stores only. */
    for (unsigned i = 0; model->stores == config->stores && i < config->words; i++)
        memset(model->words[i].reads, 0, sizeof model->words[i].reads);
    for (unsigned i = 0; !config->plain && i < config->words;
         i++) /* and of operations, to loads and stores */
        memset(model->words[i].atomics, 0, sizeof model->words[i].atomics);
    FIELD(codec, model->stores, VERSION_BITS);
    FIELD(codec, model->remaps, 2);
    for (unsigned i = 0; i < config->words; i++) {
        struct word *word = &model->words[i];
        FIELD(codec, word->version, VERSION_BITS);
        FIELD(codec, word->known, config->threads);
        for (unsigned thread = 0; thread < config->threads; thread++) {
            code_access(codec, model, &word->reads[thread]);
            if (config->atomics || config->increments)
                code_access(codec, model, &word->atomics[thread]);
        }
        bool newer = model->present && model->line.dirty && !(model->line.missing >> i & 1);
        model->memory[i] = newer ? 0 : model->memory[i];
        FIELD(codec, model->memory[i], VERSION_BITS);
    }
    for (unsigned thread = 0; thread < config->threads; thread++)
        if (FIELD(codec, model->threads[thread].busy, 2) != IDLE)
            FIELD(codec, model->threads[thread].word, 1);
        else
            model->threads[thread].word = 0;
}

static void code(struct codec *codec, struct model *model)
{
    for (unsigned i = 0; i < model->config->units; i++)
        code_unit(codec, model, i);
    code_registry(codec, model);
    code_program(codec, model);
    code_messages(codec, model);
}

static void restore(struct model *model, size_t number)
{
    struct codec codec = {.reading = true};
    size_t length = model->begins[number + 1] - model->begins[number];
    memcpy(codec.words, model->text + model->begins[number], length * sizeof *codec.words);
    memset(&model->line, 0, sizeof model->line);
    code(&codec, model);
}

/* The set of states. */

static void *grow(void *old, size_t *room, size_t needed, size_t size)
{
    if (needed <= *room)
        return old;
    *room = needed * 2;
    return alloc_resize(old, *room * size);
}

static uint64_t hash(const uint64_t *words, size_t length)
{
    uint64_t sum = length;
    for (size_t i = 0; i < length; i++) {
        sum = (sum ^ words[i]) * UINT64_C(0x9e3779b97f4a7c15);
        sum ^= sum >> 29;
    }
    return sum;
}

static size_t find_slot(const struct model *model, const uint64_t *words, size_t length)
{
    size_t slot = hash(words, length) & (model->slot_count - 1);
    for (; model->slots[slot]; slot = (slot + 1) & (model->slot_count - 1)) {
        size_t begin = model->begins[model->slots[slot] - 1], end = model->begins[model->slots[slot]];
        if (end - begin == length && memcmp(model->text + begin, words, length * sizeof *words) == 0)
            break;
    }
    return slot;
}

static void rehash(struct model *model)
{
    model->slot_count *= 4;
    free(model->slots);
    model->slots = alloc(model->slot_count, sizeof *model->slots);
    for (size_t i = 0; i < model->count; i++) {
        size_t length = model->begins[i + 1] - model->begins[i];
        model->slots[find_slot(model, model->text + model->begins[i], length)] = (uint32_t)(i + 1);
    }
}

/* Returns the number of the present state, which it adds if it is new. */
static size_t add(struct model *model, size_t parent, unsigned action)
{
    struct codec codec = {.reading = false};
    code(&codec, model);
    size_t length = (codec.bit + 63) / 64, slot = find_slot(model, codec.words, length);
    if (model->slots[slot])
        return model->slots[slot] - 1;
    size_t number = model->count++;
    if (number + 2 > model->capacity) {
        model->capacity = (number + 2) * 2;
        model->begins = alloc_resize(model->begins, model->capacity * sizeof *model->begins);
        model->origins = alloc_resize(model->origins, model->capacity * sizeof *model->origins);
    }
    model->text = grow(model->text, &model->room, model->used + length, sizeof *model->text);
    memcpy(model->text + model->used, codec.words, length * sizeof *codec.words);
    model->begins[number] = model->used;
    model->used += length;
    model->begins[number + 1] = model->used;
    model->origins[number] = (struct origin){(uint32_t)parent, (uint16_t)action};
    model->slots[slot] = (uint32_t)(number + 1);
    if (model->count * 2 > model->slot_count)
        rehash(model);
    return number;
}

/* What the units' holders, the home and the carrier do. */

static uint64_t all_words(const struct model *model)
{
    return (UINT64_C(1) << model->config->words) - 1;
}

static bool has_map(const struct holder *holder, unsigned map)
{
    bool stash = holder->model->config->stash && holder->number + 1 == holder->model->config->units;
    if (stash ? map == 1 || map == 2 : map == 0)
        return true;
    fault(holder->model, "unit %u is asked for map %u", holder->number, map);
    return false;
}

static uint64_t holder_words(void *context, uint64_t line, unsigned map, enum denovo_state state)
{
    struct holder *holder = context;
    uint64_t words = 0;
    if (line != LINE || !has_map(holder, map))
        return 0;
    for (unsigned i = 0; i < holder->model->config->words; i++)
        words |= (uint64_t)(holder->state[map][i] == state) << i;
    return words;
}

static void holder_set(void *context, uint64_t line, unsigned map, uint64_t mask, enum denovo_state state,
                       uint64_t now)
{
    struct holder *holder = context;
    (void)line;
    (void)now;
    if (!has_map(holder, map))
        return;
    for (; mask; mask &= mask - 1)
        holder->state[map][denovo_index(mask)] = (uint8_t)state;
}

static void holder_values(void *context, uint64_t line, unsigned map, uint64_t mask, uint32_t *value)
{
    struct holder *holder = context;
    (void)line;
    if (has_map(holder, map))
        denovo_copy_values(value, holder->value[map], mask);
}

static void holder_keep(void *context, uint64_t line, unsigned map, uint64_t mask, const uint32_t *value)
{
    struct holder *holder = context;
    (void)line;
    if (has_map(holder, map))
        denovo_copy_values(holder->value[map], value, mask);
}

static void loaded(struct model *model, unsigned thread, unsigned number, uint32_t value)
{
    struct word *word = &model->words[number];
    if (!model->config->races && value != word->version)
        fault(model, "thread %u loads version %u of word %u, whose newest is %u", thread, value, number,
              word->version);
    if (!model->config->races)
        word->reads[thread] = (struct access){true, 1u << thread};
}

static void holder_arrived(void *context, uint64_t line, unsigned map, uint64_t mask, const uint32_t *value,
                           uint64_t now)
{
    struct holder *holder = context;
    struct model *model = holder->model;
    (void)line;
    (void)map;
    (void)now;
    for (unsigned i = 0; i < model->config->threads; i++) {
        struct thread *thread = &model->threads[i];
        if (model->config->unit_of[i] != holder->number || thread->busy != LOADING ||
            !(mask >> thread->word & 1))
            continue;
        loaded(model, i, thread->word, value[thread->word]);
        thread->busy = IDLE;
    }
}

/* An operation that is ordered with others of its kind without synchronization. */
static uint32_t incremented(struct model *model, unsigned number, uint32_t value)
{
    struct word *word = &model->words[number];
    if (!model->config->races && value != word->version)
        fault(model, "an operation on word %u gets version %u, the newest is %u", number, value,
              word->version);
    return ++word->version;
}

static void increment(struct model *model, unsigned thread, unsigned number, unsigned map)
{
    struct holder *holder = &model->holders[model->config->unit_of[thread]];
    holder->value[map][number] = incremented(model, number, holder->value[map][number]);
    model->words[number].atomics[thread] = (struct access){!model->config->races, 1u << thread};
    model->threads[thread].busy = IDLE;
}

static void holder_acknowledged(void *context, uint64_t line, unsigned map, uint64_t mask,
                                const uint32_t *value, uint64_t now)
{
    struct holder *holder = context;
    struct model *model = holder->model;
    (void)line;
    (void)now;
    for (unsigned i = 0; value && i < model->config->threads; i++)
        if (model->config->unit_of[i] == holder->number && model->threads[i].busy == INCREMENTING &&
            mask >> model->threads[i].word & 1)
            increment(model, i, model->threads[i].word, map);
}

static void holder_operated(void *context, const struct denovo_message *answer, uint64_t now)
{
    (void)context;
    (void)answer;
    (void)now;
}

static void holder_room(void *context, uint64_t now)
{
    (void)context;
    (void)now;
}

static const struct denovo_holder_ops holder_ops = {.words = holder_words,
                                                    .set = holder_set,
                                                    .arrived = holder_arrived,
                                                    .acknowledged = holder_acknowledged,
                                                    .operated = holder_operated,
                                                    .room = holder_room,
                                                    .values = holder_values,
                                                    .keep = holder_keep};

static struct denovo_line *home_find(void *home, uint64_t line)
{
    struct model *model = home;
    return model->present && line == LINE ? &model->line : NULL;
}

static struct denovo_line *home_make(void *home, uint64_t line, uint64_t now)
{
    struct model *model = home;
    (void)now;
    memset(&model->line, 0, sizeof model->line);
    model->line.address = line;
    model->present = true;
    return &model->line;
}

static void home_fetch(void *home, struct denovo_line *line, uint64_t now)
{
    (void)home;
    (void)line;
    (void)now;
}

static void home_evicted(void *home, struct denovo_line *line, uint64_t now)
{
    struct model *model = home;
    (void)now;
    if (line->dirty)
        denovo_copy_values(model->memory, line->value, all_words(model));
    model->present = false;
}

static void home_operate(void *home, struct denovo_line *line, const struct denovo_message *atomic,
                         uint64_t now)
{
    struct model *model = home;
    unsigned number = denovo_index(atomic->mask | UINT64_C(1) << (MODEL_WORDS - 1));
    (void)now;
    if (!atomic->mask)
        fault(model, "an operation on no word");
    line->value[number] = incremented(model, number, line->value[number]);
}

static const struct denovo_home_ops home_ops = {.find = home_find,
                                                .make = home_make,
                                                .fetch = home_fetch,
                                                .evicted = home_evicted,
                                                .operate = home_operate,
                                                .room = holder_room};

/* Clears what a kind of message does not carry, so that equal states have equal strings. */
static void post(void *context, const struct denovo_message *message, uint64_t now)
{
    struct model *model = context;
    (void)now;
    if (model->message_count == MESSAGES) {
        fault(model, "too many messages");
        return;
    }
    struct denovo_message *copy = &model->messages[model->message_count++];
    *copy = *message;
    bool data = copy->kind == DENOVO_MSG_READ_ANSWER || copy->kind == DENOVO_MSG_WRITE_BACK ||
                (copy->kind == DENOVO_MSG_REGISTERED && copy->with_data);
    for (unsigned i = 0; i < MODEL_WORDS; i++)
        if (!data || !((copy->mask | copy->extra) >> i & 1))
            copy->value[i] = 0;
    if (copy->kind != DENOVO_MSG_WRITE_BACK && copy->kind != DENOVO_MSG_REVOKE_REFUSED)
        copy->from = DENOVO_REGISTRY;
}

static bool at_rest(const struct model *model)
{
    return model->message_count == 0 && !(model->present && model->line.fetching);
}

/* Returns whether an access was not refused. It must not be if nothing is in flight, which could end the
 * wait. */
static bool accepted(struct model *model, enum denovo_outcome outcome)
{
    if (outcome == DENOVO_REFUSED && at_rest(model))
        fault(model, "an access is refused, and nothing is in flight");
    return outcome != DENOVO_REFUSED;
}

/* Actions. Those that return false have done nothing, or are impossible; the state is restored then. */

static bool known_to(const struct access *accesses, unsigned threads, unsigned thread)
{
    for (unsigned i = 0; i < threads; i++)
        if (accesses[i].exists && !(accesses[i].known >> thread & 1))
            return false;
    return true;
}

static bool may_read(const struct model *model, unsigned thread, unsigned number)
{
    const struct word *word = &model->words[number];
    return model->config->races ||
           (word->known >> thread & 1 && known_to(word->atomics, model->config->threads, thread));
}

static bool may_operate(const struct model *model, unsigned thread, unsigned number)
{
    const struct word *word = &model->words[number];
    return model->config->races ||
           (word->known >> thread & 1 && known_to(word->reads, model->config->threads, thread));
}

static bool load(struct model *model, unsigned thread, unsigned number)
{
    struct holder *holder = &model->holders[model->config->unit_of[thread]];
    if (model->threads[thread].busy || !may_read(model, thread, number))
        return false;
    if (holder->state[holder->map][number] != DENOVO_INVALID) {
        model->touched = true;
        loaded(model, thread, number, holder->value[holder->map][number]);
        return true;
    }
    uint64_t fill = holder_words(holder, LINE, holder->map, DENOVO_INVALID);
    model->touched = true;
    if (!accepted(model, denovo_read(model->units[holder->number], LINE, holder->map, UINT64_C(1) << number,
                                     fill, 0)))
        return false;
    model->threads[thread] = (struct thread){LOADING, number};
    model->words[number].reads[thread] = (struct access){!model->config->races, 0};
    return true;
}

static bool store(struct model *model, unsigned thread, unsigned number)
{
    struct holder *holder = &model->holders[model->config->unit_of[thread]];
    struct word *word = &model->words[number];
    if (model->threads[thread].busy || model->stores == model->config->stores ||
        !may_read(model, thread, number) || !may_operate(model, thread, number))
        return false;
    model->touched = true;
    if (holder->state[holder->map][number] != DENOVO_REGISTERED &&
        !accepted(model,
                  denovo_register(model->units[holder->number], LINE, holder->map, UINT64_C(1) << number, 0)))
        return false;
    holder->value[holder->map][number] = ++word->version;
    model->stores++;
    if (model->config->races)
        return true;
    word->known = 1u << thread;
    memset(word->reads, 0, sizeof word->reads);
    memset(word->atomics, 0, sizeof word->atomics);
    return true;
}

/* The thread goes on. Its own accesses come after the operation. */
static bool operate(struct model *model, unsigned thread, unsigned number)
{
    unsigned unit = model->config->unit_of[thread];
    if (model->threads[thread].busy || model->stores == model->config->stores ||
        !may_operate(model, thread, number))
        return false;
    model->touched = true;
    if (!accepted(model, denovo_atomic(model->units[unit], LINE, model->holders[unit].map,
                                       UINT64_C(1) << number, thread, 0)))
        return false;
    model->stores++;
    model->words[number].atomics[thread] = (struct access){!model->config->races, 1u << thread};
    return true;
}

static bool increment_here(struct model *model, unsigned thread, unsigned number)
{
    struct holder *holder = &model->holders[model->config->unit_of[thread]];
    if (model->threads[thread].busy || model->stores == model->config->stores ||
        !may_operate(model, thread, number))
        return false;
    model->touched = true;
    enum denovo_outcome outcome =
        denovo_register_data(model->units[holder->number], LINE, holder->map, UINT64_C(1) << number, 0);
    if (!accepted(model, outcome))
        return false;
    model->stores++;
    model->threads[thread] = (struct thread){INCREMENTING, number};
    model->words[number].atomics[thread] = (struct access){!model->config->races, 0};
    if (outcome == DENOVO_DONE)
        increment(model, thread, number, holder->map);
    return true;
}

static void learn(struct access *access, unsigned from, unsigned to)
{
    if (access->exists && access->known >> from & 1)
        access->known |= 1u << to;
}

/* What happens before a release of one thread happens before the other's acquire. */
static bool synchronize(struct model *model, unsigned from, unsigned to)
{
    const struct model_config *config = model->config;
    struct holder *holder = &model->holders[config->unit_of[to]];
    if (model->threads[from].busy || model->threads[to].busy ||
        !denovo_settled(model->units[config->unit_of[from]]))
        return false;
    model->touched = true;
    for (unsigned i = 0; i < config->words; i++) {
        struct word *word = &model->words[i];
        if (word->known >> from & 1)
            word->known |= 1u << to;
        for (unsigned thread = 0; thread < config->threads; thread++) {
            learn(&word->reads[thread], from, to);
            learn(&word->atomics[thread], from, to);
        }
    }
    for (unsigned map = 0; map < MAPS; map++)
        for (unsigned i = 0; i < config->words; i++)
            if (holder->state[map][i] == DENOVO_VALID)
                holder->state[map][i] = DENOVO_INVALID;
    denovo_acquire(model->units[holder->number], 0);
    return true;
}

/* Evicts words of a unit: all of a cache, one of a stash. */
static bool evict(struct model *model, unsigned unit, uint64_t mask)
{
    struct holder *holder = &model->holders[unit];
    bool done = false;
    model->touched = true;
    for (unsigned map = 0; map < MAPS; map++) {
        uint64_t registered = 0;
        for (unsigned i = 0; i < model->config->words; i++)
            registered |= (uint64_t)(holder->state[map][i] == DENOVO_REGISTERED) << i & mask;
        if (registered && !accepted(model, denovo_write_back(model->units[unit], LINE, map, registered, 0)))
            return false;
        if (registered && registered & holder_words(holder, LINE, map, DENOVO_REGISTERED))
            fault(model, "an evicted word is still in the holder");
        for (unsigned i = 0; i < model->config->words; i++) {
            done |= mask >> i & holder->state[map][i] & 1;
            if (mask >> i & 1 && holder->state[map][i] == DENOVO_VALID)
                holder->state[map][i] = DENOVO_INVALID;
        }
        done |= registered != 0;
    }
    return done;
}

/* The stash moves its registered words to its other place. */
static bool remap(struct model *model)
{
    unsigned unit = model->config->units - 1;
    struct holder *holder = &model->holders[unit];
    unsigned old = holder->map, new = 3 - old;
    uint64_t words = holder_words(holder, LINE, old, DENOVO_REGISTERED);
    if (model->remaps == model->config->remaps || denovo_pending(model->units[unit], LINE) & ~words)
        return false;
    model->touched = true;
    holder_set(holder, LINE, new, all_words(model), DENOVO_INVALID, 0);
    for (unsigned i = 0; i < model->config->words; i++)
        if (words >> i & 1) {
            holder->state[new][i] = DENOVO_REGISTERED;
            holder->value[new][i] = holder->value[old][i];
        }
    holder_set(holder, LINE, old, all_words(model), DENOVO_INVALID, 0);
    if (words && !accepted(model, denovo_remap(model->units[unit], LINE, new, words, 0)))
        return false;
    holder->map = new;
    model->remaps++;
    return true;
}

static bool deliver(struct model *model, unsigned number)
{
    struct denovo_message message;
    if (number >= model->message_count)
        return false;
    model->touched = true;
    message = model->messages[number];
    model->messages[number] = model->messages[--model->message_count];
    if (message.to == DENOVO_REGISTRY)
        return denovo_registry_receive(model->registry, &message, 0);
    denovo_receive(model->units[message.to], &message, 0);
    return true;
}

static bool evict_line(struct model *model)
{
    model->touched = true;
    return denovo_evict(model->registry, &model->line, 0);
}

static bool answer_memory(struct model *model)
{
    if (!model->present || !model->line.fetching)
        return false;
    model->touched = true;
    denovo_fetched(model->registry, &model->line, model->memory, 0);
    return true;
}

/* Numbers of actions: deliveries first. */
enum {
    DELIVER = 0,
    MEMORY = DELIVER + MESSAGES,
    LAST_EVICT,
    REMAP,
    EVICT,
    LOAD = EVICT + MODEL_UNITS * MODEL_WORDS,
    STORE = LOAD + MODEL_THREADS * MODEL_WORDS,
    OPERATE = STORE + MODEL_THREADS * MODEL_WORDS,
    INCREMENT = OPERATE + MODEL_THREADS * MODEL_WORDS,
    SYNCHRONIZE = INCREMENT + MODEL_THREADS * MODEL_WORDS,
    ACTIONS = SYNCHRONIZE + MODEL_THREADS * MODEL_THREADS,
};

static bool act_thread(struct model *model, unsigned action)
{
    const struct model_config *config = model->config;
    bool (*const steps[])(struct model *, unsigned, unsigned) = {load, store, operate, increment_here};
    const bool allowed[] = {config->plain, config->plain, config->atomics, config->increments};
    unsigned kind = (action - LOAD) / (MODEL_THREADS * MODEL_WORDS);
    unsigned rest = (action - LOAD) % (MODEL_THREADS * MODEL_WORDS);
    unsigned thread = rest / MODEL_WORDS, word = rest % MODEL_WORDS;
    return thread < config->threads && word < config->words && allowed[kind] &&
           steps[kind](model, thread, word);
}

static bool act_evict(struct model *model, unsigned action)
{
    unsigned unit = (action - EVICT) / MODEL_WORDS, word = (action - EVICT) % MODEL_WORDS;
    bool stash = model->config->stash && unit + 1 == model->config->units;
    if (unit >= model->config->units || word >= (stash ? model->config->words : 1))
        return false;
    return evict(model, unit, stash ? UINT64_C(1) << word : all_words(model));
}

static bool act(struct model *model, unsigned action)
{
    const struct model_config *config = model->config;
    if (action < MEMORY)
        return deliver(model, action - DELIVER);
    if (action == MEMORY)
        return answer_memory(model);
    if (action == LAST_EVICT)
        return config->evict && model->present && evict_line(model);
    if (action == REMAP)
        return config->remaps && remap(model);
    if (action < LOAD)
        return act_evict(model, action);
    if (action < SYNCHRONIZE)
        return act_thread(model, action);
    unsigned from = (action - SYNCHRONIZE) / MODEL_THREADS, to = (action - SYNCHRONIZE) % MODEL_THREADS;
    return from != to && from < config->threads && to < config->threads && synchronize(model, from, to);
}

/* What holds in every state. */

static bool holds(const struct model *model, unsigned unit, unsigned number, bool settled)
{
    const struct holder *holder = &model->holders[unit];
    for (unsigned map = 0; map < MAPS; map++) {
        const struct denovo_mshr *mshr = denovo_mshr_find(model->units[unit], LINE, map);
        bool pending = mshr && mshr->pending >> number & 1;
        if (holder->state[map][number] == DENOVO_REGISTERED && !(pending && settled))
            return true;
    }
    return false;
}

/* Whether the unit has the word in its buffer, newest, or waits for its value. */
static bool expects(const struct model *model, unsigned unit, unsigned number)
{
    const struct denovo_buffer *buffers = denovo_buffers(model->units[unit]);
    for (unsigned i = 0; i < model->units[unit]->config.write_backs; i++)
        if (buffers[i].words >> number & 1 && !(buffers[i].taken >> number & 1))
            return true;
    for (unsigned map = 0; map < MAPS; map++) {
        const struct denovo_mshr *mshr = denovo_mshr_find(model->units[unit], LINE, map);
        if (mshr && mshr->waiting >> number & 1)
            return true;
    }
    return false;
}

static void check_word(struct model *model, unsigned number)
{
    unsigned settled = 0;
    for (unsigned unit = 0; unit < model->config->units; unit++)
        settled += holds(model, unit, number, true);
    if (settled > 1)
        fault(model, "two units have word %u registered and acknowledged", number);
    if (!model->present || !(model->line.registered >> number & 1))
        return;
    unsigned owner = model->line.owner[number].unit;
    if (!holds(model, owner, number, false) && !expects(model, owner, number))
        fault(model, "the registry names unit %u for word %u, which does not have it", owner, number);
}

static void check_rest(struct model *model, unsigned number)
{
    bool registered = model->present && model->line.registered >> number & 1;
    unsigned owner = model->line.owner[number].unit, map = model->line.owner[number].map;
    uint32_t value = model->present ? model->line.value[number] : model->memory[number];
    for (unsigned unit = 0; unit < model->config->units; unit++)
        if (holds(model, unit, number, false) != (registered && owner == unit))
            fault(model, "word %u at rest: unit %u and the registry disagree", number, unit);
    if (registered && model->holders[owner].state[map][number] != DENOVO_REGISTERED)
        fault(model, "word %u at rest: the registry names the wrong map", number);
    if (registered)
        value = model->holders[owner].value[map][number];
    if (!model->config->races && value != model->words[number].version)
        fault(model, "word %u at rest: version %u is lost, %u is left", number, model->words[number].version,
              value);
}

static void check(struct model *model)
{
    for (unsigned i = 0; i < model->config->words; i++)
        check_word(model, i);
    if (!at_rest(model))
        return;
    for (unsigned unit = 0; unit < model->config->units; unit++)
        if (!denovo_idle(model->units[unit]) || !denovo_settled(model->units[unit]))
            fault(model, "unit %u waits for a message that does not come", unit);
    if (!denovo_registry_idle(model->registry) || (model->present && model->line.evicting))
        fault(model, "the registry waits for a message that does not come");
    for (unsigned thread = 0; thread < model->config->threads; thread++)
        if (model->threads[thread].busy)
            fault(model, "thread %u waits for a message that does not come", thread);
    for (unsigned i = 0; i < model->config->words; i++)
        check_rest(model, i);
}

/* The search. */

static void step_text(char *text, size_t size, const struct model *model, unsigned action)
{
    static const char *const names[] = {"loads", "stores", "operates on", "increments"};
    unsigned rest = action - LOAD, each = MODEL_THREADS * MODEL_WORDS;
    if (action < MEMORY) {
        const struct denovo_message *m = &model->messages[action];
        (void)snprintf(text, size, "%s %d->%d for %d, words %x+%x/%x map %u/%u value %u %u",
                       denovo_kind_names[m->kind], (int16_t)m->from, (int16_t)m->to, (int16_t)m->requester,
                       (unsigned)m->mask, (unsigned)m->extra, (unsigned)m->stale, m->map, m->owner_map,
                       m->value[0], m->value[1]);
    } else if (action < EVICT) {
        (void)snprintf(text, size, "%s",
                       action == MEMORY  ? "memory answers"
                       : action == REMAP ? "the stash remaps"
                                         : "the last level evicts");
    } else if (action < LOAD) {
        (void)snprintf(text, size, "unit %u evicts %u", (action - EVICT) / MODEL_WORDS,
                       (action - EVICT) % MODEL_WORDS);
    } else if (action < SYNCHRONIZE) {
        (void)snprintf(text, size, "thread %u %s %u", rest % each / MODEL_WORDS, names[rest / each],
                       rest % MODEL_WORDS);
    } else {
        (void)snprintf(text, size, "thread %u releases to %u", (action - SYNCHRONIZE) / MODEL_THREADS,
                       (action - SYNCHRONIZE) % MODEL_THREADS);
    }
}

/* Writes the actions that lead to a state. */
static void tell(struct model *model, size_t number, unsigned last)
{
    size_t depth = 0, path[256];
    unsigned actions[256];
    char *out = model->result->path;
    char text[160];
    path[depth] = number;
    actions[depth++] = last;
    for (; number > 0 && depth < 256; depth++) {
        actions[depth] = model->origins[number].action;
        number = model->origins[number].parent;
        path[depth] = number;
    }
    while (depth-- > 0) {
        size_t left = sizeof model->result->path - (size_t)(out - model->result->path);
        if (actions[depth] >= ACTIONS)
            continue;
        restore(model, path[depth]);
        step_text(text, sizeof text, model, actions[depth]);
        if (left > strlen(text) + 4)
            out += snprintf(out, left, "  %s\n", text);
    }
}

static void note_step(struct model *model, size_t from, size_t to)
{
    model->steps = grow(model->steps, &model->step_room, model->step_count + 1, sizeof *model->steps);
    model->steps[model->step_count][0] = (uint32_t)from;
    model->steps[model->step_count++][1] = (uint32_t)to;
}

static void expand(struct model *model, size_t number)
{
    unsigned messages = model->message_count;
    for (unsigned action = 0; action < ACTIONS && !model->result->fault[0]; action++) {
        if (action < MEMORY && action >= messages)
            continue;
        if (model->touched)
            restore(model, number);
        model->touched = false;
        model->number = number;
        model->action = action;
        if (!act(model, action))
            continue;
        size_t known = model->count, next = add(model, number, action);
        if (next == known && !model->result->fault[0])
            check(model);
        if (action <= MEMORY)
            note_step(model, number, next);
        if (model->message_count > model->result->deepest)
            model->result->deepest = model->message_count;
        if (model->result->fault[0])
            tell(model, number, action);
    }
}

/* From every state, deliveries lead to a state with nothing in flight: goes backwards from these. */
static void check_progress(struct model *model)
{
    uint32_t *first = alloc(model->count + 1, sizeof *first),
             *links = alloc(model->step_count + 1, sizeof *links);
    uint32_t *list = alloc(model->count + 1, sizeof *list);
    bool *ends = alloc(model->count + 1, 1);
    size_t listed = 0;
    for (size_t i = 0; i < model->step_count; i++) {
        links[i] = first[model->steps[i][1]];
        first[model->steps[i][1]] = (uint32_t)(i + 1);
    }
    for (size_t i = 0; i < model->count; i++) {
        restore(model, i);
        if (at_rest(model))
            ends[list[listed++] = (uint32_t)i] = true;
    }
    for (size_t done = 0; done < listed; done++)
        for (uint32_t step = first[list[done]]; step; step = links[step - 1]) {
            uint32_t from = model->steps[step - 1][0];
            if (!ends[from])
                ends[list[listed++] = from] = true;
        }
    for (size_t i = 0; i < model->count && !model->result->fault[0]; i++)
        if (!ends[i]) {
            fault(model, "messages go round for ever");
            tell(model, i, ACTIONS);
        }
    free(first);
    free(links);
    free(list);
    free(ends);
}

static void begin(struct model *model, const struct denovo_rules *rules)
{
    const struct model_config *config = model->config;
    struct denovo_post carrier = {post, model};
    struct denovo_registry_config home = {
        .held = (uint16_t)config->held, .words = (uint8_t)config->words, .rules = rules};
    model->registry = denovo_registry_new(&home, &home_ops, model, carrier);
    for (unsigned i = 0; i < config->units; i++) {
        struct denovo_unit_config unit = {.number = (uint16_t)i,
                                          .mshrs = 2,
                                          .write_backs = (uint16_t)config->write_backs,
                                          .words = (uint8_t)config->words,
                                          .rules = rules};
        model->holders[i].model = model;
        model->holders[i].number = i;
        model->holders[i].map = config->stash && i + 1 == config->units;
        model->units[i] = denovo_unit_new(&unit, &holder_ops, &model->holders[i], carrier);
    }
    for (unsigned i = 0; i < config->words; i++)
        model->words[i].known = (1u << config->threads) - 1;
    model->slot_count = 1 << 12;
    model->slots = alloc(model->slot_count, sizeof *model->slots);
}

static void end(struct model *model)
{
    for (unsigned i = 0; i < model->config->units; i++)
        denovo_unit_free(model->units[i]);
    denovo_registry_free(model->registry);
    free(model->text);
    free(model->begins);
    free(model->origins);
    free(model->slots);
    free(model->steps);
}

static void search(const struct model_config *config, const struct denovo_rules *rules, size_t limit,
                   struct model_result *result, struct model *model)
{
    memset(result, 0, sizeof *result);
    model->config = config;
    model->result = result;
    begin(model, rules);
    add(model, 0, ACTIONS);
    size_t done = 0;
    for (; done < model->count && model->count < limit && !result->fault[0]; done++) {
        restore(model, done);
        model->touched = false;
        expand(model, done);
    }
    result->states = model->count;
    result->complete = done == model->count;
    if (result->complete && !result->fault[0])
        check_progress(model);
    end(model);
    free(model);
}

void model_search(const struct model_config *config, const struct denovo_rules *rules, size_t limit,
                  struct model_result *result)
{
    search(config, rules, limit, result, alloc(1, sizeof(struct model)));
}

/* The search whose failing assertion is caught. */
static struct model *caught;

static void catch (int signal)
{
    (void)signal;
    fault(caught, "assertion");
    caught->result->states = caught->count;
    tell(caught, caught->number, caught->action);
    _exit(write(caught->out, caught->result, sizeof *caught->result) != (ssize_t)sizeof *caught->result);
}

/* Reads what a child has written until it ends. */
static size_t read_all(int file, char *text, size_t size)
{
    size_t length = 0;
    ssize_t got = 1;
    while (got > 0 && length < size) {
        got = read(file, text + length, size - length);
        length += got > 0 ? (size_t)got : 0;
    }
    return length;
}

void model_search_apart(const struct model_config *config, const struct denovo_rules *rules, size_t limit,
                        struct model_result *result)
{
    int data[2], errors[2];
    int status;
    char text[512] = "";
    assert(pipe(data) == 0 && pipe(errors) == 0);
    pid_t child = fork();
    assert(child >= 0);
    if (child == 0) {
        close(data[0]);
        dup2(errors[1], STDERR_FILENO);
        close(errors[0]);
        close(errors[1]);
        caught = alloc(1, sizeof *caught);
        caught->out = data[1];
        signal(SIGABRT, catch);
        search(config, rules, limit, result, caught);
        _exit(write(data[1], result, sizeof *result) != (ssize_t)sizeof *result);
    }
    close(data[1]);
    close(errors[1]);
    memset(result, 0, sizeof *result);
    size_t got = read_all(data[0], (char *)result, sizeof *result);
    text[read_all(errors[0], text, sizeof text - 1)] = '\0';
    close(data[0]);
    close(errors[0]);
    waitpid(child, &status, 0);
    if (got != sizeof *result || strcmp(result->fault, "assertion") == 0) {
        const char *colon = strstr(text, "Assertion");
        if (got != sizeof *result)
            memset(result, 0, sizeof *result);
        (void)snprintf(result->fault, sizeof result->fault, "%s",
                       colon     ? colon
                       : text[0] ? text
                                 : "the process is killed");
        result->fault[strcspn(result->fault, "\n")] = '\0';
    }
}
