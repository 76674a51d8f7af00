#include "emu/nucd/units/task_unit.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "emu/nucd/units/work_queue.h"

struct counters {
    uint64_t tasks, faults, kills, transfers, lines, refused, errors;
    uint64_t peak; /* largest number of lines of the queue in use */
};

struct task_unit {
    enum task_unit_state state;
    struct nucd_region region;
    struct nucd_packet packet;
    struct work_queue queue;
    bool error, answered, work_level, done_level;
    bool emptying;             /* the data cache is being emptied */
    bool killed;               /* CLEAR must empty the data cache, because the task was killed */
    bool left;                 /* the region was left by anything but its end; firmware has not reported it */
    bool code, ranges_written; /* code or RANGES changed since the last START */
    uint64_t ranges, context;
    uint64_t result, fflags, cause, value, pc; /* registers of the core's page */
    uint64_t done, host_result, host_outcome, host_cause, host_value, host_offset, host_fflags;
    uint64_t line[NUCD_LINE_WORDS];
    uint64_t *staged; /* lines received of the transfer that the host is writing */
    uint32_t staged_lines, staged_of;
    struct counters counters;
    struct task_unit_config config;
    struct observer_list observers; /* struct task_unit_observer */
};

struct task_unit *task_unit_new(const struct task_unit_config *config, struct error *err)
{
    if (config->queue_lines < 2 || config->queue_lines > NUCD_QUEUE_LINES) {
        error_set(err, "queue_lines must be 2 to %d, not %u", NUCD_QUEUE_LINES, config->queue_lines);
        return NULL;
    }
    struct task_unit *unit = calloc(1, sizeof *unit);
    if (unit) {
        unit->config = *config;
        unit->staged = calloc(config->queue_lines, NUCD_LINE);
    }
    if (!unit || !work_queue_init(&unit->queue, config->queue_lines) || !unit->staged) {
        error_set(err, "not enough memory for a task unit");
        task_unit_free(unit);
        return NULL;
    }
    return unit;
}

void task_unit_observe(struct task_unit *unit, struct task_unit_observer *observer)
{
    observer_add(&unit->observers, &observer->link);
}

void task_unit_free(struct task_unit *unit)
{
    if (!unit)
        return;
    work_queue_free(&unit->queue);
    free(unit->staged);
    free(unit);
}

/* Drives the interrupt line to the core by the current state. */
static void signal_work(struct task_unit *unit)
{
    bool waits = unit->state == TASK_UNIT_IDLE && work_queue_waits(&unit->queue);
    bool level =
        unit->answered || unit->left || ((unit->state == TASK_UNIT_ENDED || waits) && !unit->emptying);
    if (level == unit->work_level)
        return;
    unit->work_level = level;
    irq_set(&unit->config.work, level);
}

static void signal_done(struct task_unit *unit, bool level)
{
    if (level == unit->done_level)
        return;
    unit->done_level = level;
    irq_set(&unit->config.done, level);
}

static void tell(const struct task_unit *unit, const struct task_unit_report *report)
{
    OBSERVER_TELL(&unit->observers, struct task_unit_observer, told, report);
}

void task_unit_reset(struct task_unit *unit)
{
    unit->state = TASK_UNIT_IDLE;
    work_queue_clear(&unit->queue);
    unit->error = unit->answered = unit->emptying = unit->killed = unit->left = false;
    unit->code = unit->ranges_written = false;
    unit->ranges = unit->context = 0;
    unit->result = unit->fflags = unit->cause = unit->value = unit->pc = 0;
    unit->done = unit->host_result = unit->host_outcome = 0;
    unit->host_cause = unit->host_value = unit->host_offset = unit->host_fflags = 0;
    unit->staged_lines = unit->staged_of = 0;
    memset(unit->line, 0, sizeof unit->line);
    signal_work(unit);
    signal_done(unit, false);
}

enum task_unit_state task_unit_state(const struct task_unit *unit)
{
    return unit->state;
}

const struct nucd_packet *task_unit_packet(const struct task_unit *unit)
{
    return &unit->packet;
}

struct nucd_region *task_unit_region(struct task_unit *unit)
{
    return unit->state == TASK_UNIT_RUNNING ? &unit->region : NULL;
}

static void note_error(struct task_unit *unit)
{
    unit->error = true;
    unit->counters.errors++;
}

bool task_unit_push(struct task_unit *unit, const uint64_t *words, unsigned count)
{
    if (!work_queue_push(&unit->queue, words, count)) {
        unit->counters.refused++;
        note_error(unit);
        return false;
    }
    uint32_t used = unit->queue.lines - work_queue_free_lines(&unit->queue);
    unit->counters.peak = used > unit->counters.peak ? used : unit->counters.peak;
    unit->counters.transfers++;
    unit->counters.lines += nucd_words_lines(count);
    signal_work(unit);
    return true;
}

bool task_unit_arrive(struct task_unit *unit, uint64_t pc)
{
    if (unit->state != TASK_UNIT_RUNNING || unit->left || !nucd_region_ends(&unit->region, pc))
        return false;
    unit->state = TASK_UNIT_ENDED;
    signal_work(unit);
    return true;
}

void task_unit_leave(struct task_unit *unit, uint64_t pc)
{
    if (unit->state != TASK_UNIT_RUNNING || unit->left)
        return;
    unit->left = true;
    unit->value = pc;
    signal_work(unit);
}

static void take(struct task_unit *unit)
{
    uint32_t freed;
    if (unit->answered || unit->emptying) {
        note_error(unit);
        return;
    }
    enum work_queue_result result = work_queue_take(&unit->queue, &unit->packet, &freed);
    if (result == WORK_QUEUE_GARBAGE)
        note_error(unit);
    if (result == WORK_QUEUE_PACKET) {
        unit->state = TASK_UNIT_LOADED;
        unit->result = unit->fflags = 0;
    }
    signal_work(unit);
    if (freed > 0)
        tell(unit, &(struct task_unit_report){.event = TASK_UNIT_EMPTIED, .lines = freed});
}

static void start(struct task_unit *unit)
{
    unit->region = (struct nucd_region){.begin = unit->packet.begin, .end = unit->packet.end};
    unit->state = TASK_UNIT_RUNNING;
    unit->code = unit->ranges_written = false;
    signal_work(unit);
    OBSERVER_TELL(&unit->observers, struct task_unit_observer, started);
}

static void finish(struct task_unit *unit)
{
    unit->counters.tasks++;
    unit->done++;
    unit->host_result = unit->result;
    unit->host_fflags |= unit->fflags & 31;
    unit->host_outcome = (unit->fflags & 31) | (uint64_t)unit->packet.tag << 32;
    unit->state = TASK_UNIT_IDLE;
    signal_work(unit);
    signal_done(unit, true);
    tell(unit, &(struct task_unit_report){.event = TASK_UNIT_COMPLETED,
                                          .tag = unit->packet.tag,
                                          .result = unit->result,
                                          .fflags = (uint8_t)(unit->fflags & 31)});
}

void task_unit_emptied(struct task_unit *unit)
{
    if (!unit->emptying) /* the unit was reset in the meantime */
        return;
    unit->emptying = false;
    if (unit->state == TASK_UNIT_ENDED)
        finish(unit);
    else
        signal_work(unit);
}

static void empty(struct task_unit *unit)
{
    unit->emptying = true;
    signal_work(unit);
    if (unit->config.empty)
        unit->config.empty(unit->config.context);
    else
        task_unit_emptied(unit);
}

static void complete(struct task_unit *unit)
{
    if (unit->emptying)
        note_error(unit);
    else
        empty(unit);
}

static void fault(struct task_unit *unit)
{
    unit->counters.faults += unit->cause != CROFT_NUCD_CAUSE_ORDER;
    unit->host_cause = unit->cause;
    unit->host_value = unit->value;
    unit->host_offset = unit->pc - unit->packet.begin;
    unit->state = TASK_UNIT_FAULTED;
    unit->left = false;
    signal_work(unit);
    signal_done(unit, true);
    tell(unit, &(struct task_unit_report){.event = TASK_UNIT_STOPPED,
                                          .tag = unit->packet.tag,
                                          .cause = unit->cause,
                                          .value = unit->value,
                                          .offset = (int64_t)unit->host_offset});
}

bool task_unit_resume(struct task_unit *unit)
{
    if (unit->state != TASK_UNIT_FAULTED)
        return false;
    unit->state = TASK_UNIT_RUNNING;
    unit->answered = true;
    signal_work(unit);
    return true;
}

bool task_unit_kill(struct task_unit *unit)
{
    if (unit->state == TASK_UNIT_IDLE)
        return false;
    unit->counters.kills++;
    unit->done++;
    unit->killed = !unit->emptying;
    unit->state = TASK_UNIT_IDLE;
    unit->left = false;
    unit->answered = true;
    signal_work(unit);
    signal_done(unit, true);
    tell(unit, &(struct task_unit_report){.event = TASK_UNIT_KILLED, .tag = unit->packet.tag});
    return true;
}

static void command(struct task_unit *unit, uint64_t value)
{
    enum task_unit_state state = unit->state;
    if (value == TASK_UNIT_TAKE && state == TASK_UNIT_IDLE) {
        take(unit);
    } else if (value == TASK_UNIT_START && state == TASK_UNIT_LOADED) {
        start(unit);
    } else if (value == TASK_UNIT_COMPLETE && state == TASK_UNIT_ENDED) {
        complete(unit);
    } else if (value == TASK_UNIT_FAULT && state == TASK_UNIT_RUNNING) {
        fault(unit);
    } else if (value == TASK_UNIT_CLEAR) {
        bool killed = unit->killed;
        unit->error = unit->answered = unit->killed = false;
        if (killed)
            empty(unit);
        signal_work(unit);
    } else {
        note_error(unit);
    }
}

static void control(struct task_unit *unit, uint64_t value)
{
    if (value == TASK_UNIT_ACKNOWLEDGE)
        signal_done(unit, false);
    else if (!(value == TASK_UNIT_RESUME && task_unit_resume(unit)) &&
             !(value == TASK_UNIT_KILL && task_unit_kill(unit)))
        note_error(unit);
}

/* Adds a line to the transfer that the host is writing. The doorbell of the first line gives the number of
 * lines. */
static void doorbell(struct task_unit *unit, uint64_t value)
{
    uint32_t of = value & 0xff;
    if (unit->staged_lines == 0) {
        if (of == 0 || of > unit->config.queue_lines) {
            unit->counters.refused++;
            note_error(unit);
            return;
        }
        unit->staged_of = of;
    }
    memcpy(&unit->staged[(size_t)unit->staged_lines * NUCD_LINE_WORDS], unit->line, NUCD_LINE);
    if (++unit->staged_lines < unit->staged_of)
        return;
    unit->staged_lines = 0;
    (void)task_unit_push(unit, unit->staged, unit->staged_of * NUCD_LINE_WORDS);
}

static uint64_t status(const struct task_unit *unit)
{
    return (uint64_t)unit->state | (work_queue_waits(&unit->queue) ? TASK_UNIT_WAITS : 0) |
           (unit->error ? TASK_UNIT_ERROR : 0) | (unit->answered ? TASK_UNIT_ANSWERED : 0) |
           (unit->left ? TASK_UNIT_LEFT : 0) | (unit->emptying ? TASK_UNIT_EMPTYING : 0);
}

static uint64_t live_in(const struct nucd_live_ins *live_ins, unsigned reg)
{
    if (!(live_ins->mask >> reg & 1))
        return 0;
    return live_ins->value[__builtin_popcount(live_ins->mask & ((1u << reg) - 1))];
}

static uint64_t format(const struct nucd_packet *packet)
{
    return packet->result | (uint64_t)packet->frm << 8 | (uint64_t)packet->capabilities << 16 |
           (uint64_t)packet->tag << 32;
}

static uint64_t summary(const struct task_unit *unit)
{
    return unit->packet.live_ins.mask | (unit->state == TASK_UNIT_LOADED ? TASK_UNIT_LOADED_BIT : 0) |
           (uint64_t)unit->packet.frm << (TASK_UNIT_FCSR_SHIFT + 5) | (unit->code ? TASK_UNIT_CODE_BIT : 0) |
           (unit->ranges_written ? TASK_UNIT_RANGES_BIT : 0);
}

static uint64_t task_unit_read(void *device, uint64_t offset, unsigned size)
{
    const struct task_unit *unit = device;
    (void)size;
    if (offset >= TASK_UNIT_LIVE_INS && offset < TASK_UNIT_LIVE_INS + 32 * 8)
        return live_in(&unit->packet.live_ins, (unsigned)(offset - TASK_UNIT_LIVE_INS) / 8);
    if (offset >= TASK_UNIT_LINE && offset < TASK_UNIT_LINE + NUCD_LINE)
        return unit->line[(offset - TASK_UNIT_LINE) / 8];
    switch (offset) {
    case TASK_UNIT_STATUS:
    case TASK_UNIT_HOST_STATUS: return status(unit);
    case TASK_UNIT_BEGIN: return unit->packet.begin;
    case TASK_UNIT_END: return unit->packet.end;
    case TASK_UNIT_REGISTERS: return unit->packet.live_ins.mask;
    case TASK_UNIT_FORMAT: return format(&unit->packet);
    case TASK_UNIT_RESULT: return unit->result;
    case TASK_UNIT_FFLAGS: return unit->fflags;
    case TASK_UNIT_CAUSE: return unit->cause;
    case TASK_UNIT_VALUE: return unit->value;
    case TASK_UNIT_PC: return unit->pc;
    case TASK_UNIT_DEPTH: return (uint64_t)unit->region.depth;
    case TASK_UNIT_SUMMARY: return summary(unit);
    case TASK_UNIT_RANGES:
    case TASK_UNIT_HOST_RANGES: return unit->ranges;
    case TASK_UNIT_CONTEXT: return unit->context;
    case TASK_UNIT_CREDITS: return work_queue_free_lines(&unit->queue);
    case TASK_UNIT_DONE: return unit->done;
    case TASK_UNIT_HOST_RESULT: return unit->host_result;
    case TASK_UNIT_HOST_OUTCOME: return unit->host_outcome;
    case TASK_UNIT_HOST_CAUSE: return unit->host_cause;
    case TASK_UNIT_HOST_VALUE: return unit->host_value;
    case TASK_UNIT_HOST_OFFSET: return unit->host_offset;
    case TASK_UNIT_HOST_FFLAGS: return unit->host_fflags;
    default: return 0;
    }
}

uint64_t task_unit_context(const struct task_unit *unit)
{
    return unit->context;
}

void task_unit_set_ranges(struct task_unit *unit, uint64_t table)
{
    unit->ranges = table;
    unit->ranges_written = true;
}

static void task_unit_write(void *device, uint64_t offset, unsigned size, uint64_t value)
{
    struct task_unit *unit = device;
    (void)size;
    if (offset >= TASK_UNIT_LINE && offset < TASK_UNIT_LINE + NUCD_LINE)
        unit->line[(offset - TASK_UNIT_LINE) / 8] = value;
    switch (offset) {
    case TASK_UNIT_COMMAND: command(unit, value); break;
    case TASK_UNIT_RESULT: unit->result = value; break;
    case TASK_UNIT_FFLAGS: unit->fflags = value & 31; break;
    case TASK_UNIT_CAUSE: unit->cause = value; break;
    case TASK_UNIT_VALUE: unit->value = value; break;
    case TASK_UNIT_PC: unit->pc = value; break;
    case TASK_UNIT_CONTEXT: unit->context = value; break;
    case TASK_UNIT_DOORBELL: doorbell(unit, value); break;
    case TASK_UNIT_CONTROL: control(unit, value); break;
    case TASK_UNIT_HOST_RANGES: task_unit_set_ranges(unit, value); break;
    case TASK_UNIT_HOST_FFLAGS: unit->host_fflags &= ~value; break;
    default: break;
    }
}

const struct device_ops task_unit_ops = {.read = task_unit_read, .write = task_unit_write};

void task_unit_change_code(struct task_unit *unit)
{
    unit->code = true;
}

void task_unit_publish(struct task_unit *unit, struct stats *stats, struct scope scope)
{
    const struct counters *counters = &unit->counters;
    const struct stats_row rows[] = {
        {"tasks", &counters->tasks, "tasks", "tasks that were completed"},
        {"faults", &counters->faults, "tasks", "faults in regions that were reported to the host"},
        {"kills", &counters->kills, "tasks", "tasks that the host killed"},
        {"transfers", &counters->transfers, "transfers", "transfers put into the work queue"},
        {"lines", &counters->lines, "lines", "lines put into the work queue"},
        {"refused", &counters->refused, "transfers", "transfers that did not fit"},
        {"errors", &counters->errors, "errors",
         "commands that the state does not allow, transfers that did not fit or were not packets"},
        {"peak_lines", &counters->peak, "lines", "most lines of the work queue in use"},
    };
    stats_counters(stats, scope, rows, sizeof rows / sizeof *rows);
}
