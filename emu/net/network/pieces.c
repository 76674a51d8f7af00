#include <assert.h>
#include <stdatomic.h>
#include <stdlib.h>

#include "emu/net/network/state.h"
#include "emu/sim/alloc.h"
#include "emu/sim/threads/turns.h"

static struct letter *letter(struct network *network, uint32_t piece)
{
    struct letters *to = &network->outbox[piece];
    if (to->count == to->room) {
        to->room = 2 * to->room + 64;
        to->all = alloc_resize(to->all, to->room * sizeof *to->all);
    }
    return &to->all[to->count++];
}

static void post_credit(struct network *other, uint64_t clock, uint32_t target)
{
    calendar_post_credit(&other->calendar, clock, target);
}

/* Posts a flit in its piece; `packet` is that of a head. */
static void post_flit(struct network *other, uint64_t clock, uint32_t target, struct flit flit,
                      const struct network_packet *packet)
{
    uint32_t *came = &other->came[target * other->channels.vcs + flit.vc];
    if (flit.flags & FLIT_HEAD)
        *came = packets_add(&other->packets, packet);
    flit.packet = *came;
    calendar_post_flit(&other->calendar, clock, target, flit);
}

void pieces_post_credit(struct network *network, uint32_t piece, uint64_t clock, uint32_t target)
{
    if (network->apart) {
        *letter(network, piece) = (struct letter){.clock = clock, .target = target};
        return;
    }
    network->posted |= BIT(piece);
    post_credit(network->pieces[piece], clock, target);
}

void pieces_post_flit(struct network *network, const struct port *out, uint64_t clock, struct flit flit)
{
    const uint32_t here = flit.packet;
    const struct network_packet *packet = &network->packets.items[here];
    if (network->apart) {
        struct letter *sent = letter(network, out->piece);
        *sent = (struct letter){.clock = clock, .target = out->peer, .is_flit = true, .flit = flit};
        if (flit.flags & FLIT_HEAD)
            sent->packet = *packet;
    } else {
        network->posted |= BIT(out->piece);
        post_flit(network->pieces[out->piece], clock, out->peer, flit, packet);
    }
    if (flit.flags & FLIT_TAIL)
        packets_drop(&network->packets, here);
}

void pieces_part(struct network *network, uint64_t base)
{
    assert(!network->apart && !network->posted);
    network->apart = true;
    network->base = base;
    atomic_store_explicit(&network->worked, network->next > base, memory_order_relaxed);
    network->totals = &network->sum.totals;
}

/* Takes what another piece has sent. */
static void take(struct network *network, struct letters *letters,
                 void (*wake)(struct network *piece, uint64_t clock))
{
    for (uint32_t i = 0; i < letters->count; i++) {
        const struct letter *sent = &letters->all[i];
        if (sent->is_flit)
            post_flit(network, sent->clock, sent->target, sent->flit, &sent->packet);
        else
            post_credit(network, sent->clock, sent->target);
        wake(network, sent->clock);
    }
    letters->count = 0;
}

/* Adds what a piece has counted to the totals of all, which the first one has. */
static void add_totals(struct network *network)
{
    enum { TOTALS = sizeof(struct network_totals) / sizeof(uint64_t) }; /* all that it has */
    uint64_t *to = (uint64_t *)&network->pieces[0]->sum.totals, *from = (uint64_t *)&network->sum.totals;
    network->totals = &network->pieces[0]->sum.totals;
    for (unsigned i = 0; from != to && i < TOTALS; i++) {
        to[i] += from[i];
        from[i] = 0;
    }
}

/* Counts the clocks on which some piece has worked. */
static void count_clocks(struct network *first)
{
    uint64_t worked = 0;
    for (uint32_t i = 0; i < first->piece_count; i++)
        worked |= atomic_load_explicit(&first->pieces[i]->worked, memory_order_relaxed);
    while (worked) {
        const uint64_t clock = first->base + take_bit(&worked);
        first->sum.totals.clocks += first->sum.counted <= clock;
        first->sum.counted = clock + 1;
    }
}

void pieces_join(struct network *network, void (*wake)(struct network *piece, uint64_t clock))
{
    for (uint32_t i = 0; i < network->piece_count; i++) {
        network->pieces[i]->apart = false;
        add_totals(network->pieces[i]);
    }
    count_clocks(network);
    for (uint32_t to = 0; to < network->piece_count; to++)
        for (uint32_t from = 0; from < network->piece_count; from++)
            take(network->pieces[to], &network->pieces[from]->outbox[to], wake);
}

/* pieces_next() in a window, in which others may be ahead. */
static uint64_t next_apart(const struct network *network, uint64_t now, uint64_t clock)
{
    const struct event_window *window = network->queue->window;
    const bool late = now == clock_time(network->clock, clock) && now == window->time &&
                      window->greatest > network->event.component;
    if (network->next > clock || !late)
        return network->next;
    window_turn(window); /* then others have worked on this clock, or will not */
    for (uint32_t i = 0; i < network->piece_count; i++)
        if (atomic_load_explicit(&network->pieces[i]->worked, memory_order_relaxed) >>
                (clock - network->base) &
            1)
            return clock + 1;
    return network->next;
}

uint64_t pieces_next(const struct network *network, uint64_t now, uint64_t clock)
{
    return network->apart ? next_apart(network, now, clock) : network_next(network);
}

void pieces_free(struct network *network)
{
    for (uint32_t i = 0; i < network->piece_count; i++)
        free(network->outbox[i].all);
    free(network->outbox);
    free(network->came);
}

void pieces_mark(struct network *network)
{
    const struct topology *topology = network->topology;
    for (uint32_t p = 0; p < topology->port_count; p++) {
        const struct topology_port *port = &topology->ports[p];
        const uint32_t router =
            port->wire == TOPOLOGY_NO_WIRE ? port->router : topology->ports[port->peer].router;
        network->routers.ports[p].piece = (uint8_t)network->router_pieces[router];
    }
}
