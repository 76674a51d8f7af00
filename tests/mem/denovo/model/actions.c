#include "tests/mem/denovo/model/state.h"

#include <string.h>

/* What threads, units and the carrier may do next. What returns false has done nothing, or is impossible; the state is restored then. */

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
        model_loaded(model, thread, number, holder->value[holder->map][number]);
        return true;
    }
    uint64_t fill = model_holder_words(holder, LINE, holder->map, DENOVO_INVALID);
    model->touched = true;
    if (!model_accepted(model, denovo_read(model->units[holder->number], LINE, holder->map,
                                           UINT64_C(1) << number, fill, 0)))
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
        !model_accepted(model, denovo_register(model->units[holder->number], LINE, holder->map,
                                               UINT64_C(1) << number, 0)))
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
    if (!model_accepted(model, denovo_atomic(model->units[unit], LINE, model->holders[unit].map,
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
    if (!model_accepted(model, outcome))
        return false;
    model->stores++;
    model->threads[thread] = (struct thread){INCREMENTING, number};
    model->words[number].atomics[thread] = (struct access){!model->config->races, 0};
    if (outcome == DENOVO_DONE)
        model_increment(model, thread, number, holder->map);
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
        if (registered &&
            !model_accepted(model, denovo_write_back(model->units[unit], LINE, map, registered, 0)))
            return false;
        if (registered && registered & model_holder_words(holder, LINE, map, DENOVO_REGISTERED))
            model_fault(model, "an evicted word is still in the holder");
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
    uint64_t words = model_holder_words(holder, LINE, old, DENOVO_REGISTERED);
    if (model->remaps == model->config->remaps || denovo_pending(model->units[unit], LINE) & ~words)
        return false;
    model->touched = true;
    model_holder_set(holder, LINE, new, model_all_words(model), DENOVO_INVALID, 0);
    for (unsigned i = 0; i < model->config->words; i++)
        if (words >> i & 1) {
            holder->state[new][i] = DENOVO_REGISTERED;
            holder->value[new][i] = holder->value[old][i];
        }
    model_holder_set(holder, LINE, old, model_all_words(model), DENOVO_INVALID, 0);
    if (words && !model_accepted(model, denovo_remap(model->units[unit], LINE, new, words, 0)))
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
    return evict(model, unit, stash ? UINT64_C(1) << word : model_all_words(model));
}

bool model_act(struct model *model, unsigned action)
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
