#include "emu/tom/mapping/mapping.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "emu/hart/custom.h"
#include "emu/sim/alloc.h"
#include "emu/sim/text/say.h"
#include "emu/simt/coalesce.h"
#include "emu/tom/controller/controller.h"

static const char magic[] =
    "# croft map 1: frames of memory that get a map, and the lowest bit of the stack in it";

const char *const tom_choice_names[] = {[TOM_CHOICE_TOGETHER] = "together", [TOM_CHOICE_EVEN] = "even", NULL};

const char *const tom_map_names[] = {
    [TOM_BMAP] = "bmap", [TOM_TMAP] = "tmap", [TOM_ORACLE] = "oracle", [TOM_FIXED] = "fixed", NULL};

/* Frames. */

static void touch_frame(struct tom_mapper *mapper, uint64_t physical)
{
    const uint64_t frame = (physical - mapper->memory_base) / mapper->analyzer.frame;
    if (frame < mapper->frame_count)
        mapper->touch[frame / 64] |= UINT64_C(1) << frame % 64;
}

/* Notes the frames that hold a range, page by page: programs may have virtual addresses. */
static void touch_range(struct tom_mapper *mapper, const struct tom_range *range)
{
    struct warp_memory *memory = simt_grid_memory(mapper->tom->grid);
    const bool stacks = range->base == WARP_STACK_WINDOW;
    for (uint64_t at = range->base; at - range->base < range->bytes; at = (at | (WARP_PAGE - 1)) + 1) {
        uint64_t physical = memory->setup.stack_physical + (at - range->base);
        if (stacks || warp_memory_place(memory, at, WARP_LOAD, &physical) == WARP_GLOBAL)
            touch_frame(mapper, physical);
    }
}

static void add_span(struct tom_mapper *mapper, uint64_t base, uint64_t bytes)
{
    if (mapper->span_count == mapper->span_room) {
        mapper->span_room = mapper->span_room ? 2 * mapper->span_room : 64;
        mapper->spans = alloc_resize(mapper->spans, mapper->span_room * sizeof *mapper->spans);
    }
    mapper->spans[mapper->span_count++] = (struct tom_span){base, bytes};
    mapper->changed += bytes;
}

/* Adds frames as spans, but for those with reserved memory. */
static void add_frames(struct tom_mapper *mapper, uint64_t first, uint64_t end)
{
    const uint64_t bytes = mapper->analyzer.frame, base = mapper->memory_base;
    const uint64_t before = mapper->reserved_first < end ? mapper->reserved_first : end;
    const uint64_t behind = mapper->reserved_end > first ? mapper->reserved_end : first;
    if (first < before)
        add_span(mapper, base + first * bytes, (before - first) * bytes);
    if (behind < end)
        add_span(mapper, base + behind * bytes, (end - behind) * bytes);
}

static bool is_touched(const struct tom_mapper *mapper, uint64_t frame)
{
    return frame < mapper->frame_count && mapper->touch[frame / 64] >> frame % 64 & 1;
}

static void list_spans(struct tom_mapper *mapper)
{
    for (uint64_t i = 0, first = 0; i < mapper->frame_count; i++) {
        if (!is_touched(mapper, i))
            continue;
        if (i == 0 || !is_touched(mapper, i - 1))
            first = i;
        if (!is_touched(mapper, i + 1))
            add_frames(mapper, first, i + 1);
    }
}

/* Adds a range to the allocation table. Warns of the first one for which there is no room. */
static void add_range(struct tom_mapper *mapper, uint64_t base, uint64_t bytes)
{
    if (!tom_allocations_add(&mapper->allocations, base, bytes) && mapper->allocations.left_out == 1)
        say_warning("the program has more than %d ranges of %d bytes or more (TOM's table); "
                    "the map of the others stays as it is",
                    TOM_RANGES, TOM_RANGE_LEAST);
}

/* Learning. */

static uint64_t transfer_time(const struct tom_host *host, uint64_t bytes)
{
    return host->latency + bytes / host->bandwidth * CLOCK_SECOND +
           bytes % host->bandwidth * (CLOCK_SECOND / 1000) / (host->bandwidth / 1000);
}

/* Lets the warps of the first `count` tasks that wait go on. */
static void release(struct tom_mapper *mapper, uint64_t count, uint64_t now)
{
    while (mapper->stopped && count-- > 0) {
        struct tom_task *task = mapper->stopped;
        mapper->stopped = task->next;
        if (!mapper->stopped)
            mapper->last = &mapper->stopped;
        task->state = TOM_HERE;
        custom_returned(task->waiter, now);
    }
}

/* Lets the stopped multiprocessors continue. */
static void resume(void *owner, uint64_t now)
{
    struct tom_mapper *mapper = owner;
    mapper->host.holds_data = false;
    mapper->phase = TOM_PHASE_MAPPED;
    mapper->stop_time = now - mapper->phase_began;
    release(mapper, UINT64_MAX, now);
}

/* Copies the ranges from the host when all frames have their maps, then calls resume(): at once unless copying takes time
 * (`copy`). */
static void copy(struct tom_mapper *mapper, uint64_t now)
{
    const bool counts = mapper->tom->config.copy;
    for (unsigned i = 0; i < mapper->allocations.count; i++)
        if (mapper->allocations.ranges[i].base != WARP_STACK_WINDOW)
            mapper->copied += mapper->allocations.ranges[i].bytes;
    event_init(&mapper->event, mapper->tom->component, resume, mapper);
    event_schedule(mapper->tom->queue, &mapper->event,
                   now + (counts ? transfer_time(&mapper->host, mapper->copied) : 0));
}

/* Gives the next span its map; called again when the map has taken effect. */
static void change(void *context, uint64_t now)
{
    struct tom_mapper *mapper = context;
    struct error err;
    if (mapper->next_span == mapper->span_count) {
        copy(mapper, now);
        return;
    }
    const struct tom_span *span = &mapper->spans[mapper->next_span++];
    if (home_range_change(mapper->tom->memory->homes, span->base, span->bytes,
                          &mapper->analyzer.layouts[mapper->chosen], change, mapper, now, &err))
        return;
    say_warning("the map of 0x%" PRIx64 " stays as it is: %s", span->base, err.text);
    mapper->changed -= span->bytes;
    change(mapper, now);
}

/* The event that ends learning: chooses the map, and begins to give it to the frames. */
static void choose(void *owner, uint64_t now)
{
    struct tom_mapper *mapper = owner;
    const uint64_t wanted = mapper->tom->config.learn_instances,
                   seen = mapper->analyzer.instances - mapper->unended;
    mapper->overshoot = seen > wanted ? seen - wanted : 0;
    mapper->learn_time = now - mapper->phase_began;
    mapper->phase_began = now;
    mapper->chosen = mapper->tom->config.map_choice == TOM_CHOICE_EVEN ? tom_analyzer_even(&mapper->analyzer)
                                                                       : tom_analyzer_best(&mapper->analyzer);
    mapper->bit = tom_analyzer_bit(&mapper->analyzer, mapper->chosen);
    if (mapper->chosen)
        list_spans(mapper);
    for (unsigned i = 0; i < mapper->allocations.count; i++)
        mapper->allocations.ranges[i].bit = mapper->allocations.ranges[i].accesses ? mapper->bit : 0;
    change(mapper, now);
}

/* Adds the instances under way to the tallies, with the accesses that they have made so far. */
static void count_unended(struct tom_mapper *mapper)
{
    const struct tom *tom = mapper->tom;
    for (size_t i = 0; i < tom->task_count; i++) {
        struct tom_task *task = tom->tasks[i];
        if (!task->observed || !task->instance.accesses)
            continue;
        task->observed = false;
        mapper->under_way--;
        tom_analyzer_end(&mapper->analyzer, &task->instance);
        mapper->unended++;
    }
}

/* The event that ends learning after `learn_limit`. Without accesses, all memory keeps the machine's own map. */
static void end_learning(void *owner, uint64_t now)
{
    struct tom_mapper *mapper = owner;
    if (mapper->phase != TOM_PHASE_LEARNING)
        return;
    mapper->phase = TOM_PHASE_STOPPED;
    count_unended(mapper);
    choose(mapper, now);
}

bool tom_mapper_full(const struct tom_mapper *mapper)
{
    const uint32_t most = mapper->tom->config.learn_pending;
    return mapper->phase == TOM_PHASE_LEARNING && most && mapper->under_way >= most;
}

/* The event after the end of an instance. */
static void admit(void *owner, uint64_t now)
{
    struct tom_mapper *mapper = owner;
    if (mapper->phase == TOM_PHASE_LEARNING && !tom_mapper_full(mapper))
        release(mapper, mapper->tom->config.learn_pending - mapper->under_way, now);
}

void tom_mapper_begin(struct tom_mapper *mapper, uint64_t now)
{
    struct tom *tom = mapper->tom;
    const struct warp_memory *memory = simt_grid_memory(tom->grid);
    if (!mapper->used)
        return;
    add_range(mapper, WARP_STACK_WINDOW, memory->stack_size);
    for (uint32_t i = 0; i < mapper->array_count; i++)
        add_range(mapper, mapper->arrays[i].base, mapper->arrays[i].bytes);
    const uint64_t end = mapper->memory_base + mapper->frame_count * mapper->analyzer.frame;
    if (!mapper->told && mapper->program_end < end)
        add_range(mapper, mapper->program_end, end - mapper->program_end);
    mapper->phase_began = now;
    mapper->phase = TOM_PHASE_MAPPED;
    if (*tom->config.map_output) {
        mapper->phase = TOM_PHASE_RECORDING;
    } else if (tom->config.map == TOM_TMAP && tom->table.count && tom->config.learn_instances) {
        mapper->phase = TOM_PHASE_LEARNING;
        mapper->host.holds_data = true;
        event_init(&mapper->limit, tom->component, end_learning, mapper);
        event_init(&mapper->admission, tom->component, admit, mapper);
        if (tom->config.learn_limit)
            event_schedule(tom->queue, &mapper->limit, now + tom->config.learn_limit);
    } else if (tom->config.copy) {
        mapper->phase = TOM_PHASE_STOPPED;
        copy(mapper, now);
    }
}

void tom_mapper_enter(struct tom_task *task)
{
    tom_mapper_leave(task);
    task->observed = true;
    task->tom->mapper.under_way++;
    task->instance = (struct tom_instance){.accesses = 0};
    task->led.lanes = 0;
}

void tom_mapper_access(struct tom_task *task, const struct warp_report *report)
{
    struct tom_mapper *mapper = &task->tom->mapper;
    const uint32_t mask = report->mask & task->inside & ~report->shared_mask;
    struct coalesce_line lines[COALESCE_LINES];
    tom_offsets_access(&mapper->offsets[task->inside_of->number], &task->led, report);
    const unsigned count =
        coalesce_lines(report->physical, mask, report->op->size, 1U << mapper->analyzer.first_bit, lines);
    for (unsigned i = 0; i < count; i++) {
        const uint64_t address = report->address[__builtin_ctz(lines[i].lanes)];
        struct tom_range *range = tom_allocations_find(&mapper->allocations, address);
        tom_analyzer_access(&mapper->analyzer, &task->instance, lines[i].line);
        if (range && range->accesses++ == 0)
            touch_range(mapper, range);
    }
}

void tom_mapper_leave(struct tom_task *task)
{
    struct tom_mapper *mapper = &task->tom->mapper;
    if (!task->observed)
        return;
    tom_mapper_forget(task);
    if (!tom_mapper_observes(mapper))
        return;
    tom_analyzer_end(&mapper->analyzer, &task->instance);
    if (mapper->phase != TOM_PHASE_LEARNING || mapper->analyzer.instances < task->tom->config.learn_instances)
        return;
    mapper->phase = TOM_PHASE_STOPPED;
    event_init(&mapper->event, task->tom->component, choose, mapper);
    event_schedule(task->tom->queue, &mapper->event, task->tom->queue->now);
}

void tom_mapper_forget(struct tom_task *task)
{
    struct tom_mapper *mapper = &task->tom->mapper;
    if (!task->observed)
        return;
    task->observed = false;
    mapper->under_way--;
    if (mapper->phase == TOM_PHASE_LEARNING && mapper->stopped && !event_pending(&mapper->admission))
        event_schedule(task->tom->queue, &mapper->admission, task->tom->queue->now);
}

void tom_mapper_hold(struct tom_mapper *mapper, struct tom_task *task)
{
    mapper->held += mapper->phase == TOM_PHASE_LEARNING;
    task->next = NULL;
    *mapper->last = task;
    mapper->last = &task->next;
}

void tom_mapper_allocated(struct tom_mapper *mapper, uint64_t base, uint64_t bytes)
{
    if (!mapper->used)
        return;
    mapper->told = true;
    if (!bytes)
        tom_allocations_remove(&mapper->allocations, base);
    else
        add_range(mapper, base, bytes);
}

/* Files of maps. */

static bool read_line(struct tom_mapper *mapper, const char *text, struct error *err)
{
    uint64_t base, bytes;
    uint32_t bit;
    char rest;
    if (*text == '#' || *text == '\n' || *text == '\0')
        return true;
    if (sscanf(text, "bit %" SCNu32 " %c", &bit, &rest) == 1) {
        mapper->chosen = tom_analyzer_map(&mapper->analyzer, bit);
        return mapper->chosen ||
               error_set(err, "bit %" PRIu32 "; allowed: %" PRIu32 " to %" PRIu32, bit,
                         mapper->analyzer.first_bit, mapper->analyzer.first_bit + TOM_POSITIONS - 1);
    }
    if (sscanf(text, "frames %" SCNi64 " %" SCNi64 " %c", (int64_t *)&base, (int64_t *)&bytes, &rest) != 2)
        return error_set(err, "a line is `bit NUMBER` or `frames ADDRESS BYTES`");
    const uint64_t frame = mapper->analyzer.frame, at = base - mapper->memory_base;
    if (at % frame || bytes % frame || !bytes || at / frame >= mapper->frame_count ||
        bytes / frame > mapper->frame_count - at / frame)
        return error_set(
            err, "0x%" PRIx64 ", %" PRIu64 " bytes; allowed: whole frames of %" PRIu64 " bytes in memory",
            base, bytes, frame);
    for (uint64_t i = 0; i < bytes / frame; i++)
        touch_frame(mapper, base + i * frame);
    return true;
}

static bool read_file(struct tom_mapper *mapper, const char *path, struct error *err)
{
    char *text = NULL;
    size_t room = 0;
    unsigned line = 0;
    bool good = true;
    FILE *file = fopen(path, "re");
    if (!file)
        return error_set(err, "map_file: %s: cannot read the file of maps: %s", path, strerror(errno));
    while (good && getline(&text, &room, file) >= 0) {
        struct error why;
        line++;
        good = read_line(mapper, text, &why) || error_set(err, "map_file: %s:%u: %s", path, line, why.text);
    }
    if (good && ferror(file))
        good = error_set(err, "map_file: %s: cannot read the file of maps: %s", path, strerror(errno));
    free(text);
    (void)fclose(file);
    if (good && !mapper->chosen)
        return error_set(err, "map_file: %s: there is no line `bit NUMBER`", path);
    return good;
}

static void write_file(struct tom_mapper *mapper, const char *path)
{
    FILE *file = fopen(path, "we");
    bool good = file != NULL;
    if (file) {
        fprintf(file, "%s\nbit %" PRIu64 "\n", magic, mapper->bit);
        for (size_t i = 0; i < mapper->span_count; i++)
            fprintf(file, "frames 0x%" PRIx64 " %" PRIu64 "\n", mapper->spans[i].base,
                    mapper->spans[i].bytes);
        good = !ferror(file);
        good = fclose(file) == 0 && good;
    }
    if (!good)
        say_warning("map_output: %s: cannot be written: %s", path, strerror(errno));
}

void tom_mapper_finish(struct tom_mapper *mapper)
{
    const struct tom_config *config = &mapper->tom->config;
    if (mapper->phase == TOM_PHASE_LEARNING)
        say_warning("the mapping was not learned: %" PRIu64 " instances of blocks were executed, and %" PRIu64
                    " are needed (learn_instances, or learn_limit); no block was offloaded",
                    mapper->analyzer.instances, config->learn_instances);
    if (mapper->phase != TOM_PHASE_RECORDING)
        return;
    mapper->chosen = tom_analyzer_best(&mapper->analyzer);
    mapper->bit = tom_analyzer_bit(&mapper->analyzer, mapper->chosen);
    if (!mapper->chosen) {
        say_warning("map_output: %s is not written: no block was executed", config->map_output);
        return;
    }
    list_spans(mapper);
    write_file(mapper, config->map_output);
}

/* The part. */

static bool check(const struct tom *tom, struct error *err)
{
    const struct tom_config *config = &tom->config;
    const struct tom_analyzer *analyzer = &tom->mapper.analyzer;
    if (config->map == TOM_FIXED && !tom_analyzer_map(analyzer, config->map_bit))
        return error_set(err, "map_bit: %" PRIu32 "; allowed with map: fixed: %" PRIu32 " to %" PRIu32,
                         config->map_bit, analyzer->first_bit, analyzer->first_bit + TOM_POSITIONS - 1);
    if (config->map == TOM_ORACLE && !*config->map_file)
        return error_set(err, "map_file: map: oracle needs a file that a run with map_output has written");
    if (*config->map_output && (config->policy != TOM_NONE || config->map != TOM_BMAP))
        return error_set(err, "map_output: allowed with policy: none and map: bmap");
    return true;
}

/* Gives memory the maps that are known before the run. */
static bool map_before(struct tom_mapper *mapper, struct error *err)
{
    const struct tom_config *config = &mapper->tom->config;
    if (config->map == TOM_FIXED) {
        mapper->chosen = tom_analyzer_map(&mapper->analyzer, config->map_bit);
        add_frames(mapper, 0, mapper->frame_count);
    } else if (config->map == TOM_ORACLE) {
        if (!read_file(mapper, config->map_file, err))
            return false;
        list_spans(mapper);
    }
    mapper->bit = tom_analyzer_bit(&mapper->analyzer, mapper->chosen);
    for (size_t i = 0; i < mapper->span_count; i++)
        if (!home_range_change(mapper->tom->memory->homes, mapper->spans[i].base, mapper->spans[i].bytes,
                               &mapper->analyzer.layouts[mapper->chosen], NULL, NULL, 0, err))
            return false;
    return true;
}

static void set_memory(struct tom_mapper *mapper, const struct tom_site *place)
{
    const uint64_t frame = mapper->analyzer.frame;
    mapper->memory_base = place->memory_base;
    mapper->program_end = place->program_end;
    mapper->arrays = place->arrays;
    mapper->array_count = place->array_count;
    mapper->frame_count = place->memory_size / frame;
    mapper->reserved_first = mapper->reserved_end = mapper->frame_count;
    if (place->reserved_first == place->reserved_end)
        return;
    mapper->reserved_first = (place->reserved_first - place->memory_base) / frame;
    mapper->reserved_end = (place->reserved_end - place->memory_base + frame - 1) / frame;
}

bool tom_mapper_init(struct tom *tom, const struct tom_site *place, struct error *err)
{
    struct tom_mapper *mapper = &tom->mapper;
    const struct tom_config *config = &tom->config;
    mapper->tom = tom;
    mapper->last = &mapper->stopped;
    mapper->used = config->map != TOM_BMAP || *config->map_output || config->copy;
    if (!mapper->used)
        return true;
    const uint32_t line = cache_configuration(tom->fronts[0].l1)->line;
    if (!tom_analyzer_init(&mapper->analyzer, &place->layout, place->memory_base, line, err) ||
        !check(tom, err))
        return false;
    if (config->map == TOM_TMAP && place->pcie_count == 0)
        return error_set(err, "map: tmap needs parts of kind tom_pcie in front of the links");
    mapper->host = (struct tom_host){
        .header = config->pcie_header, .latency = config->pcie_latency, .bandwidth = config->pcie_bandwidth};
    for (uint32_t i = 0; i < place->pcie_count; i++)
        tom_pcie_join(place->pcies[i], &mapper->host);
    set_memory(mapper, place);
    mapper->offsets = alloc(CANDIDATE_ENTRIES, sizeof *mapper->offsets);
    mapper->touch = alloc(mapper->frame_count / 64 + 1, sizeof *mapper->touch);
    return map_before(mapper, err);
}

void tom_mapper_free(struct tom_mapper *mapper)
{
    if (mapper->used) {
        event_cancel(mapper->tom->queue, &mapper->event);
        event_cancel(mapper->tom->queue, &mapper->limit);
        event_cancel(mapper->tom->queue, &mapper->admission);
    }
    free(mapper->offsets);
    free(mapper->touch);
    free(mapper->spans);
}

static void publish_maps(struct tom_mapper *mapper, struct stats *stats, struct scope scope)
{
    for (unsigned i = 0; i < TOM_MAPS; i++) {
        const struct tom_tally *tally = &mapper->analyzer.tallies[i];
        const struct stats_row rows[] = {
            {"together", &tally->together, "requests",
             "Requests of blocks to the stack of their first one, if the stack began at this bit (0: as "
             "without TOM)"},
            {"single", &tally->single, "blocks", "Blocks with requests to one stack only"},
            {"stacks", &tally->stacks, "stacks", "Sum of the stacks to which each block had requests"},
            {"busiest", &tally->busiest, "requests",
             "Of each 256 requests of blocks in order, those to the stack that got most"},
        };
        stats_counters(stats, scope_at(&scope, "bit", tom_analyzer_bit(&mapper->analyzer, i)), rows,
                       sizeof rows / sizeof *rows);
    }
}

static void publish_ranges(struct tom_mapper *mapper, struct stats *stats, struct scope scope)
{
    for (unsigned i = 0; i < TOM_RANGES; i++) {
        const struct tom_range *range = &mapper->allocations.ranges[i];
        const struct stats_row rows[] = {
            {"base", &range->base, "bytes", "Address of this range of the allocation table; 0: none"},
            {"bytes", &range->bytes, "bytes", "Size of the range"},
            {"accesses", &range->accesses, "requests", "Requests of blocks to it that the analyzer saw"},
            {"bit", &range->bit, "bits", "Lowest bit of the stack in its learned map; 0: as without TOM"},
        };
        stats_counters(stats, scope_at(&scope, "range", i), rows, sizeof rows / sizeof *rows);
    }
}

void tom_mapper_publish(struct tom_mapper *mapper, struct stats *stats, struct scope scope)
{
    const struct stats_row rows[] = {
        {"bit", &mapper->bit, "bits", "Lowest bit of the stack in the chosen map; 0: none"},
        {"instances", &mapper->analyzer.instances, "blocks", "Blocks that the analyzer saw"},
        {"unended", &mapper->unended, "blocks", "Of these, under way when learn_limit ended learning"},
        {"held", &mapper->held, "waits",
         "Times that a warp waited at its block while others learned (learn_pending)"},
        {"overshoot", &mapper->overshoot, "blocks",
         "Blocks that had ended when the map was chosen, beyond learn_instances"},
        {"requests", &mapper->analyzer.accesses, "requests", "Requests of these blocks"},
        {"learn_time", &mapper->learn_time, "fs", "Time from the first thread until the map was chosen"},
        {"stop_time", &mapper->stop_time, "fs", "Time from then until the multiprocessors went on"},
        {"copied_bytes", &mapper->copied, "bytes", "Size of the ranges that were copied to the stacks"},
        {"changed_bytes", &mapper->changed, "bytes", "Size of the frames that got the chosen map"},
        {"left_out", &mapper->allocations.left_out, "ranges", "Ranges for which the table had no room"},
        {"host_requests", &mapper->host.requests, "requests", "Requests that went to host memory"},
        {"host_request_bytes", &mapper->host.bytes[0], "bytes", "Bytes of these, with headers"},
        {"host_response_bytes", &mapper->host.bytes[1], "bytes", "Bytes of their responses, with headers"},
        {"host_request_time", &mapper->host.busy[0], "fs", "Time that these occupied the way to the host"},
        {"host_response_time", &mapper->host.busy[1], "fs", "Time that these occupied the way back"},
    };
    const struct scope map = scope_enter(&scope, "map");
    if (!mapper->used)
        return;
    stats_counters(stats, map, rows, sizeof rows / sizeof *rows);
    publish_maps(mapper, stats, map);
    publish_ranges(mapper, stats, map);
}
