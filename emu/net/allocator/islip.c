#include "emu/net/allocator/islip.h"

/* The outputs in `open` grant inputs that are not matched yet. Returns the granted inputs. */
static uint64_t grant(const struct islip_switch *sw, const struct islip_turns *turns, uint64_t open,
                      uint64_t matched, const struct islip_chooser *chooser, uint64_t grants[ISLIP_PORTS])
{
    uint64_t granted = 0;
    while (open) {
        uint32_t out = take_bit(&open);
        uint64_t bidders = sw->by_output[out] & ~matched;
        if (!bidders)
            continue;
        if (chooser && bidders & (bidders - 1))
            bidders = chooser->inputs(chooser->context, sw, out, bidders);
        uint32_t i = pick_bit(bidders, turns[out].grant);
        grants[i] = (granted & BIT(i) ? grants[i] : 0) | BIT(out);
        granted |= BIT(i);
    }
    return granted;
}

uint64_t islip_match(struct islip_switch *sw, struct islip_turns *turns, uint32_t ports, uint32_t iterations,
                     const struct islip_chooser *chooser)
{
    uint64_t matched = 0, open = sw->outputs, grants[ISLIP_PORTS];
    uint32_t last = ports - 1;
    for (uint32_t round = 0; round < iterations && open; round++) {
        uint64_t granted = grant(sw, turns, open, matched, chooser, grants);
        if (!granted)
            break;
        matched |= granted;
        while (granted) {
            uint32_t i = take_bit(&granted);
            uint64_t outputs = grants[i];
            if (chooser && outputs & (outputs - 1))
                outputs = chooser->outputs(chooser->context, sw, i, outputs);
            uint32_t out = pick_bit(outputs, turns[i].accept);
            sw->out[i] = (uint8_t)out;
            open &= ~BIT(out);
            if (round == 0) {
                turns[out].grant = (uint8_t)(i == last ? 0 : i + 1);
                turns[i].accept = (uint8_t)(out == last ? 0 : out + 1);
            }
        }
    }
    return matched;
}

/* The channel that an input channel accepts among those that granted it. */
static inline uint32_t accepted(const struct islip_channels *channels, uint32_t input, uint64_t granted)
{
    uint32_t accept = channels->accept[input], vcs = channels->vcs;
    if (channels->leave && granted & (granted - 1))
        granted = channels->leave(channels->context, channels, granted);
    return pick_bit(granted, accept / vcs == channels->output ? accept % vcs : 0);
}

static inline void take(const struct islip_channels *channels, uint64_t *words, uint32_t input, uint32_t vc,
                        bool first, struct islip_grant *grant)
{
    uint32_t vcs = channels->vcs, i = input / vcs, place = channels->output * vcs + vc + 1;
    if (first && !channels->greedy) {
        channels->grant[vc] = (uint16_t)(input + 1 == channels->total ? 0 : input + 1);
        channels->accept[input] = place == channels->total ? 0 : place;
    }
    words[1 + i] &= ~BIT(input % vcs);
    if (!words[1 + i])
        words[0] &= ~BIT(i);
    *grant = (struct islip_grant){(uint16_t)input, (uint8_t)vc};
}

/* One iteration. Returns the channels that were given. */
static uint64_t match_channels(const struct islip_channels *channels, uint64_t *words, uint64_t free,
                               bool first, struct islip_grant *grants, uint32_t *count)
{
    uint16_t bidder[ISLIP_CHANNELS]; /* by output channel */
    uint64_t granting = 0, given = 0;
    while (free) {
        uint32_t vc = take_bit(&free);
        uint32_t input = channels->choose ? channels->choose(channels->context, channels, words, vc)
                                          : islip_bidder(words, channels->grant[vc], channels->vcs);
        if (input == ISLIP_NOBODY)
            continue;
        bidder[vc] = (uint16_t)input;
        granting |= BIT(vc);
        if (channels->greedy) /* every channel would grant the same packet */
            break;
    }
    while (granting) {
        uint32_t vc = (uint32_t)__builtin_ctzll(granting), input = bidder[vc];
        uint64_t same = 0;
        for (uint64_t left = granting; left;) {
            uint32_t other = take_bit(&left);
            same |= bidder[other] == input ? BIT(other) : 0;
        }
        granting &= ~same;
        vc = accepted(channels, input, same);
        take(channels, words, input, vc, first, &grants[(*count)++]);
        given |= BIT(vc);
    }
    return given;
}

uint32_t islip_allocate(const struct islip_channels *channels, uint64_t *words, uint64_t free,
                        struct islip_grant grants[ISLIP_CHANNELS])
{
    uint32_t rounds = channels->greedy ? ISLIP_CHANNELS : channels->iterations, count = 0;
    for (uint32_t i = 0; i < rounds && words[0] && free; i++) {
        uint64_t given = match_channels(channels, words, free, i == 0, grants, &count);
        if (!given)
            break;
        free &= ~given;
    }
    return count;
}
