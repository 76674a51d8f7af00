/* iSLIP, the allocator of routers (McKeown, "The iSLIP scheduling algorithm for input-queued switches", 1999): in each
 * iteration, each free output grants one of its bidders, and each input accepts one of the outputs that granted it, both
 * round robin. A round-robin pointer moves past a match of the first iteration only.
 *
 * The switch matches inputs and outputs. Virtual channels of an output are matched with the input channels that want one;
 * an input channel bids for all free channels of one output at once. A chooser can prefer some bidders to others, such as
 * the oldest packets; round robin decides among those that it leaves. */
#ifndef EMU_NET_ALLOCATOR_ISLIP_H
#define EMU_NET_ALLOCATOR_ISLIP_H

#include <stdbool.h>

#include "emu/net/bits.h"

enum {
    ISLIP_PORTS = 64,      /* most inputs and outputs of a switch */
    ISLIP_CHANNELS = 64,   /* most virtual channels of a port */
    ISLIP_NOBODY = 0xffff, /* no input channel */
};

/* Round-robin pointers of a port. accept: the output that it prefers as an input; grant: the input that it prefers as an
 * output. */
struct islip_turns {
    uint8_t accept, grant;
};

/* Bids and matches of a switch. Bits of words are ports. A word of `by_output` or `by_input` is valid if its bit in
 * `outputs` or `inputs` is set. */
struct islip_switch {
    uint64_t outputs;                     /* that are bid for */
    uint64_t by_output[ISLIP_PORTS];      /* inputs that bid */
    uint64_t inputs;                      /* that bid */
    uint64_t by_input[ISLIP_PORTS];       /* outputs that they bid for */
    uint8_t vc[ISLIP_PORTS][ISLIP_PORTS]; /* [input][output]: the channel that bids */
    uint8_t out[ISLIP_PORTS];             /* of a matched input */
};

static inline void islip_begin(struct islip_switch *sw)
{
    sw->inputs = sw->outputs = 0;
}

/* Returns whether the input bids for the output. */
static inline bool islip_bids(const struct islip_switch *sw, uint32_t input, uint32_t output)
{
    return sw->inputs & BIT(input) && sw->by_input[input] & BIT(output);
}

/* Adds the bid of an input's channel; it replaces that of another channel for the same output. */
static inline void islip_bid(struct islip_switch *sw, uint32_t input, uint32_t output, uint32_t vc)
{
    if (!(sw->inputs & BIT(input))) {
        sw->inputs |= BIT(input);
        sw->by_input[input] = 0;
    }
    if (!(sw->outputs & BIT(output))) {
        sw->outputs |= BIT(output);
        sw->by_output[output] = 0;
    }
    sw->by_input[input] |= BIT(output);
    sw->by_output[output] |= BIT(input);
    sw->vc[input][output] = (uint8_t)vc;
}

/* Returns the preferred ones, at least one, of the inputs that bid for an output, or of the outputs that granted an
 * input. */
struct islip_chooser {
    uint64_t (*inputs)(const void *context, const struct islip_switch *sw, uint32_t output, uint64_t inputs);
    uint64_t (*outputs)(const void *context, const struct islip_switch *sw, uint32_t input, uint64_t outputs);
    const void *context;
};

/* Matches inputs and outputs. turns: of all ports. chooser: NULL: round robin among all. Returns the matched inputs; out[]
 * has the output of each. */
uint64_t islip_match(struct islip_switch *sw, struct islip_turns *turns, uint32_t ports, uint32_t iterations,
                     const struct islip_chooser *chooser);

/* The input channels that want a virtual channel of an output: words[0] has a bit for each input with bidders, words[1 + i]
 * one for each of input i's channels that bids. Input channels are numbered input * vcs + vc. */
struct islip_channels {
    uint32_t vcs, total; /* of a port, and of all ports */
    uint32_t iterations;
    uint32_t output;
    uint16_t *grant;  /* [vc]: the input channel that is granted first */
    uint32_t *accept; /* [input channel]: the output channel, output * vcs + vc, that it accepts first */
    /* Returns the bidder that an output channel grants, or ISLIP_NOBODY; NULL: round robin */
    uint32_t (*choose)(const void *context, const struct islip_channels *channels, const uint64_t *words,
                       uint32_t vc);
    /* Returns the preferred ones, at least one, of the output channels that granted a bidder; round robin decides among
     * them. NULL: all are preferred */
    uint64_t (*leave)(const void *context, const struct islip_channels *channels, uint64_t granted);
    const void *context;
    /* choose() orders bidders alone: channels are given one by one, the lowest first; no pointer moves */
    bool greedy;
};

struct islip_grant {
    uint16_t input; /* channel */
    uint8_t vc;
};

/* Gives free channels of an output to bidders, which leave the words. Returns the number of grants. */
uint32_t islip_allocate(const struct islip_channels *channels, uint64_t *words, uint64_t free,
                        struct islip_grant grants[ISLIP_CHANNELS]);

/* Returns whether exactly one channel bids. */
static inline bool islip_alone(const uint64_t *words)
{
    uint64_t bidders = words[1 + __builtin_ctzll(words[0])];
    return !(words[0] & (words[0] - 1)) && !(bidders & (bidders - 1));
}

/* Does the same as islip_allocate() with round robin for a single bidder, which all channels grant, at less cost. grant
 * and accept: islip_channels.grant and .accept. */
static inline struct islip_grant islip_allocate_one(uint64_t *words, uint64_t free, uint32_t output,
                                                    uint32_t vcs, uint32_t total, uint16_t *grant,
                                                    uint32_t *accept)
{
    uint32_t i = (uint32_t)__builtin_ctzll(words[0]),
             input = i * vcs + (uint32_t)__builtin_ctzll(words[1 + i]);
    uint32_t vc = pick_bit(free, accept[input] / vcs == output ? accept[input] % vcs : 0);
    uint32_t place = output * vcs + vc + 1;
    grant[vc] = (uint16_t)(input + 1 == total ? 0 : input + 1);
    accept[input] = place == total ? 0 : place;
    words[0] = words[1 + i] = 0;
    return (struct islip_grant){(uint16_t)input, (uint8_t)vc};
}

/* Round robin: returns the first bidder at or after `from`. There is one. */
static inline uint32_t islip_bidder(const uint64_t *words, uint32_t from, uint32_t vcs)
{
    uint32_t i = from / vcs, vc = from % vcs;
    if (words[0] & BIT(i)) {
        uint64_t high = words[1 + i] >> vc << vc;
        if (high)
            return i * vcs + (uint32_t)__builtin_ctzll(high);
    }
    uint64_t above = i == 63 ? 0 : words[0] >> (i + 1) << (i + 1);
    i = (uint32_t)__builtin_ctzll(above ? above : words[0]);
    return i * vcs + (uint32_t)__builtin_ctzll(words[1 + i]);
}

#endif
