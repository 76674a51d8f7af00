/* The part kind `tom`: makes the controllers, and publishes what they count. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "emu/mem/home_bits.h"
#include "emu/mem/llc.h"
#include "emu/sim/alloc.h"
#include "emu/sim/text/say.h"
#include "emu/tom/check.h"
#include "emu/tom/site.h"
#include "emu/tom/storage.h"

/* Reads the program's table. If it is missing or bad, warns; then no block is offloaded. */
static void read_table(struct tom *tom, const struct tom_site *place)
{
    struct error err;
    if (tom->config.policy == TOM_NONE && tom->config.map != TOM_TMAP && !*tom->config.map_output)
        return;
    if (!place->table) {
        say_warning("the program has no section " CANDIDATE_SECTION
                    ", so no block is offloaded; `croft candidates -o FILE PROGRAM` adds it");
        return;
    }
    if (!candidate_table_read(place->table, place->table_size, tom->listed, &tom->listed_count, &err)) {
        say_warning("%s; no block is offloaded", err.text);
        tom->listed_count = 0;
    }
}

static void make_fronts(struct tom *tom, const struct tom_site *place)
{
    tom->front_count = simt_clusters_count(place->clusters, place->cluster_count);
    tom->fronts = alloc(tom->front_count, sizeof *tom->fronts);
    for (uint32_t number = 0; number < tom->front_count; number++) {
        const struct simt_beside beside = simt_clusters_beside(place->clusters, number);
        struct tom_front *front = &tom->fronts[number];
        *front = (struct tom_front){.tom = tom,
                                    .simt = beside.simt,
                                    .l1 = beside.l1,
                                    .clock = beside.clock,
                                    .number = beside.number,
                                    .banks = simt_cluster_config(beside.cluster)->banks,
                                    .by_line = simt_cluster_by_line(beside.cluster)};
        front->slice_count = simt_cluster_slices(beside.cluster, &front->slices);
        if (front->slice_count > tom->most_slices)
            tom->most_slices = front->slice_count;
        front->port = &tom->ports[(uint64_t)number * tom->config.ports / tom->front_count];
        tom_front_join(front);
    }
}

static void make_stacks(struct tom *tom, const struct tom_site *place)
{
    tom->stack_count = place->stack_count;
    tom->stacks = alloc(place->stack_count, sizeof *tom->stacks);
    tom->monitors = alloc(place->stack_count, sizeof *tom->monitors);
    for (uint32_t i = 0; i < place->stack_count; i++) {
        tom->stacks[i] = place->stacks[i];
        tom->monitors[i].link = place->stacks[i].link;
        if (tom->stacks[i].unit)
            tom_unit_join(tom->stacks[i].unit, &tom->config);
    }
}

/* TOM_IDEAL: offloading costs nothing but the clock of the decision. */
static void make_free(struct tom_config *config)
{
    config->decide_clocks = 1;
    config->pack_clocks = 0;
    config->push = config->drop_near = config->drop_front = false;
}

/* Makes a map by which a stack holds all data: memory is cut into parts of a stack's size, and each part has the places of the first.
 * Addresses of several parts therefore share a row, which affects timing only. */
static bool make_replica(struct home_map *map, const struct tom_site *place, struct home_layout *layout,
                         struct error *err)
{
    const uint64_t parts = (uint64_t)layout->geometry.stacks * layout->geometry.modules;
    const uint64_t bytes = place->memory_size / parts;
    layout->stack_hash = false;
    layout->geometry.stacks = layout->geometry.modules = 1;
    if (!home_text_fit(place->layout.text, &layout->geometry, layout->text, err))
        return false;
    for (uint64_t i = 0; i < parts; i++)
        if (!home_range_add(map, place->memory_base + i * bytes, bytes, layout, err))
            return false;
    home_map_fix(map, "all data are in each stack (offload.policy: ideal)");
    return true;
}

/* TOM_IDEAL: gives the first-level caches of the stacks' multiprocessors maps in which their stack holds all data. */
static bool make_replicas(struct tom *tom, const struct tom_site *place, struct error *err)
{
    tom->replicas = alloc(place->stack_count, sizeof *tom->replicas);
    for (uint32_t i = 0; i < place->stack_count; i++) {
        struct home_layout layout = place->layout;
        if (!tom->stacks[i].unit)
            continue;
        layout.module = (uint16_t)(layout.module + i / place->memory->stacks);
        layout.stack = (uint16_t)(layout.stack + i % place->memory->stacks);
        tom->replicas[i] = home_map_new();
        if (!make_replica(tom->replicas[i], place, &layout, err))
            return false;
        cache_set_homes(tom_unit_l1(tom->stacks[i].unit), tom->replicas[i]);
    }
    return true;
}

/* Checks what holds if a network brings packets to the stacks. They may be longer than its buffers; and the blocks that make room for
 * them wait for other stacks' memory, whose requests come the same way, so packets must not stand there. */
static bool check_network(const struct tom_config *config, const struct tom_site *place, struct error *err)
{
    const bool limited = config->policy == TOM_CTRL && config->pending < place->front_warps;
    const uint64_t waiting = limited ? config->pending : place->front_warps; /* with 0, none waits */
    if (!place->by_network || config->policy == TOM_NONE || config->policy == TOM_IDEAL)
        return true;
    if (place->whole)
        return error_set(
            err, "packets of blocks carry the registers of a warp, and the network to the stacks would "
                 "need room for all of them at once; allowed: its flow: wormhole, or policy: none");
    if (place->unit_queue >= waiting)
        return true;
    return error_set(
        err,
        "queue: %" PRIu32 " of the stacks' units; %" PRIu64 " packets can wait there, and in the network "
        "they would keep back other stacks' requests, for which blocks wait; allowed: that many, or "
        "policy: ctrl without pending",
        place->unit_queue, waiting);
}

static bool check_site(const struct tom_config *config, const struct tom_site *place, struct error *err)
{
    bool some = false;
    if (!place->grid)
        return error_set(err, "the machine has no multiprocessors (simt.count is 0 in all groups)");
    for (uint32_t i = 0; i < place->stack_count; i++)
        some = some || place->stacks[i].unit;
    if (!some)
        return error_set(err, "the machine has no stack that executes blocks (a part of kind tom_unit)");
    if (simt_clusters_count(place->clusters, place->cluster_count) == 0)
        return error_set(err, "the machine has no multiprocessors on which launches place blocks");
    if (config->policy == TOM_IDEAL && place->check)
        return error_set(err, "policy: ideal does nothing for coherence; leave --check coherence out");
    if (config->policy == TOM_IDEAL && config->map != TOM_BMAP)
        return error_set(err, "policy: ideal has all data in each stack; it needs map: bmap");
    if (config->policy != TOM_IDEAL && config->destination == TOM_OF_EMPTIEST)
        return error_set(err, "destination: emptiest is for policy: ideal, where each stack has all data");
    for (uint32_t i = 0; i < place->cluster_count; i++)
        if (simt_cluster_config(place->clusters[i])->stack_write_back)
            return error_set(
                err, "multiprocessors need simt.stack_write_back: false, so that the stacks of threads "
                     "are in memory when a block is offloaded");
    return check_network(config, place, err);
}

static void free_part(void *part);

static void *make(const void *config, const struct part_site *site, struct error *err)
{
    const struct tom_site *place = site->place;
    if (!check_site(config, place, err))
        return NULL;
    struct tom *tom = alloc(1, sizeof *tom);
    tom->config = *(const struct tom_config *)config;
    const bool ideal = tom->config.policy == TOM_IDEAL;
    if (ideal)
        make_free(&tom->config);
    tom->queue = site->queue;
    tom->component = part_component(site);
    tom->grid = place->grid;
    tom->memory = place->memory;
    tom->decoder = place->decoder;
    tom->ports = alloc(tom->config.ports, sizeof *tom->ports);
    tom_table_init(&tom->table);
    read_table(tom, place);
    make_stacks(tom, place);
    make_fronts(tom, place);
    if (place->check)
        tom->check = tom_check_new(tom);
    if (tom_mapper_init(tom, place, err) && (!ideal || make_replicas(tom, place, err)))
        return tom;
    free_part(tom);
    return NULL;
}

static void free_task(struct tom *tom, struct tom_task *task)
{
    event_cancel(tom->queue, &task->event);
    event_cancel(tom->queue, &task->end);
    event_cancel(tom->queue, &task->reach_event);
    event_cancel(tom->queue, &task->request.event);
    warp_free(task->guest.warp);
    free(task->lines);
    for (uint32_t i = 0; i <= tom->most_slices; i++)
        free(task->push[i].numbers);
    free(task->push);
    free(task);
}

static void free_part(void *part)
{
    struct tom *tom = part;
    tom_check_free(tom->check);
    tom_mapper_free(&tom->mapper);
    for (size_t i = 0; i < tom->task_count; i++)
        free_task(tom, tom->tasks[i]);
    for (size_t i = 0; i < tom->warp_count; i++)
        warp_free(tom->warps[i]);
    free(tom->tasks);
    free(tom->warps);
    free(tom->fronts);
    free(tom->ports);
    for (uint32_t i = 0; tom->replicas && i < tom->stack_count; i++)
        home_map_free(tom->replicas[i]);
    free(tom->replicas);
    free(tom->stacks);
    free(tom->monitors);
    free(tom);
}

/* Prints the number of findings of the coherence check if it is not 0. Returns it; 0 without the check. */
static uint64_t findings(const void *tom)
{
    const struct tom *part = tom;
    return part->check ? tom_check_end(part->check) : 0;
}

static void allocated(void *tom, uint64_t base, uint64_t bytes)
{
    tom_mapper_allocated(&((struct tom *)tom)->mapper, base, bytes);
}

static void finish(void *tom)
{
    struct tom *part = tom;
    if (part->mapper.used)
        tom_mapper_finish(&part->mapper);
}

static void connect_part(void *part, unsigned port, unsigned slot, const struct part_end *server)
{
    struct tom *tom = part;
    (void)port;
    tom->ports[slot].link = (struct mem_link){.port_ops = server->ops,
                                              .port = server->object,
                                              .client_ops = &tom_port_ops,
                                              .client = &tom->ports[slot],
                                              .homes = tom->memory->homes};
}

static unsigned ends(const void *config, const void *const *below)
{
    (void)below;
    return ((const struct tom_config *)config)->ports;
}

static uint64_t read_offloaded(const void *context)
{
    const struct tom *tom = context;
    uint64_t sum = 0;
    for (uint32_t i = 0; i < tom->stack_count; i++)
        sum += tom->stacks[i].unit ? tom_unit_counted(tom->stacks[i].unit)->instructions : 0;
    return sum;
}

static uint64_t read_offloaded_threads(const void *context)
{
    const struct tom *tom = context;
    uint64_t sum = 0;
    for (uint32_t i = 0; i < tom->stack_count; i++)
        sum += tom->stacks[i].unit ? tom_unit_counted(tom->stacks[i].unit)->thread_instructions : 0;
    return sum;
}

static uint64_t read_all_threads(const void *context)
{
    const struct tom *tom = context;
    uint64_t sum = read_offloaded_threads(tom) - tom->redundant_thread_instructions;
    for (uint32_t i = 0; i < tom->front_count; i++)
        sum += simt_counted(tom->fronts[i].simt)->thread_instructions;
    return sum;
}

/* Publishes the counters of each entry of the program's table. */
static void publish_entries(const struct tom *tom, struct stats *stats, struct scope scope)
{
    for (size_t i = 0; i < tom->listed_count; i++) {
        const struct scope entry = scope_at(&scope, "candidate", (unsigned)i);
        const struct stats_row rows[] = {
            {"instances", &tom->instances_of[i], "blocks",
             "Times that a warp came to this block of the table"},
            {"offloaded", &tom->offloaded_of[i], "blocks", "Of these, offloaded"},
        };
        stats_counters(stats, entry, rows, sizeof rows / sizeof *rows);
        if (!tom->mapper.used)
            continue;
        const struct stats_row offsets[] = {
            {"measured_accesses", &tom->mapper.offsets[i].measured, "accesses",
             "Accesses of instances that the analyzer saw behind the first one of its block"},
            {"fixed_offsets", &tom->mapper.offsets[i].fixed, "accesses",
             "Of these, as far from its latest execution as when the instruction was first seen (figure 5)"},
        };
        stats_counters(stats, entry, offsets, sizeof offsets / sizeof *offsets);
    }
}

static void publish_channels(const struct tom *tom, struct stats *stats, struct scope scope)
{
    for (uint32_t i = 0; i < tom->stack_count; i++) {
        const struct tom_monitor *monitor = &tom->monitors[i];
        const struct stats_row rows[] = {
            {"measured", &monitor->measured, "times",
             "Times that the use of the stack's channels was measured"},
            {"tx_busy", &monitor->over[0], "times", "Of these, with a busy channel to the stack"},
            {"rx_busy", &monitor->over[1], "times", "Of these, with a busy channel from the stack"},
        };
        stats_counters(stats, scope_at(&scope, "channel", i), rows, sizeof rows / sizeof *rows);
    }
}

static void publish(void *part, struct stats *stats, struct scope scope)
{
    static const char *const names[] = {
#define TOM_REASON(name, text, meaning) "refused." text,
        TOM_REASONS_OF(TOM_REASON)
#undef TOM_REASON
    };
    static const char *const meanings[] = {
#define TOM_REASON(name, text, meaning) "Blocks that were not offloaded, " meaning,
        TOM_REASONS_OF(TOM_REASON)
#undef TOM_REASON
    };
    struct tom *tom = part;
    const struct stats_row rows[] = {
#define TOM_COUNTER(name, unit_of, meaning) {#name, &tom->name, unit_of, meaning},
        TOM_COUNTERS(TOM_COUNTER)
#undef TOM_COUNTER
    };
    stats_counters(stats, scope, rows, sizeof rows / sizeof *rows);
    for (unsigned i = 0; i < TOM_REASONS; i++)
        stats_counter(stats, scope, names[i], &tom->refused[i], "blocks", meanings[i]);
    stats_computed(stats, scope, "offloaded_instructions", read_offloaded, tom, "instructions",
                   "Instructions executed in stacks, counted once per warp");
    stats_computed(stats, scope, "offloaded_thread_instructions", read_offloaded_threads, tom, "instructions",
                   "Instructions executed in stacks, counted once per thread");
    stats_computed(stats, scope, "thread_instructions", read_all_threads, tom, "instructions",
                   "Instructions of all threads, without redundant ones");
    publish_entries(tom, stats, scope);
    publish_channels(tom, stats, scope);
    tom_mapper_publish(&tom->mapper, stats, scope);
}

static bool print_storage(const char *machine, const struct part_child *parts, size_t count,
                          struct error *err)
{
    struct tom_storage storage = {0};
    bool controllers = false;
    for (size_t i = 0; i < count; i++) {
        const struct simt_config *simt = parts[i].kind == &simt_kind ? parts[i].config : NULL;
        storage.stacks += parts[i].kind == &tom_unit_kind;
        controllers = controllers || parts[i].kind == &tom_kind;
        if (!simt || !simt->launches || simt->count == 0)
            continue;
        storage.fronts += simt->count;
        storage.warps = simt->warps > storage.warps ? simt->warps : storage.warps;
    }
    if (!controllers || !storage.stacks || !storage.fronts)
        return error_set(
            err, "machine '%s' does not offload blocks (parts of kinds tom and tom_unit); tom does", machine);
    tom_storage_print(machine, &storage);
    return true;
}

#define PART struct tom_config
static const struct part_field fields[] = {
#include "emu/sim/fields_rows.h"

#include "emu/tom/tom.def"
};

static const struct part_port ports[] = {
    {.name = "memory",
     .type = "memory",
     .direction = PART_ASKS,
     .partners = "crossbar",
     .explanation = "The crossbar to the links, which takes packets."},
    {.name = NULL},
};

static const struct assembly_hooks hooks = {
    .offloads = true, .place = tom_place, .allocated = allocated, .finish = finish, .findings = findings};

const struct part_kind tom_kind = {
    .name = "tom",
    .explanation =
        "The offload controllers of the multiprocessors in front of memory stacks, as in the TOM paper.",
    PART_CONFIG(struct tom_config),
    .functional = "",
    .ports = ports,
    .hooks = &hooks,
    .ends = ends,
    .print_storage = print_storage,
    .make = make,
    .free = free_part,
    .connect = connect_part,
    .publish = publish,
};
