#include "emu/toy/toy.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "emu/hart/access.h"
#include "emu/hart/custom.h"
#include "emu/mem/request.h"
#include "emu/mem/site.h"
#include "emu/schema/assembly.h"
#include "emu/sim/report/track.h"
#include "emu/simt/warp.h"

enum { BLOCK = 64, WORDS = BLOCK / 8 };

/* A block that somebody waits for. */
struct job {
    struct toy *toy;
    uint64_t address; /* physical */
    uint64_t asked;   /* fs */
    struct custom_waiter *waiter;
    struct event arrive;
    struct job *next; /* in the queue, or of those that are free */
    struct job *all;
};

struct toy {
    struct toy_config config;
    struct event_queue *queue;
    struct clock clock;
    uint32_t component;
    uint16_t requester;
    struct mem_link link;
    struct mem_request request;
    struct event end;          /* of the present block's sum */
    struct job *first, **last; /* have arrived; the first is the present one */
    struct job *free, *all;
    uint64_t started; /* fs: the present one */
    uint64_t blocks;
    uint64_t allocations; /* of the program */
    struct histogram clocks;
    struct track track; /* its sink is NULL if nobody watches */
    struct track_end untrack;
};

/* Time. */

static void ask(struct toy *toy, uint64_t now)
{
    (void)mem_link_request(&toy->link, &toy->request, now);
}

static void start(struct toy *toy, uint64_t now)
{
    toy->started = now;
    mem_request_init(&toy->request, MEM_READ, toy->first->address, BLOCK);
    toy->request.requester = toy->requester;
    toy->request.kind = MEM_UNCACHED;
    ask(toy, now);
}

static void arrive(void *owner, uint64_t now)
{
    struct job *job = owner;
    struct toy *toy = job->toy;
    job->next = NULL;
    *toy->last = job;
    toy->last = &job->next;
    if (toy->first == job)
        start(toy, now);
}

static void room(void *client, struct mem_link *link, uint64_t now)
{
    (void)link;
    ask(client, now);
}

static bool respond(void *client, struct mem_link *link, struct mem_request *request, uint64_t now)
{
    struct toy *toy = client;
    (void)link;
    (void)request;
    uint64_t cycle = clock_cycle(&toy->clock, now);
    event_schedule(toy->queue, &toy->end, clock_time(&toy->clock, cycle + toy->config.latency));
    return true;
}

static void show(const struct toy *toy, const struct job *job, uint64_t now)
{
    char name[24];
    if (!toy->track.sink)
        return;
    (void)snprintf(name, sizeof name, "0x%" PRIx64, job->address);
    (void)track_slice(toy->track, name, toy->started, now);
}

static void end(void *owner, uint64_t now)
{
    struct toy *toy = owner;
    struct job *job = toy->first;
    toy->first = job->next;
    if (!toy->first)
        toy->last = &toy->first;
    toy->blocks++;
    histogram_add(&toy->clocks, clock_cycle(&toy->clock, now - job->asked));
    show(toy, job, now);
    job->next = toy->free;
    toy->free = job;
    if (toy->first)
        start(toy, now);
    custom_done(job->waiter, now);
}

/* Somebody asks at `time`, up to which the queue need not have come. */
static void enqueue(struct toy *toy, uint64_t address, uint64_t time, struct custom_waiter *waiter)
{
    struct job *job = toy->free;
    if (!custom_later(waiter))
        return;
    if (job) {
        toy->free = job->next;
    } else {
        job = calloc(1, sizeof *job);
        if (!job)
            abort();
        job->toy = toy;
        job->all = toy->all;
        toy->all = job;
        event_init(&job->arrive, toy->component, arrive, job);
    }
    job->address = address;
    job->asked = time;
    job->waiter = waiter;
    event_schedule(toy->queue, &job->arrive, clock_edge(&toy->clock, time));
}

/* Function. */

static uint64_t sum_of(const uint64_t words[WORDS])
{
    uint64_t sum = 0;
    for (unsigned i = 0; i < WORDS; i++)
        sum += words[i];
    return sum;
}

static bool trapped(struct trap *trap, enum trap_cause cause, uint64_t address)
{
    *trap = (struct trap){cause, address};
    return false;
}

static bool sum_for_hart(struct custom_call *call, uint64_t *physical)
{
    uint64_t address = call->operand[0], words[WORDS], at;
    if (address % BLOCK != 0)
        return trapped(&call->trap, TRAP_LOAD_MISALIGNED, address);
    for (unsigned i = WORDS; i-- > 0; *physical = at)
        if (!access_load(call->hart, address + 8 * i, 8, &words[i], &at)) {
            call->trap = call->hart->trap;
            return false;
        }
    if (!phys_at(call->hart->memory, *physical, BLOCK))
        return trapped(&call->trap, TRAP_LOAD_ACCESS, address);
    call->result = sum_of(words);
    return true;
}

static bool execute(void *context, struct custom_call *call)
{
    uint64_t physical = 0;
    if (!sum_for_hart(call, &physical))
        return false;
    enqueue(context, physical, call->time, call->waiter);
    return true;
}

static bool sum_for_lane(struct custom_lanes *lanes, uint64_t *physical)
{
    struct warp_memory *memory = warp_memory_of(lanes->warp);
    const struct warp_scratchpad *pad = warp_scratchpad(lanes->warp);
    uint64_t address = lanes->operand[0][lanes->lane], words[WORDS];
    if (address % BLOCK != 0)
        return trapped(&lanes->trap, TRAP_LOAD_MISALIGNED, address);
    if (!warp_memory_load(memory, pad, address, words, BLOCK) ||
        warp_memory_place(memory, address, WARP_LOAD, physical) != WARP_GLOBAL)
        return trapped(&lanes->trap, memory->setup.translate ? TRAP_LOAD_PAGE : TRAP_LOAD_ACCESS, address);
    lanes->result[lanes->lane] = sum_of(words);
    return true;
}

/* Nothing begins before all lanes are known not to trap. */
static bool execute_lanes(void *context, struct custom_lanes *lanes)
{
    uint64_t physical[CUSTOM_LANES];
    for (uint32_t left = lanes->mask; left; left &= left - 1) {
        lanes->lane = (unsigned)__builtin_ctz(left);
        if (!sum_for_lane(lanes, &physical[lanes->lane]))
            return false;
    }
    for (uint32_t left = lanes->mask; left; left &= left - 1)
        enqueue(context, physical[__builtin_ctz(left)], lanes->time, lanes->waiter);
    return true;
}

/* The kind. */

static void *make(const void *config, const struct part_site *site, struct error *err)
{
    struct toy *toy = calloc(1, sizeof *toy);
    if (!toy)
        abort();
    toy->config = *(const struct toy_config *)config;
    if (!clock_set_frequency(site->clock, toy->config.clock, err)) {
        free(toy);
        return NULL;
    }
    const struct mem_site *place = site->place;
    toy->queue = site->queue;
    toy->clock = *site->clock;
    toy->component = part_component(site);
    toy->requester = part_requester(site);
    toy->link.homes = place->homes;
    toy->last = &toy->first;
    toy->clocks = histogram_log2(4, 8);
    event_init(&toy->end, part_component(site), end, toy);
    return toy;
}

static void free_part(void *part)
{
    struct toy *toy = part;
    event_cancel(toy->queue, &toy->end);
    while (toy->all) {
        struct job *job = toy->all;
        toy->all = job->all;
        event_cancel(toy->queue, &job->arrive);
        free(job);
    }
    free(toy);
}

static void connect_part(void *part, unsigned port, unsigned slot, const struct part_end *server)
{
    static const struct mem_client_ops client = {respond, room};
    struct toy *toy = part;
    (void)port;
    (void)slot;
    toy->link = (struct mem_link){.port_ops = server->ops,
                                  .port = server->object,
                                  .client_ops = &client,
                                  .client = toy,
                                  .homes = toy->link.homes};
}

static void units(void *part, struct custom_units *table)
{
    custom_serve(table, EXTENSION_Xtoy, &(struct custom_unit){execute, execute_lanes, .context = part});
}

static void allocated(void *part, uint64_t base, uint64_t bytes)
{
    struct toy *toy = part;
    (void)base;
    toy->allocations += bytes != 0;
}

static uint64_t findings(const void *part)
{
    const struct toy *toy = part;
    if (toy->blocks <= toy->config.budget)
        return 0;
    fprintf(stderr, "croft: %" PRIu64 " blocks were summed; toy.budget is %" PRIu64 "\n", toy->blocks,
            toy->config.budget);
    return toy->blocks - toy->config.budget;
}

static void publish(void *part, struct stats *stats, struct scope scope)
{
    const struct toy *toy = part;
    stats_counter(stats, scope, "blocks", &toy->blocks, "blocks", "Blocks summed");
    stats_counter(stats, scope, "allocations", &toy->allocations, "allocations",
                  "Allocations of the program");
    stats_histogram(stats, scope, "clocks", &toy->clocks, "clocks", "blocks",
                    "Clocks from the instruction to the sum");
}

static void energy(void *part, struct energy_ledger *ledger, struct scope scope)
{
    const struct toy *toy = part;
    energy_add(ledger, scope,
               &(struct energy_account){.name = "sum",
                                        .count = &toy->blocks,
                                        .unit = toy->config.energy_block,
                                        .kind = ENERGY_PER_EVENT,
                                        .source = "energy_block of the toy"});
}

static void untrack(void *context, uint64_t now)
{
    (void)now;
    ((struct toy *)context)->track.sink = NULL;
}

static void observe(void *part, struct track_sink *sink, const char *name)
{
    struct toy *toy = part;
    toy->track = track_group(sink, name);
    toy->untrack = (struct track_end){.end = untrack, .context = toy};
    observer_add_first(&sink->ends, &toy->untrack.link);
}

#define PART struct toy_config
static const struct part_field fields[] = {
#include "emu/sim/fields_rows.h"

#include "emu/toy/toy.def"
};

static const struct part_port ports[] = {
    {.name = "memory",
     .type = "memory",
     .direction = PART_ASKS,
     .partners = "crossbar dram",
     .explanation = "Where its blocks are read: a crossbar, or the memory."},
    {.name = NULL},
};

static const struct assembly_hooks hooks = {.allocated = allocated, .findings = findings};

const struct part_kind toy_kind = {
    .name = "toy",
    .explanation = "An adder of the tests, which sums blocks of memory.",
    .config_size = sizeof(struct toy_config),
    .fields = fields,
    .field_count = sizeof fields / sizeof *fields,
    .functional = "",
    .ports = ports,
    .hooks = &hooks,
    .make = make,
    .free = free_part,
    .connect = connect_part,
    .units = units,
    .publish = publish,
    .energy = energy,
    .observe = observe,
};
