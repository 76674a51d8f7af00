#include "emu/stash/port.h"

#include <stddef.h>
#include <stdlib.h>

#include "emu/sim/alloc.h"
#include "emu/sim/list.h"

enum kind { PORT_READ, PORT_ENROLL, PORT_WRITE };

struct message {
    struct mem_request request;
    struct stash_port *port;
    struct message *next; /* in the list of free ones, or of refused ones */
    uint64_t line, mask, fill;
    uint64_t brought; /* words that the answer has; those in `fill` may still be installed */
    uint8_t kind, map;
    bool used, poisoned;
};

struct stash_port {
    struct stash_port_parts parts;
    struct mem_link link;
    struct message *messages;
    uint32_t reads, writes; /* messages of the two groups, reads first */
    struct message *unsent, **unsent_end;
    bool refused; /* the stash waits for room */
    struct stash_port_counters counters;
};

static struct message *find_free(struct stash_port *port, uint32_t first, uint32_t count)
{
    for (uint32_t i = first; i < first + count; i++)
        if (!port->messages[i].used)
            return &port->messages[i];
    port->refused = true;
    return NULL;
}

/* Returns the words of a line that messages of a kind are about. */
static uint64_t words_of(const struct stash_port *port, enum kind kind, uint64_t line)
{
    uint64_t words = 0;
    for (uint32_t i = 0; i < port->reads + port->writes; i++) {
        const struct message *message = &port->messages[i];
        if (message->used && message->kind == kind && message->line == line)
            words |= message->mask;
    }
    return words;
}

static void send(void *owner, uint64_t now)
{
    struct message *message = owner;
    struct stash_port *port = message->port;
    if (!port->unsent && mem_link_request(&port->link, &message->request, now))
        return;
    message->next = NULL;
    *port->unsent_end = message;
    port->unsent_end = &message->next;
}

static void send_later(struct stash_port *port, struct message *message, enum mem_op op, uint64_t words,
                       uint64_t now)
{
    const unsigned first = (unsigned)__builtin_ctzll(words), last = 63 - (unsigned)__builtin_clzll(words);
    mem_request_init(&message->request, op, message->line + STASH_WORD * (uint64_t)first,
                     STASH_WORD * (last - first + 1));
    mem_request_pack(&message->request, words >> first);
    message->request.requester = port->parts.requester;
    message->used = true;
    event_init(&message->request.event, port->parts.component, send, message);
    event_schedule(port->parts.queue, &message->request.event, now);
}

static bool port_read(void *below, uint64_t line, unsigned map, uint64_t need, uint64_t fill, uint64_t now)
{
    struct stash_port *port = below;
    for (uint32_t i = 0; i < port->reads; i++) {
        struct message *message = &port->messages[i];
        if (message->used && !message->poisoned && message->line == line && message->map == map &&
            (need & ~message->brought) == 0)
            return true; /* that read brings them */
    }
    struct message *message = find_free(port, 0, port->reads);
    if (!message)
        return false;
    message->kind = PORT_READ;
    message->map = (uint8_t)map;
    message->line = line;
    message->mask = need;
    message->fill = fill;
    message->brought = fill | need;
    message->poisoned = false;
    send_later(port, message, MEM_READ, fill | need, now);
    port->counters.reads++;
    port->counters.words_read += (unsigned)__builtin_popcountll(fill | need);
    return true;
}

static bool post(struct stash_port *port, enum kind kind, uint64_t line, unsigned map, uint64_t mask,
                 uint64_t now)
{
    if (words_of(port, PORT_WRITE, line) & mask) { /* at most one message of a word is under way */
        port->refused = true;
        return false;
    }
    struct message *message = find_free(port, port->reads, port->writes);
    if (!message)
        return false;
    message->kind = (uint8_t)kind;
    message->map = (uint8_t)map;
    message->line = line;
    message->mask = mask;
    if (kind == PORT_WRITE)
        send_later(port, message, MEM_WRITE, mask, now);
    else
        send_later(port, message, MEM_READ, mask & -mask, now);
    return true;
}

static bool port_enroll(void *below, uint64_t line, unsigned map, uint64_t mask, uint64_t now)
{
    struct stash_port *port = below;
    if (!post(port, PORT_ENROLL, line, map, mask, now))
        return false;
    for (uint32_t i = 0; i < port->reads; i++) /* what is stored is not installed any more */
        if (port->messages[i].used && port->messages[i].line == line)
            port->messages[i].fill &= ~mask;
    port->counters.registrations++;
    return true;
}

static bool port_write_back(void *below, uint64_t line, unsigned map, uint64_t mask, uint64_t now)
{
    struct stash_port *port = below;
    if (!post(port, PORT_WRITE, line, map, mask, now))
        return false;
    port->counters.write_backs++;
    port->counters.words_written += (unsigned)__builtin_popcountll(mask);
    return true;
}

static uint64_t port_pending(void *below, uint64_t line)
{
    return words_of(below, PORT_ENROLL, line);
}

static void port_acquire(void *below, uint64_t now)
{
    struct stash_port *port = below;
    (void)now;
    for (uint32_t i = 0; i < port->reads; i++)
        port->messages[i].poisoned = true;
}

static bool port_settled(const void *below)
{
    const struct stash_port *port = below;
    for (uint32_t i = port->reads; i < port->reads + port->writes; i++)
        if (port->messages[i].used && port->messages[i].kind == PORT_ENROLL)
            return false;
    return true;
}

const struct stash_below_ops stash_port_ops = {.read = port_read,
                                               .enroll = port_enroll,
                                               .remap = port_enroll,
                                               .write_back = port_write_back,
                                               .pending = port_pending,
                                               .acquire = port_acquire,
                                               .settled = port_settled};

static bool respond(void *client, struct mem_link *link, struct mem_request *request, uint64_t now)
{
    struct stash_port *port = client;
    struct message *message = CONTAINER_OF(request, struct message, request);
    struct stash *stash = port->parts.stash;
    (void)link;
    message->used = false;
    if (message->kind == PORT_READ) {
        if (!message->poisoned)
            stash_install(stash, message->line, message->map, message->fill, now);
        stash_arrived(stash, message->line, message->map, message->brought, now);
    } else if (message->kind == PORT_WRITE) {
        stash_written(stash, message->line, message->map, message->mask, now);
    } else {
        stash_acknowledged(stash, message->line, message->map, message->mask, now);
    }
    if (port->refused) {
        port->refused = false;
        stash_room(stash, now);
    }
    return true;
}

static void request_room(void *client, struct mem_link *link, uint64_t now)
{
    struct stash_port *port = client;
    (void)link;
    while (port->unsent && mem_link_request(&port->link, &port->unsent->request, now))
        port->unsent = port->unsent->next;
    if (!port->unsent)
        port->unsent_end = &port->unsent;
}

struct stash_port *stash_port_new(const struct stash_config *config, const struct stash_port_parts *parts)
{
    static const struct mem_client_ops client_ops = {respond, request_room};
    struct stash_port *port = alloc(1, sizeof *port);
    port->parts = *parts;
    port->link = (struct mem_link){.client_ops = &client_ops, .client = port};
    port->reads = config->reads;
    port->writes = config->writes;
    port->messages = alloc((size_t)port->reads + port->writes, sizeof *port->messages);
    for (uint32_t i = 0; i < port->reads + port->writes; i++)
        port->messages[i].port = port;
    port->unsent_end = &port->unsent;
    return port;
}

void stash_port_start(struct stash_port *port)
{
    port->link.port_ops = port->parts.link->port_ops;
    port->link.port = port->parts.link->port;
    port->link.homes = port->parts.link->homes;
}

void stash_port_free(struct stash_port *port)
{
    if (!port)
        return;
    for (uint32_t i = 0; i < port->reads + port->writes; i++)
        event_cancel(port->parts.queue, &port->messages[i].request.event);
    free(port->messages);
    free(port);
}

const struct stash_port_counters *stash_port_counted(const struct stash_port *port)
{
    return &port->counters;
}
