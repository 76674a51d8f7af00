/* Clocks in which at least one flit waits for an output: the head of a packet for a virtual channel of its link, a flit for a
 * credit, or for a link that is still busy with the flit before. Times are ticks of the router's pipeline, which may wrap
 * around. */
#ifndef EMU_NET_CONGESTION_STALLS_H
#define EMU_NET_CONGESTION_STALLS_H

#include <stdint.h>

struct stalls {
    uint32_t heads; /* that wait for a channel or a credit now */
    /* no tick from this one on is counted yet; while heads wait, all of them will be */
    uint32_t next;
    uint64_t ticks;        /* counted */
    uint32_t from, latest; /* the tick from which the latest heads wait, and how many began to wait at it */
};

/* Notes that a head waits from a tick on. */
static inline void stalls_begin(struct stalls *stalls, uint32_t tick)
{
    int32_t ahead = (int32_t)(tick - stalls->next);
    if (stalls->heads++ == 0 && ahead > 0)
        stalls->next = tick;
    stalls->latest = tick == stalls->from ? stalls->latest + 1 : 1;
    stalls->from = tick;
}

/* Counts the ticks before this one. */
static inline void stalls_count(struct stalls *stalls, uint32_t tick)
{
    if (stalls->heads == 0 || (int32_t)(tick - stalls->next) <= 0)
        return;
    stalls->ticks += tick - stalls->next;
    stalls->next = tick;
}

/* Notes that a head stops waiting at a tick. Heads that are left may have a later tick from which they wait. */
static inline void stalls_end(struct stalls *stalls, uint32_t tick)
{
    stalls_count(stalls, tick);
    stalls->heads--;
    if (stalls->heads == stalls->latest && (int32_t)(stalls->from - stalls->next) > 0)
        stalls->next = stalls->from;
}

/* Counts the ticks before this one. Call it at least once in 2^31 ticks, so that comparisons of ticks, which wrap
 * around, stay right. */
static inline void stalls_settle(struct stalls *stalls, uint32_t tick)
{
    stalls_count(stalls, tick);
    if (stalls->heads == 0)
        stalls->next = tick;
}

/* Counts this tick, because a flit waits in it. A tick counts once. */
static inline void stalls_note(struct stalls *stalls, uint32_t tick)
{
    stalls_count(stalls, tick);
    if ((int32_t)(tick - stalls->next) < 0)
        return;
    stalls->ticks++;
    stalls->next = tick + 1;
}

#endif
