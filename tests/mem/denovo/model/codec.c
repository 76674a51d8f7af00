#include "tests/mem/denovo/model/state.h"

#include <assert.h>
#include <string.h>

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
        if (codec->reading)
            mshr = used ? denovo_mshr_open(unit, LINE, map) : NULL;
        if (!mshr)
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

void model_code(struct codec *codec, struct model *model)
{
    for (unsigned i = 0; i < model->config->units; i++)
        code_unit(codec, model, i);
    code_registry(codec, model);
    code_program(codec, model);
    code_messages(codec, model);
}

void model_restore(struct model *model, size_t number)
{
    struct codec codec = {.reading = true};
    size_t length = model->begins[number + 1] - model->begins[number];
    memcpy(codec.words, model->text + model->begins[number], length * sizeof *codec.words);
    memset(&model->line, 0, sizeof model->line);
    model_code(&codec, model);
}
