#include "tests/mem/denovo/model/state.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "tests/mem/denovo/words.h"

void model_fault(struct model *model, const char *format, ...)
{
    va_list arguments;
    if (model->result->fault[0])
        return;
    va_start(arguments, format);
    (void)vsnprintf(model->result->fault, sizeof model->result->fault, format, arguments);
    va_end(arguments);
}

uint64_t model_all_words(const struct model *model)
{
    return (UINT64_C(1) << model->config->words) - 1;
}

static bool has_map(const struct holder *holder, unsigned map)
{
    bool stash = holder->model->config->stash && holder->number + 1 == holder->model->config->units;
    if (stash ? map == 1 || map == 2 : map == 0)
        return true;
    model_fault(holder->model, "unit %u is asked for map %u", holder->number, map);
    return false;
}

uint64_t model_holder_words(void *context, uint64_t line, unsigned map, enum denovo_state state)
{
    struct holder *holder = context;
    if (line != LINE || !has_map(holder, map))
        return 0;
    return words_in(holder->state[map], holder->model->config->words, state);
}

void model_holder_set(void *context, uint64_t line, unsigned map, uint64_t mask, enum denovo_state state,
                      uint64_t now)
{
    struct holder *holder = context;
    (void)line;
    (void)now;
    if (has_map(holder, map))
        words_set(holder->state[map], mask, state);
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

void model_loaded(struct model *model, unsigned thread, unsigned number, uint32_t value)
{
    struct word *word = &model->words[number];
    if (!model->config->races && value != word->version)
        model_fault(model, "thread %u loads version %u of word %u, whose newest is %u", thread, value, number,
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
        model_loaded(model, i, thread->word, value[thread->word]);
        thread->busy = IDLE;
    }
}

/* An operation that is ordered with others of its kind without synchronization. */
uint32_t model_incremented(struct model *model, unsigned number, uint32_t value)
{
    struct word *word = &model->words[number];
    if (!model->config->races && value != word->version)
        model_fault(model, "an operation on word %u gets version %u, the newest is %u", number, value,
                    word->version);
    return ++word->version;
}

void model_increment(struct model *model, unsigned thread, unsigned number, unsigned map)
{
    struct holder *holder = &model->holders[model->config->unit_of[thread]];
    holder->value[map][number] = model_incremented(model, number, holder->value[map][number]);
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
            model_increment(model, i, model->threads[i].word, map);
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

const struct denovo_holder_ops model_holder_ops = {.words = model_holder_words,
                                                   .set = model_holder_set,
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
        denovo_copy_values(model->memory, line->value, model_all_words(model));
    model->present = false;
}

static void home_operate(void *home, struct denovo_line *line, const struct denovo_message *atomic,
                         uint64_t now)
{
    struct model *model = home;
    unsigned number = denovo_index(atomic->mask | UINT64_C(1) << (MODEL_WORDS - 1));
    (void)now;
    if (!atomic->mask)
        model_fault(model, "an operation on no word");
    line->value[number] = model_incremented(model, number, line->value[number]);
}

const struct denovo_home_ops model_home_ops = {.find = home_find,
                                               .make = home_make,
                                               .fetch = home_fetch,
                                               .evicted = home_evicted,
                                               .operate = home_operate,
                                               .room = holder_room};

/* Clears what a kind of message does not carry, so that equal states have equal strings. */
void model_post(void *context, const struct denovo_message *message, uint64_t now)
{
    struct model *model = context;
    (void)now;
    if (model->message_count == MESSAGES) {
        model_fault(model, "too many messages");
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

bool model_at_rest(const struct model *model)
{
    return model->message_count == 0 && !(model->present && model->line.fetching);
}

/* Returns whether an access was not refused. It must not be if nothing is in flight, which could end the
 * wait. */
bool model_accepted(struct model *model, enum denovo_outcome outcome)
{
    if (outcome == DENOVO_REFUSED && model_at_rest(model))
        model_fault(model, "an access is refused, and nothing is in flight");
    return outcome != DENOVO_REFUSED;
}
