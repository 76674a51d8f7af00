#include "emu/mem/llc_slices.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "emu/mem/denovo_domain.h"
#include "emu/sim/alloc.h"
#include "emu/sim/list.h"

/* The part of a range request that goes to one slice. */
struct part {
    struct mem_link link; /* to the slice */
    struct mem_request request;
    bool unsent; /* the slice has refused the request */
};

/* A range request under way, or a free one. */
struct range {
    struct range *next; /* in the list of free or of refused ones */
    struct range *all;  /* next in the list of all */
    struct llc_slices *slices;
    struct mem_request *request; /* NULL: free */
    uint32_t left;               /* slices that have not answered */
    struct part parts[];         /* by slice */
};

struct llc_slices {
    char *name;
    struct event_queue *queue;
    uint32_t count;
    uint32_t block_shift;         /* log2 of a block's bytes */
    const struct home_map *homes; /* by partition; else NULL */
    uint32_t channels;            /* of a slice in each memory */
    struct llc_memories memories; /* reached: NULL if all memories are below */
    struct llc **slices;
    struct denovo_domain *domain; /* NULL: its directory keeps caches coherent */
    struct range *all, *free;
    struct range *refused; /* requests whose response was refused */
};

/* Ranges. */

/* Answers the client, which may reuse the request and send another one at once. */
static void finish(struct range *range, uint64_t now)
{
    struct llc_slices *slices = range->slices;
    if (mem_request_respond(range->request, now)) {
        range->request = NULL;
        range->next = slices->free;
        slices->free = range;
    } else {
        range->next = slices->refused;
        slices->refused = range;
    }
}

static bool respond(void *client, struct mem_link *link, struct mem_request *request, uint64_t now)
{
    struct range *range = client;
    (void)link;
    if (range->request->level < request->level)
        range->request->level = request->level;
    if (--range->left == 0)
        finish(range, now);
    return true;
}

static void send_part(struct part *part, uint64_t now)
{
    part->unsent = !mem_link_request(&part->link, &part->request, now);
}

static void request_room(void *client, struct mem_link *link, uint64_t now)
{
    struct part *part = CONTAINER_OF(link, struct part, link);
    (void)client;
    if (part->unsent)
        send_part(part, now);
}

static const struct mem_client_ops range_ops = {respond, request_room};

static struct range *range_new(struct llc_slices *slices)
{
    struct range *range = alloc(1, sizeof *range + slices->count * sizeof *range->parts);
    range->slices = slices;
    range->all = slices->all;
    slices->all = range;
    for (uint32_t i = 0; i < slices->count; i++)
        range->parts[i].link = (struct mem_link){
            .port_ops = &llc_ops, .port = slices->slices[i], .client_ops = &range_ops, .client = range};
    return range;
}

static void begin_range(struct llc_slices *slices, struct mem_request *request, uint64_t now)
{
    struct range *range = slices->free;
    if (range)
        slices->free = range->next;
    else
        range = range_new(slices);
    range->request = request;
    range->left = slices->count;
    for (uint32_t i = 0; i < slices->count; i++) {
        struct part *part = &range->parts[i];
        mem_request_init(&part->request, (enum mem_op)request->op, request->address, request->size);
        part->request.requester = request->requester;
        send_part(part, now);
    }
}

/* The port. */

static uint32_t slice_of(const struct llc_slices *slices, uint64_t address)
{
    if (!slices->homes)
        return (uint32_t)((address >> slices->block_shift) % slices->count);
    struct home home;
    home_resolve(slices->homes, address, &home);
    return home.controller / slices->channels;
}

/* Returns whether requests for the line come to the slice. */
static bool has_line(const void *context, uint32_t number, uint64_t line)
{
    const struct llc_slices *slices = context;
    const struct llc_memories *memories = &slices->memories;
    struct home home;
    if (slice_of(slices, line) != number)
        return false;
    if (!memories->reached)
        return true;
    home_resolve(memories->homes, line, &home);
    return memories->reached[home.module * memories->stacks + home.stack];
}

static bool request_offered(void *port, struct mem_link *link, struct mem_request *request, uint64_t now)
{
    struct llc_slices *slices = port;
    if (request->op == MEM_CLEAN || request->op == MEM_INVALIDATE || request->op == MEM_CLEAN_INVALIDATE) {
        begin_range(slices, request, now);
        return true;
    }
    return llc_ops.request(slices->slices[slice_of(slices, request->address)], link, request, now);
}

/* The refused response may be in any slice. */
static void response_room(void *port, struct mem_link *link, uint64_t now)
{
    struct llc_slices *slices = port;
    struct range *refused = slices->refused;
    slices->refused = NULL;
    for (struct range *range = refused, *next; range; range = next) {
        next = range->next;
        finish(range, now);
    }
    for (uint32_t i = 0; i < slices->count; i++)
        llc_ops.response_room(slices->slices[i], link, now);
}

static bool warm(void *port, struct mem_link *link, uint64_t address, bool exclusive)
{
    struct llc_slices *slices = port;
    return llc_ops.warm(slices->slices[slice_of(slices, address)], link, address, exclusive);
}

static void maintain(void *port, struct mem_link *link, enum mem_op op, uint64_t address, uint64_t size)
{
    struct llc_slices *slices = port;
    for (uint32_t i = 0; i < slices->count; i++)
        llc_ops.maintain(slices->slices[i], link, op, address, size);
}

static const struct mem_port_ops slices_ops = {request_offered, response_room, warm, maintain, NULL};

/* All slices. */

static void share_lines(struct llc_slices *slices)
{
    for (uint32_t i = 0; i < slices->count; i++)
        llc_set_share(slices->slices[i], &(struct llc_share){has_line, slices, i});
}

struct llc_slices *llc_slices_new(const char *name, const struct llc_config *config,
                                  struct event_queue *queue, const struct clock *clock, uint32_t component,
                                  uint16_t requester, const struct mem_port_ops *lower_ops, void *lower)
{
    struct llc_slices *slices = alloc(1, sizeof *slices);
    const size_t length = strlen(name), room = length + sizeof ".4294967295";
    char *one = alloc(room, 1);
    slices->name = alloc(length + 1, 1);
    strcpy(slices->name, name);
    slices->queue = queue;
    slices->count = config->slices;
    slices->block_shift = (uint32_t)__builtin_ctz(config->slice_bytes ? config->slice_bytes : config->line);
    slices->slices = alloc(slices->count, sizeof *slices->slices);
    for (uint32_t i = 0; i < slices->count; i++) {
        if (slices->count > 1)
            (void)snprintf(one, room, "%s.%u", name, i);
        else
            (void)snprintf(one, room, "%s", name);
        slices->slices[i] = llc_new(one, config, queue, clock, component, requester, lower_ops, lower);
        llc_set_slice(slices->slices[i], i);
    }
    free(one);
    if (slices->count > 1)
        share_lines(slices);
    if (config->coherence == LLC_DENOVO) {
        const struct denovo_domain_config domain = {.slices = slices->count,
                                                    .block_shift = slices->block_shift,
                                                    .line = config->line,
                                                    .latency = config->message_latency,
                                                    .combine = config->combine};
        slices->domain = denovo_domain_new(&domain, queue, component);
    }
    return slices;
}

struct denovo_domain *llc_slices_domain(const struct llc_slices *slices)
{
    return slices->domain;
}

void llc_slices_check_words(struct llc_slices *slices, struct word_versions *versions)
{
    denovo_domain_carry_values(slices->domain);
    for (uint32_t i = 0; i < slices->count; i++)
        llc_check_words(slices->slices[i], versions);
}

void llc_slices_place(struct llc_slices *slices, const struct mem_site_mail *mail)
{
    for (uint32_t i = 0; slices->domain && i < slices->count; i++) {
        const struct denovo_place place = denovo_place_of(mail, i);
        llc_serve(slices->slices[i], slices->domain, &place);
    }
}

void llc_slices_set_partitions(struct llc_slices *slices, const struct home_map *homes, uint32_t channels)
{
    assert(channels % slices->count == 0);
    slices->homes = homes;
    slices->channels = channels / slices->count;
    for (uint32_t i = 0; i < slices->count; i++)
        llc_set_partition(slices->slices[i]);
}

void llc_slices_set_memories(struct llc_slices *slices, const struct llc_memories *memories)
{
    slices->memories = *memories;
    share_lines(slices);
}

void llc_slices_free(struct llc_slices *slices)
{
    for (struct range *range = slices->all, *next; range; range = next) {
        next = range->all;
        for (uint32_t i = 0; range->request && i < slices->count; i++)
            event_cancel(slices->queue, &range->parts[i].request.event);
        free(range);
    }
    for (uint32_t i = 0; i < slices->count; i++)
        llc_free(slices->slices[i]);
    denovo_domain_free(slices->domain);
    free(slices->slices);
    free(slices->name);
    free(slices);
}

struct part_end llc_slices_port(struct llc_slices *slices)
{
    if (slices->count == 1)
        return (struct part_end){&llc_ops, slices->slices[0]};
    return (struct part_end){&slices_ops, slices};
}

const char *llc_slices_name(const struct llc_slices *slices)
{
    return slices->name;
}

uint32_t llc_slices_count(const struct llc_slices *slices)
{
    return slices->count;
}

struct llc *llc_slices_at(const struct llc_slices *slices, uint32_t number)
{
    assert(number < slices->count);
    return slices->slices[number];
}

void llc_slices_attach(struct llc_slices *slices, struct cache *cache)
{
    for (uint32_t i = 0; i < slices->count; i++)
        llc_attach(slices->slices[i], cache);
}

static void received(void *context, const struct mem_link *link, uint64_t line, uint64_t now)
{
    const struct llc_slices *slices = context;
    llc_received(slices->slices[slice_of(slices, line)], link, line, now);
}

void llc_slices_attach_far(struct llc_slices *slices, struct cache *cache)
{
    for (uint32_t i = 0; i < slices->count; i++)
        llc_attach_far(slices->slices[i], cache);
    cache_set_receiver(cache, received, slices);
}

void llc_slices_keep_out(struct llc_slices *slices, const struct keep_out *list)
{
    for (uint32_t i = 0; i < slices->count; i++)
        llc_keep_out(slices->slices[i], list);
}

void llc_slices_publish(struct llc_slices *slices, struct stats *stats, struct scope scope)
{
    if (slices->domain)
        denovo_domain_publish(slices->domain, stats, scope);
    for (uint32_t i = 0; i < slices->count; i++)
        llc_publish(slices->slices[i], stats, slices->count > 1 ? scope_number(&scope, i) : scope);
}

void llc_slices_energy(struct llc_slices *slices, struct energy_ledger *ledger, struct scope scope)
{
    for (uint32_t i = 0; i < slices->count; i++)
        llc_energy(slices->slices[i], ledger, slices->count > 1 ? scope_number(&scope, i) : scope);
}
