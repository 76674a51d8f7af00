/* The results of `croft net`, and the files that it writes. */
#ifndef EMU_CMD_NET_WRITE_H
#define EMU_CMD_NET_WRITE_H

#include <inttypes.h>
#include <stdio.h>

#include "emu/net/traffic.h"
#include "emu/schema/tree.h"
#include "emu/sim/text/nearest.h"

/* Latency by injection rate, up to the first unstable rate. */
struct net_curve {
    struct traffic_result results[TRAFFIC_RATES];
    size_t count;
    double saturation; /* highest stable rate; 0: not searched */
    double accepted;   /* flits per clock and node, when 1 is offered */
};

/* Writes one line for each rate, under a line of names. */
void net_write_csv(const struct net_curve *curve, FILE *out);

/* Draws mean latency over offered rate, and the saturation. */
void net_write_svg(const struct net_curve *curve, FILE *out);

#endif
