#include "emu/mem/denovo_domain.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>

#include "emu/sim/alloc.h"

/* A message that no network carries, or a registration that waits to be combined. */
struct parcel {
    struct parcel *next, *all; /* in its list; of all that were made */
    struct denovo_member *end; /* the receiver; while it waits, the sender */
    uint64_t ready;            /* a registration that waits: when the unit has sent it */
    struct event event;
    struct denovo_message message;
};

struct denovo_member {
    struct denovo_domain *domain;
    struct denovo_place place;
    denovo_receiver *receive;
    void *receiver;
    struct parcel *refused, **refused_end; /* requests, oldest first */
    struct parcel *combining;              /* registrations, one for each line and map, newest first */
};

struct denovo_domain {
    struct denovo_domain_config config;
    struct event_queue *queue;
    uint32_t component;
    bool values; /* messages carry them */
    struct denovo_member *registries, **units;
    uint32_t unit_count;
    struct parcel *free, *all;
    uint64_t kinds[DENOVO_KIND_COUNT], bytes, combined;
};

static void member_init(struct denovo_member *member, struct denovo_domain *domain)
{
    *member = (struct denovo_member){.domain = domain};
    member->refused_end = &member->refused;
}

struct denovo_domain *denovo_domain_new(const struct denovo_domain_config *config, struct event_queue *queue,
                                        uint32_t component)
{
    struct denovo_domain *domain = alloc(1, sizeof *domain);
    _Static_assert(sizeof(struct denovo_message) <= MAIL_BYTES, "a carrier takes any message");
    *domain = (struct denovo_domain){.config = *config, .queue = queue, .component = component};
    domain->registries = alloc(config->slices, sizeof *domain->registries);
    for (uint32_t i = 0; i < config->slices; i++)
        member_init(&domain->registries[i], domain);
    return domain;
}

void denovo_domain_free(struct denovo_domain *domain)
{
    if (!domain)
        return;
    for (struct parcel *parcel = domain->all, *next; parcel; parcel = next) {
        next = parcel->all;
        event_cancel(domain->queue, &parcel->event);
        free(parcel);
    }
    for (uint32_t i = 0; i < domain->unit_count; i++)
        free(domain->units[i]);
    free(domain->units);
    free(domain->registries);
    free(domain);
}

const struct denovo_domain_config *denovo_domain_configuration(const struct denovo_domain *domain)
{
    return &domain->config;
}

struct denovo_place denovo_place_of(const struct mem_site_mail *mail, uint32_t end)
{
    if (!mail->ops)
        return (struct denovo_place){NULL, NULL, 0};
    assert(end < mail->count);
    return (struct denovo_place){mail->ops, mail->carrier, mail->nodes[end]};
}

void denovo_domain_carry_values(struct denovo_domain *domain)
{
    domain->values = true;
}

static bool deliver(void *receiver, const void *message, uint64_t now)
{
    struct denovo_member *to = receiver;
    return to->receive(to->receiver, message, now);
}

static void drop(struct denovo_domain *domain, struct parcel *parcel)
{
    parcel->next = domain->free;
    domain->free = parcel;
}

/* Delivers a message behind those that its receiver has refused. */
static void arrive(void *owner, uint64_t now)
{
    struct parcel *parcel = owner;
    struct denovo_member *to = parcel->end;
    const bool waits = to->refused && denovo_class(&parcel->message) == MAIL_REQUEST;
    if (!waits && deliver(to, &parcel->message, now)) {
        drop(to->domain, parcel);
        return;
    }
    parcel->next = NULL;
    *to->refused_end = parcel;
    to->refused_end = &parcel->next;
}

/* Makes a parcel whose event is scheduled. */
static struct parcel *take(struct denovo_domain *domain, const struct denovo_message *message,
                           void (*handle)(void *owner, uint64_t now), uint64_t time)
{
    struct parcel *parcel = domain->free;
    if (parcel) {
        domain->free = parcel->next;
    } else {
        parcel = alloc(1, sizeof *parcel);
        parcel->all = domain->all;
        domain->all = parcel;
    }
    parcel->message = *message;
    event_init(&parcel->event, domain->component, handle, parcel);
    event_schedule(domain->queue, &parcel->event, time);
    return parcel;
}

static void send_directly(struct denovo_domain *domain, struct denovo_member *to,
                          const struct denovo_message *message, uint64_t now)
{
    take(domain, message, arrive, now + domain->config.latency)->end = to;
}

static struct denovo_member *receiver_of(const struct denovo_domain *domain,
                                         const struct denovo_message *message)
{
    if (message->to != DENOVO_REGISTRY) {
        assert(message->to < domain->unit_count);
        return domain->units[message->to];
    }
    return &domain->registries[(message->line >> domain->config.block_shift) % domain->config.slices];
}

static void post(const struct denovo_member *from, const struct denovo_message *message, uint64_t now)
{
    struct denovo_domain *domain = from->domain;
    struct denovo_member *to = receiver_of(domain, message);
    const struct mail mail = {.from = from->place.node,
                              .to = to->place.node,
                              .class = (uint8_t)denovo_class(message),
                              .purpose = (uint8_t)denovo_purpose(message),
                              .bytes = denovo_bytes(message),
                              .deliver = deliver,
                              .receiver = to};
    domain->kinds[message->kind]++;
    domain->bytes += mail.bytes;
    if (from->place.ops && from->place.carrier == to->place.carrier && mail.from != mail.to)
        from->place.ops->send(from->place.carrier, &mail, message,
                              domain->values ? sizeof *message : offsetof(struct denovo_message, value), now);
    else
        send_directly(domain, to, message, now);
}

/* A registration has waited long enough. */
static void leave(void *owner, uint64_t now)
{
    struct parcel *parcel = owner, **link = &parcel->end->combining;
    while (*link != parcel)
        link = &(*link)->next;
    *link = parcel->next;
    post(parcel->end, &parcel->message, now);
    drop(parcel->end->domain, parcel);
}

/* Adds a registration to one of the line that waits, or makes it wait. */
static void combine(struct denovo_member *from, const struct denovo_message *message, uint64_t now)
{
    struct denovo_domain *domain = from->domain;
    struct parcel *parcel = from->combining;
    while (parcel && (parcel->message.line != message->line || parcel->message.map != message->map))
        parcel = parcel->next;
    if (!parcel) {
        parcel = take(domain, message, leave, now + domain->config.combine);
        parcel->end = from;
        parcel->next = from->combining;
        from->combining = parcel;
    } else {
        parcel->message.mask |= message->mask;
        domain->combined++;
    }
    parcel->ready = now;
}

static void flush(void *context, uint64_t line)
{
    const struct denovo_member *from = context;
    struct event_queue *queue = from->domain->queue;
    for (struct parcel *parcel = from->combining, *next; parcel; parcel = next) {
        next = parcel->next;
        if (line != DENOVO_ANY && parcel->message.line != line)
            continue;
        event_cancel(queue, &parcel->event);
        leave(parcel, parcel->ready > queue->now ? parcel->ready : queue->now);
    }
}

static void send(void *context, const struct denovo_message *message, uint64_t now)
{
    struct denovo_member *from = context;
    if (from->domain->config.combine && message->kind == DENOVO_MSG_REGISTER && !message->with_data)
        combine(from, message, now);
    else
        post(from, message, now);
}

struct denovo_post denovo_domain_join(struct denovo_domain *domain, const struct denovo_place *place,
                                      denovo_receiver *receive, void *receiver, uint16_t *number)
{
    struct denovo_member *unit = alloc(1, sizeof *unit);
    assert(domain->unit_count < DENOVO_CLIENT);
    member_init(unit, domain);
    unit->place = *place;
    unit->receive = receive;
    unit->receiver = receiver;
    domain->units = alloc_resize(domain->units, (domain->unit_count + 1) * sizeof(struct denovo_member *));
    *number = (uint16_t)domain->unit_count;
    domain->units[domain->unit_count++] = unit;
    return (struct denovo_post){send, unit, flush};
}

struct denovo_post denovo_domain_serve(struct denovo_domain *domain, uint32_t slice,
                                       const struct denovo_place *place, denovo_receiver *receive,
                                       void *receiver)
{
    struct denovo_member *registry = &domain->registries[slice];
    registry->place = *place;
    registry->receive = receive;
    registry->receiver = receiver;
    if (place->ops)
        place->ops->sort(place->carrier);
    return (struct denovo_post){send, registry, NULL};
}

void denovo_domain_retry(struct denovo_domain *domain, uint32_t slice, uint64_t now)
{
    struct denovo_member *to = &domain->registries[slice];
    while (to->refused && deliver(to, &to->refused->message, now)) {
        struct parcel *parcel = to->refused;
        to->refused = parcel->next;
        if (!to->refused)
            to->refused_end = &to->refused;
        drop(domain, parcel);
    }
    if (to->place.ops)
        to->place.ops->retry(to->place.carrier, to->place.node, now);
}

void denovo_domain_publish(struct denovo_domain *domain, struct stats *stats, struct scope scope)
{
    enum { NAME = 32 };
    const struct scope messages = scope_enter(&scope, "messages");
    for (unsigned i = 0; i < DENOVO_KIND_COUNT; i++)
        stats_counter(stats, messages, denovo_kind_names[i], &domain->kinds[i], "messages",
                      "Messages of this kind (emu/mem/denovo.h)");
    stats_counter(stats, messages, "bytes", &domain->bytes, "B", "Bytes of all messages, with their headers");
    if (domain->config.combine)
        stats_counter(stats, messages, "combined", &domain->combined, "messages",
                      "Registrations that became part of another message (l2.combine)");
}
