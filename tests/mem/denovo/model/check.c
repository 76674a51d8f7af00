#include "tests/mem/denovo/model/state.h"

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
        model_fault(model, "two units have word %u registered and acknowledged", number);
    if (!model->present || !(model->line.registered >> number & 1))
        return;
    unsigned owner = model->line.owner[number].unit;
    if (!holds(model, owner, number, false) && !expects(model, owner, number))
        model_fault(model, "the registry names unit %u for word %u, which does not have it", owner, number);
}

static void check_rest(struct model *model, unsigned number)
{
    bool registered = model->present && model->line.registered >> number & 1;
    unsigned owner = model->line.owner[number].unit, map = model->line.owner[number].map;
    uint32_t value = model->present ? model->line.value[number] : model->memory[number];
    for (unsigned unit = 0; unit < model->config->units; unit++)
        if (holds(model, unit, number, false) != (registered && owner == unit))
            model_fault(model, "word %u at rest: unit %u and the registry disagree", number, unit);
    if (registered && model->holders[owner].state[map][number] != DENOVO_REGISTERED)
        model_fault(model, "word %u at rest: the registry names the wrong map", number);
    if (registered)
        value = model->holders[owner].value[map][number];
    if (!model->config->races && value != model->words[number].version)
        model_fault(model, "word %u at rest: version %u is lost, %u is left", number,
                    model->words[number].version, value);
}

void model_check(struct model *model)
{
    for (unsigned i = 0; i < model->config->words; i++)
        check_word(model, i);
    if (!model_at_rest(model))
        return;
    for (unsigned unit = 0; unit < model->config->units; unit++)
        if (!denovo_idle(model->units[unit]) || !denovo_settled(model->units[unit]))
            model_fault(model, "unit %u waits for a message that does not come", unit);
    if (!denovo_registry_idle(model->registry) || (model->present && model->line.evicting))
        model_fault(model, "the registry waits for a message that does not come");
    for (unsigned thread = 0; thread < model->config->threads; thread++)
        if (model->threads[thread].busy)
            model_fault(model, "thread %u waits for a message that does not come", thread);
    for (unsigned i = 0; i < model->config->words; i++)
        check_rest(model, i);
}
