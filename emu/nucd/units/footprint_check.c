#include "emu/nucd/units/footprint_check.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "emu/sim/alloc.h"
#include "emu/sim/mix.h"

/* Tasks that were sent but have not started, oldest first. */
struct sent {
    struct nucd_task *tasks;
    unsigned count, room;
};

/* The checker's state of an accelerator. */
struct watched {
    struct nucd_task task;
    bool checked; /* `task` is the task under way; false: unknown */
    struct nucd_range stack;
    struct sent sent;
};

enum { LISTS = 256, OFFERS = 4096 };

struct footprint_check {
    struct footprint_check_options options;
    struct watched *watched;
    struct sent offers; /* tasks for which a driver was called, to be sent to any accelerator */
    struct nucd_range *allowed;
    unsigned allowed_count;
    struct footprint_finding *findings;
    uint32_t *next; /* next[i]: index + 1 of the next finding with the hash of finding i; 0: none */
    unsigned count, room;
    uint32_t lists[LISTS]; /* index + 1 of the first finding with a hash; 0: none */
    struct footprint_counters counters;
};

static void *grown(void *array, size_t count, size_t size)
{
    void *result = alloc_resize(array, count * size);
    return result;
}

struct footprint_check *footprint_check_new(const struct footprint_check_options *options)
{
    struct footprint_check *check = alloc(1, sizeof *check);
    check->options = *options;
    check->watched = grown(NULL, options->accelerators, sizeof *check->watched);
    for (unsigned i = 0; i < options->accelerators; i++)
        check->watched[i] = (struct watched){.stack = {1, 0}};
    return check;
}

void footprint_check_free(struct footprint_check *check)
{
    if (!check)
        return;
    for (unsigned i = 0; i < check->options.accelerators; i++)
        free(check->watched[i].sent.tasks);
    free(check->offers.tasks);
    free(check->watched);
    free(check->allowed);
    free(check->findings);
    free(check->next);
    free(check);
}

void footprint_check_allow(struct footprint_check *check, uint64_t first, uint64_t last)
{
    check->allowed = grown(check->allowed, check->allowed_count + (size_t)1, sizeof *check->allowed);
    check->allowed[check->allowed_count++] = (struct nucd_range){first, last};
}

void footprint_check_stack(struct footprint_check *check, unsigned accelerator, uint64_t first, uint64_t last)
{
    check->watched[accelerator].stack = (struct nucd_range){first, last};
}

static void add_task(struct sent *sent, const struct nucd_task *task)
{
    if (sent->count == sent->room) {
        sent->room = sent->room ? 2 * sent->room : 16;
        sent->tasks = grown(sent->tasks, sent->room, sizeof *sent->tasks);
    }
    sent->tasks[sent->count++] = *task;
}

/* Removes `count` tasks, from index `first` on. */
static void remove_tasks(struct sent *sent, unsigned first, unsigned count)
{
    sent->count -= count;
    memmove(sent->tasks + first, sent->tasks + first + count, (sent->count - first) * sizeof *sent->tasks);
}

void footprint_check_begin(struct footprint_check *check, unsigned accelerator, const struct nucd_task *task)
{
    add_task(&check->watched[accelerator].sent, task);
}

void footprint_check_offer(struct footprint_check *check, const struct nucd_task *task)
{
    if (check->offers.count == OFFERS)
        remove_tasks(&check->offers, 0, OFFERS / 2);
    add_task(&check->offers, task);
}

static bool same_task(const struct nucd_task *task, const struct nucd_packet *packet)
{
    const struct nucd_live_ins *a = &task->live_ins, *b = &packet->live_ins;
    size_t count = (size_t)__builtin_popcount(a->mask);
    return task->begin == packet->begin && task->end == packet->end && a->mask == b->mask &&
           memcmp(a->value, b->value, count * sizeof a->value[0]) == 0;
}

/* Returns the index of the oldest task with this packet, or sent->count if there is none. */
static unsigned find_task(const struct sent *sent, const struct nucd_packet *packet)
{
    unsigned i = 0;
    while (i < sent->count && !same_task(&sent->tasks[i], packet))
        i++;
    return i;
}

void footprint_check_start(struct footprint_check *check, unsigned accelerator,
                           const struct nucd_packet *packet)
{
    struct watched *watched = &check->watched[accelerator];
    unsigned sent = find_task(&watched->sent, packet), offered = find_task(&check->offers, packet);
    watched->checked = true;
    if (sent < watched->sent.count) {
        watched->task = watched->sent.tasks[sent];
        remove_tasks(&watched->sent, 0, sent + 1);
    } else if (offered < check->offers.count) {
        watched->task = check->offers.tasks[offered];
        remove_tasks(&check->offers, offered, 1);
    } else {
        watched->checked = false;
        if (check->counters.unknown++ == 0 && check->options.unknown)
            check->options.unknown(check->options.context, accelerator, packet->begin);
    }
    check->counters.tasks += watched->checked;
}

static bool in(const struct nucd_range *range, uint64_t address)
{
    return range->first <= address && address <= range->last;
}

static bool in_any(const struct nucd_range *ranges, unsigned count, uint64_t address)
{
    for (unsigned i = 0; i < count; i++)
        if (in(&ranges[i], address))
            return true;
    return false;
}

/* It is enough to check the first and the last byte, because an access is no longer than a line. */
static bool may_write(const struct watched *watched, uint64_t address)
{
    return in(&watched->stack, address) ||
           in_any(watched->task.memory.out.range, watched->task.memory.out.count, address);
}

static bool may_read(const struct footprint_check *check, const struct watched *watched, uint64_t address)
{
    return may_write(watched, address) ||
           in_any(watched->task.memory.in.range, watched->task.memory.in.count, address) ||
           in_any(check->allowed, check->allowed_count, address);
}

static void add_finding(struct footprint_check *check, const struct footprint_finding *finding)
{
    uint64_t hash = (finding->pc * 4 + finding->kind) * MIX_FACTOR;
    uint32_t *list = &check->lists[hash >> 56];
    check->counters.violations++;
    for (uint32_t i = *list; i; i = check->next[i - 1]) {
        struct footprint_finding *old = &check->findings[i - 1];
        if (old->pc == finding->pc && old->kind == finding->kind) {
            old->count++;
            return;
        }
    }
    if (check->count == check->room) {
        check->room = check->room ? 2 * check->room : 16;
        check->findings = grown(check->findings, check->room, sizeof *check->findings);
        check->next = grown(check->next, check->room, sizeof *check->next);
    }
    check->next[check->count] = *list;
    check->findings[check->count++] = *finding;
    *list = check->count;
    if (check->options.report)
        check->options.report(check->options.context, finding);
}

static void check_entry(struct footprint_check *check, unsigned accelerator, const struct stream_entry *entry)
{
    const struct stream_op *op = entry->op;
    const struct watched *watched = &check->watched[accelerator];
    const uint64_t first = entry->address, last = first + op->size - 1, end = op->pc + op->length - 1;
    struct footprint_finding finding = {.pc = op->pc,
                                        .address = first,
                                        .nucd = watched->task.pc,
                                        .count = 1,
                                        .accelerator = accelerator,
                                        .size = op->size};
    bool failed = insn_table[op->id].access == ACCESS_SC && first == 0; /* a failed SC accesses nothing */
    check->counters.accesses += op->flags & (STREAM_LOAD | STREAM_STORE) && !failed;
    if (op->flags & STREAM_LOAD && !(may_read(check, watched, first) && may_read(check, watched, last)))
        add_finding(check, &finding);
    if (op->flags & STREAM_STORE && !failed && !(may_write(watched, first) && may_write(watched, last))) {
        finding.kind = FOOTPRINT_STORE;
        finding.read_only = may_read(check, watched, first) && may_read(check, watched, last);
        add_finding(check, &finding);
    }
    if (!may_read(check, watched, op->pc) || !may_read(check, watched, end)) {
        finding.kind = FOOTPRINT_FETCH;
        finding.address = op->pc;
        finding.size = op->length;
        finding.read_only = false;
        add_finding(check, &finding);
    }
}

void footprint_check_follow(struct footprint_check *check, unsigned accelerator,
                            const struct stream_entry *entries, uint32_t count)
{
    if (!check->watched[accelerator].checked)
        return;
    for (uint32_t i = 0; i < count; i++)
        check_entry(check, accelerator, &entries[i]);
}

const struct footprint_counters *footprint_check_counted(const struct footprint_check *check)
{
    return &check->counters;
}

const struct footprint_finding *footprint_check_findings(const struct footprint_check *check, unsigned *count)
{
    *count = check->count;
    return check->findings;
}

void footprint_check_publish(struct footprint_check *check, struct stats *stats, struct scope scope)
{
    const struct stats_row rows[] = {
        {"tasks", &check->counters.tasks, "tasks", "Tasks whose accesses were checked"},
        {"unknown", &check->counters.unknown, "tasks",
         "Tasks that were not checked, because no nucd has sent them"},
        {"accesses", &check->counters.accesses, "accesses", "Loads and stores of tasks that were checked"},
        {"violations", &check->counters.violations, "accesses",
         "Accesses to memory that the tasks' nucds do not name"},
    };
    stats_counters(stats, scope, rows, sizeof rows / sizeof *rows);
}

const char *footprint_kind_name(enum footprint_kind kind)
{
    static const char *const names[FOOTPRINT_KINDS] = {
        [FOOTPRINT_LOAD] = "load", [FOOTPRINT_STORE] = "store", [FOOTPRINT_FETCH] = "fetch"};
    return names[kind];
}

const char *footprint_advice(const struct footprint_finding *finding)
{
    switch (finding->kind) {
    case FOOTPRINT_LOAD:
        return "name the memory in an input range of the nucd, or pass the value in a register";
    case FOOTPRINT_STORE:
        return finding->read_only
                   ? "the task may only read this: name it in an output range of the nucd"
                   : "name the memory in an output range of the nucd, or return the value as result";
    default: return "name the code in an input range of the nucd, if it must be in writable memory";
    }
}
