#include "emu/nucd/observe/task_table.h"

#include <stdlib.h>

#include "emu/sim/alloc.h"

#define COLUMNS(COLUMN)                                                                                      \
    COLUMN(task)                                                                                             \
    COLUMN(host)                                                                                             \
    COLUMN(accelerator)                                                                                      \
    COLUMN(outcome)                                                                                          \
    COLUMN(pc)                                                                                               \
    COLUMN(place)                                                                                            \
    COLUMN(in_bytes)                                                                                         \
    COLUMN(out_bytes)                                                                                        \
    COLUMN(decoded_ns)                                                                                       \
    COLUMN(ready_ns)                                                                                         \
    COLUMN(packet_ns)                                                                                        \
    COLUMN(clear_ns)                                                                                         \
    COLUMN(clean_ns)                                                                                         \
    COLUMN(free_ns)                                                                                          \
    COLUMN(sent_ns)                                                                                          \
    COLUMN(arrived_ns)                                                                                       \
    COLUMN(first_ns)                                                                                         \
    COLUMN(begun_ns)                                                                                         \
    COLUMN(ended_ns)                                                                                         \
    COLUMN(complete_ns)                                                                                      \
    COLUMN(reported_ns)                                                                                      \
    COLUMN(left_ns)                                                                                          \
    COLUMN(blocked_by)                                                                                       \
    COLUMN(offload_cycles)                                                                                   \
    COLUMN(wait_cycles)                                                                                      \
    COLUMN(generator_cycles)                                                                                 \
    COLUMN(transfer_cycles)                                                                                  \
    COLUMN(start_cycles)                                                                                     \
    COLUMN(dependent_cycles)                                                                                 \
    COLUMN(held_cycles)                                                                                      \
    COLUMN(cleaning_cycles)                                                                                  \
    COLUMN(blocked_cycles)                                                                                   \
    COLUMN(queued_cycles)                                                                                    \
    COLUMN(elapsed_cycles)                                                                                   \
    COLUMN(cause)

#define SYMBOL(name) COLUMN_##name,
enum { COLUMNS(SYMBOL) COLUMN_COUNT };
#undef SYMBOL

/* The task that an accelerator runs for the driver. */
struct unit {
    uint64_t begun, ended; /* CLOCK_NEVER: not yet */
};

struct task_table {
    struct engines_observer tasks;
    struct accelerators_observer units;
    struct track_end end;
    struct track_sink *sink; /* NULL: the trace has ended */
    struct task_sources sources;
    struct track table;
    struct unit *each; /* by accelerator */
};

static struct track_cell number(bool known, uint64_t value)
{
    return (struct track_cell){.type = known ? TRACK_CELL_NUMBER : TRACK_CELL_EMPTY, .number = value};
}

static struct track_cell text(const char *value)
{
    return (struct track_cell){.type = value ? TRACK_CELL_TEXT : TRACK_CELL_EMPTY, .text = value};
}

static struct track_cell time_of(uint64_t value)
{
    return (struct track_cell){.type = value == CLOCK_NEVER ? TRACK_CELL_EMPTY : TRACK_CELL_TIME,
                               .number = value};
}

static void fill_times(struct track_cell *cells, const struct engine_times *at)
{
    cells[COLUMN_decoded_ns] = time_of(at->decoded);
    cells[COLUMN_ready_ns] = time_of(at->ready);
    cells[COLUMN_packet_ns] = time_of(at->made);
    cells[COLUMN_clear_ns] = time_of(at->clear);
    cells[COLUMN_clean_ns] = time_of(at->cleaned);
    cells[COLUMN_free_ns] = time_of(at->free);
    cells[COLUMN_sent_ns] = time_of(at->sent);
    cells[COLUMN_arrived_ns] = time_of(at->arrived);
    cells[COLUMN_first_ns] = time_of(at->idle);
    cells[COLUMN_begun_ns] = time_of(at->begun);
    cells[COLUMN_ended_ns] = time_of(at->ended);
    cells[COLUMN_complete_ns] = time_of(at->complete);
    cells[COLUMN_reported_ns] = time_of(at->reported);
    cells[COLUMN_left_ns] = time_of(at->left);
}

static void fill_cycles(struct track_cell *cells, const struct nucd_cycles *cycles)
{
    cells[COLUMN_offload_cycles] = number(true, cycles->offload);
    cells[COLUMN_wait_cycles] = number(true, cycles->wait);
    cells[COLUMN_generator_cycles] = number(true, cycles->generator);
    cells[COLUMN_transfer_cycles] = number(true, cycles->transfer);
    cells[COLUMN_start_cycles] = number(true, cycles->start);
    cells[COLUMN_dependent_cycles] = number(true, cycles->dependent);
    cells[COLUMN_held_cycles] = number(true, cycles->held);
    cells[COLUMN_cleaning_cycles] = number(true, cycles->cleaning);
    cells[COLUMN_blocked_cycles] = number(true, cycles->blocked);
    cells[COLUMN_queued_cycles] = number(true, cycles->queued);
    cells[COLUMN_elapsed_cycles] = number(true, cycles->elapsed);
}

static uint64_t size_of(const struct nucd_ranges *ranges)
{
    uint64_t size = 0;
    for (unsigned i = 0; i < ranges->count; i++)
        size += ranges->range[i].last - ranges->range[i].first + 1;
    return size;
}

static void write_row(void *context, const struct nucd_record *record)
{
    static const char *const outcomes[NUCD_OUTCOMES] = {
        [NUCD_RETIRED] = "retired", [NUCD_SQUASHED] = "squashed", [NUCD_DROPPED] = "dropped",
        [NUCD_KILLED] = "killed",   [NUCD_DRIVEN] = "driver",     [NUCD_UNFINISHED] = "unfinished",
        [NUCD_REFUSED] = "refused"};
    const struct task_table *table = context;
    const struct core_services *machine = table->sources.machine;
    const struct nucd_task *task = record->task;
    char place[CORE_DESCRIPTION];
    struct track_cell cells[COLUMN_COUNT] = {{0}};
    cells[COLUMN_task] = number(record->number != NUCD_NO_RECORD, record->number);
    cells[COLUMN_host] = number(record->outcome != NUCD_DRIVEN, record->host);
    cells[COLUMN_accelerator] = number(record->sent, record->accelerator);
    cells[COLUMN_outcome] = text(outcomes[record->outcome]);
    cells[COLUMN_pc] = (struct track_cell){.type = TRACK_CELL_ADDRESS, .number = task->pc};
    cells[COLUMN_place] = text(machine->describe(machine->context, task->pc, place, sizeof place));
    if (record->described) {
        cells[COLUMN_in_bytes] = number(true, size_of(&task->memory.in));
        cells[COLUMN_out_bytes] = number(true, size_of(&task->memory.out));
    }
    fill_times(cells, &record->at);
    if (record->at.begun != CLOCK_NEVER && record->described)
        fill_cycles(cells, &record->cycles);
    cells[COLUMN_blocked_by] = number(record->blocked_by != NUCD_NO_RECORD, record->blocked_by);
    cells[COLUMN_cause] = text(record->cause);
    (void)track_row(table->table, cells, COLUMN_COUNT);
}

static void note_begun(void *context, unsigned i, uint16_t tag, uint64_t time)
{
    struct task_table *table = context;
    (void)tag;
    table->each[i] = (struct unit){time, CLOCK_NEVER};
}

static void note_ended(void *context, unsigned i, uint16_t tag, uint64_t time)
{
    struct task_table *table = context;
    (void)tag;
    table->each[i].ended = time;
}

/* Writes the row of a task of the driver. */
static void write_driven(struct task_table *table, unsigned i, enum nucd_outcome outcome, uint64_t now)
{
    const struct nucd_packet *packet = task_unit_packet(accelerators_unit(table->sources.accelerators, i));
    const struct nucd_task task = {.pc = packet->begin - 4, .begin = packet->begin, .end = packet->end};
    struct unit *unit = &table->each[i];
    struct nucd_record record = {.outcome = outcome,
                                 .number = NUCD_NO_RECORD,
                                 .task = &task,
                                 .sent = true,
                                 .accelerator = i,
                                 .at = engine_times_none(),
                                 .blocked_by = NUCD_NO_RECORD};
    if (unit->begun == CLOCK_NEVER)
        return;
    record.at.begun = unit->begun;
    record.at.ended = unit->ended;
    record.at.complete = now;
    write_row(table, &record);
    *unit = (struct unit){CLOCK_NEVER, CLOCK_NEVER};
}

static void note_report(void *context, unsigned i, const struct task_unit_report *report)
{
    struct task_table *table = context;
    uint64_t now = table->sources.machine->queue->now;
    if (report->event == TASK_UNIT_COMPLETED)
        write_driven(table, i, NUCD_DRIVEN, now);
    if (report->event == TASK_UNIT_KILLED)
        write_driven(table, i, NUCD_KILLED, now);
}

static void end(void *context, uint64_t now)
{
    struct task_table *table = context;
    (void)now;
    engines_tell_rest(table->sources.engines);
    for (unsigned i = 0; i < accelerators_count(table->sources.accelerators); i++)
        write_driven(table, i, NUCD_UNFINISHED, CLOCK_NEVER);
    table->sink = NULL;
}

struct task_table *task_table_new(struct track_sink *sink, const struct task_sources *sources)
{
#define NAME(name) #name,
    static const char *const columns[] = {COLUMNS(NAME)};
#undef NAME
    struct task_table *table = alloc(1, sizeof *table);
    unsigned count = accelerators_count(sources->accelerators);
    table->sink = sink;
    table->sources = *sources;
    table->table = track_table(sink, "nucd", columns, COLUMN_COUNT);
    table->each = alloc(count, sizeof *table->each);
    for (unsigned i = 0; i < count; i++)
        table->each[i] = (struct unit){CLOCK_NEVER, CLOCK_NEVER};
    table->tasks = (struct engines_observer){.left = write_row, .context = table};
    table->units = (struct accelerators_observer){
        .told = note_report, .begun = note_begun, .ended = note_ended, .context = table};
    table->end = (struct track_end){.end = end, .context = table};
    engines_observe(sources->engines, &table->tasks);
    if (sources->config->mode == NUCD_MODE_DRIVER)
        accelerators_observe(sources->accelerators, &table->units);
    observer_add_first(&sink->ends, &table->end.link);
    return table;
}

void task_table_free(struct task_table *table)
{
    if (!table)
        return;
    if (table->sink)
        observer_remove(&table->sink->ends, &table->end.link);
    engines_unobserve(table->sources.engines, &table->tasks);
    accelerators_unobserve(table->sources.accelerators, &table->units);
    free(table->each);
    free(table);
}
