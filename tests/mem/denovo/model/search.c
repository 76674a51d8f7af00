#include "tests/mem/denovo/model/state.h"

#include <assert.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "emu/sim/alloc.h"

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
        model_restore(model, path[depth]);
        step_text(text, sizeof text, model, actions[depth]);
        if (left > strlen(text) + 4)
            out += snprintf(out, left, "  %s\n", text);
    }
}

static void note_step(struct model *model, size_t from, size_t to)
{
    model->steps = model_grow(model->steps, &model->step_room, model->step_count + 1, sizeof *model->steps);
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
            model_restore(model, number);
        model->touched = false;
        model->number = number;
        model->action = action;
        if (!model_act(model, action))
            continue;
        size_t known = model->count, next = model_add(model, number, action);
        if (next == known && !model->result->fault[0])
            model_check(model);
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
        model_restore(model, i);
        if (model_at_rest(model))
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
            model_fault(model, "messages go round for ever");
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
    struct denovo_post carrier = {model_post, model, NULL};
    struct denovo_registry_config home = {
        .held = (uint16_t)config->held, .words = (uint8_t)config->words, .rules = rules};
    model->registry = denovo_registry_new(&home, &model_home_ops, model, carrier);
    for (unsigned i = 0; i < config->units; i++) {
        struct denovo_unit_config unit = {.number = (uint16_t)i,
                                          .mshrs = 2,
                                          .write_backs = (uint16_t)config->write_backs,
                                          .words = (uint8_t)config->words,
                                          .rules = rules};
        model->holders[i].model = model;
        model->holders[i].number = i;
        model->holders[i].map = config->stash && i + 1 == config->units;
        model->units[i] = denovo_unit_new(&unit, &model_holder_ops, &model->holders[i], carrier);
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
    model_add(model, 0, ACTIONS);
    size_t done = 0;
    for (; done < model->count && model->count < limit && !result->fault[0]; done++) {
        model_restore(model, done);
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

/* Called within abort(), where the search is not changing anything. */
static void catch (int signal)
{
    (void)signal;
    model_fault(caught, "assertion");
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
        (void)sigaction(SIGABRT, &(struct sigaction){.sa_handler = catch}, NULL);
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
