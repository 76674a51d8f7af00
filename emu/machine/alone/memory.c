#include "emu/machine/alone/memory.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "emu/dram/map.h"
#include "emu/machine/alone/root.h"
#include "emu/machine/describe/sources.h"
#include "emu/sim/alloc.h"
#include "emu/sim/text/nearest.h"
#include "emu/sim/text/quantity.h"
#include "emu/sim/text/text.h"

static const struct part_field root_fields[] = {ALONE_ROOT_FIELD("One line about the memory.")};

static const struct part_role root_roles[] = {
    {.name = "dram", .kind = &dram_kind, .presence = PART_ALWAYS, .explanation = "The memory."},
    {.name = NULL},
};

static const struct part_kind root_kind = {
    .name = "memory",
    .explanation = "A memory that is driven alone.",
    .config_size = sizeof(struct alone_root),
    .fields = root_fields,
    .field_count = sizeof root_fields / sizeof *root_fields,
    .roles = root_roles,
};

static const struct part_kind *const kinds[] = {NULL};

/* Writes the description of a standard to text[size], of which the name of a file is none. False with err set if it is
 * neither. */
static bool read_standard(const char *name, char *text, size_t size, struct error *err)
{
    const char *end = strrchr(name, '.');
    *text = '\0';
    if (strchr(name, '/') || (end && strcmp(end, ".yaml") == 0))
        return true;
    for (unsigned i = 0; i < DRAM_STANDARDS; i++)
        if (strcmp(dram_standard_names[i], name) == 0)
            return snprintf(text, size, "dram: {standard: %s}\n", name) > 0;
    return error_set(err, "unknown memory %s%s; or a path, which contains a '/' or ends in .yaml",
                     text_quote(name).text, nearest_allowed(name, dram_standard_names, DRAM_STANDARDS).text);
}

struct tree *alone_memory_tree(const struct alone_source *source, struct error *err)
{
    char standard[64];
    struct tree_options options = {.root = &root_kind,
                                   .kinds = kinds,
                                   .machine = source->name,
                                   .text = source->text,
                                   .sets = source->sets,
                                   .set_count = source->set_count,
                                   .reader = "croft dram FILE.yaml TRACE",
                                   .timed = alone_is_timed};
    if (!source->text && !read_standard(source->name, standard, sizeof standard, err))
        return NULL;
    if (!source->text && *standard)
        options.text = standard;
    return tree_load(&options, err);
}

enum { SLOTS = 64 }; /* made at a time */

struct chunk {
    struct chunk *next;
    struct alone_slot slots[SLOTS];
};

struct alone_memory {
    struct alone_intake intake; /* the first member */
    struct alone_client client;
    struct event_queue queue;
    struct dram_memory dram;
    struct home_map *homes;
    struct chunk *chunks;
    uint64_t most[DRAM_DIRECTIONS]; /* bursts of a request */
    struct sources source;
    struct energy_sources sources;
    struct energy_ledger ledger;
    struct stats *stats;
};

static bool respond(void *owner, struct mem_link *link, struct mem_request *request, uint64_t now)
{
    struct alone_memory *memory = owner;
    struct alone_slot *slot = (struct alone_slot *)((char *)request - offsetof(struct alone_slot, request));
    const uint64_t tag = slot->tag;
    (void)link;
    slot->next = memory->intake.free;
    memory->intake.free = slot;
    memory->intake.outstanding--;
    memory->client.answer(memory->client.context, tag, now);
    return true;
}

static void request_room(void *owner, struct mem_link *link, uint64_t now)
{
    struct alone_memory *memory = owner;
    (void)link;
    if (memory->client.room)
        memory->client.room(memory->client.context, now);
}

static const struct mem_client_ops client_ops = {respond, request_room};

struct alone_slot *alone_memory_slots(struct alone_intake *intake)
{
    struct alone_memory *memory = (struct alone_memory *)intake;
    struct chunk *chunk = alloc(1, sizeof *chunk);
    chunk->next = memory->chunks;
    memory->chunks = chunk;
    for (unsigned i = SLOTS; i-- > 0; intake->free = &chunk->slots[i]) {
        chunk->slots[i].next = intake->free;
        mem_request_init(&chunk->slots[i].request, MEM_READ, 0, 1);
    }
    return intake->free;
}

static void publish(struct alone_memory *memory)
{
    const struct scope root = scope_root();
    energy_init(&memory->ledger);
    memory->ledger.sources = &memory->sources;
    memory->ledger.part = "dram";
    memory->stats = stats_new();
    dram_memory_publish(&memory->dram, memory->stats, scope_enter(&root, "dram"));
    dram_memory_energy(&memory->dram, &memory->ledger, scope_enter(&root, "dram"));
    energy_publish(&memory->ledger, memory->stats);
    struct error doubts[ENERGY_DOUBTS]; /* before the first command: only energies that nobody has told */
    if (energy_doubts(&memory->ledger, doubts))
        stats_fact_text(memory->stats, "warning", doubts[0].text);
}

const struct energy_ledger *alone_memory_energies(const struct alone_memory *memory)
{
    return &memory->ledger;
}

struct alone_memory *alone_memory_new(const struct tree *tree, const struct alone_client *client)
{
    struct alone_memory *memory = alloc(1, sizeof *memory);
    const struct instance *instance = tree_find(tree, "dram");
    const struct dram_config *config = instance->config;
    memory->client = *client;
    memory->source = (struct sources){tree, instance};
    memory->sources = (struct energy_sources){sources_of_field, &memory->source};
    memory->intake.burst = config->burst_bytes;
    memory->intake.bytes = dram_config_bytes(config);
    memory->most[DRAM_READS] = config->read_queue;
    memory->most[DRAM_WRITES] = config->write_queue;
    for (enum dram_direction direction = 0; direction < DRAM_DIRECTIONS; direction++)
        memory->intake.span[direction] = memory->most[direction] * memory->intake.burst;
    event_queue_init(&memory->queue);
    memory->homes = dram_map_homes(config, 0);
    memory->intake.homes = memory->homes;
    memory->intake.queue = &memory->queue;
    dram_memory_init(&memory->dram, config, &memory->queue, 1, memory->homes);
    memory->intake.links = alloc((size_t)config->channels * DRAM_DIRECTIONS, sizeof *memory->intake.links);
    for (size_t i = 0; i < (size_t)config->channels * DRAM_DIRECTIONS; i++)
        memory->intake.links[i] = (struct mem_link){
            .port_ops = &dram_memory_ops, .port = &memory->dram, .client_ops = &client_ops, .client = memory};
    publish(memory);
    return memory;
}

void alone_memory_free(struct alone_memory *memory)
{
    if (!memory)
        return;
    stats_free(memory->stats);
    energy_free(&memory->ledger);
    dram_memory_free(&memory->dram);
    home_map_free(memory->homes);
    for (struct chunk *chunk = memory->chunks, *next; chunk; chunk = next) {
        next = chunk->next;
        free(chunk);
    }
    free(memory->intake.links);
    free(memory);
}

void alone_memory_misfit(const struct alone_memory *memory, bool write, uint64_t address, uint64_t size,
                         struct error *err)
{
    char text[QUANTITY_TEXT];
    if (size == 0) {
        (void)error_set(err, "a request of 0 bytes; it has at least 1");
    } else if (address >= memory->intake.bytes || size > memory->intake.bytes - address) {
        quantity_format(QUANTITY_SIZE, memory->intake.bytes, text);
        (void)error_set(err, "%" PRIu64 " bytes at 0x%" PRIx64 " are not all in the memory, which has %s",
                        size, address, text);
    } else {
        (void)error_set(err,
                        "a request of %" PRIu64 " bytes has more bursts of %" PRIu64
                        " bytes than a queue has entries: %" PRIu64 " (dram.%s_queue)",
                        size, memory->intake.burst, memory->most[write ? DRAM_WRITES : DRAM_READS],
                        write ? "write" : "read");
    }
}

struct alone_intake *alone_memory_intake(struct alone_memory *memory)
{
    return &memory->intake;
}

struct event_queue *alone_memory_queue(struct alone_memory *memory)
{
    return &memory->queue;
}

struct dram_memory *alone_memory_dram(struct alone_memory *memory)
{
    return &memory->dram;
}

struct stats *alone_memory_stats(struct alone_memory *memory)
{
    return memory->stats;
}

uint64_t alone_memory_outstanding(const struct alone_memory *memory)
{
    return memory->intake.outstanding;
}
