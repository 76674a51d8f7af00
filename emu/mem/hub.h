/* The coherent level: a shared, inclusive second-level cache whose tags are the directory of the first-level
 * caches (MESI).
 *
 * One transaction at a time for each line; further requests for it wait in order of arrival. A read grants
 * SHARED, or EXCLUSIVE when nobody else has the line; an exclusive read first takes the line from all others.
 * Copies in first-level caches are changed by cache_probe(); the time that takes is the hub's to count. Clean
 * lines leave first-level caches silently, so that the directory may name more holders than there are. A
 * MEM_WRITE brings a dirty line back: with request->exclusive the sender keeps a clean copy.
 */
#ifndef EMU_MEM_HUB_H
#define EMU_MEM_HUB_H

#include "emu/mem/cache.h"

enum { HUB_CLIENTS = 128 };

struct hub_config {
    uint64_t size;
    uint32_t ways, line;
    uint32_t hit_clocks;    /* from the arrival of a request to its response when the line is here */
    uint32_t probe_clocks;  /* more, when another core's copy has to be asked for */
    uint32_t mshrs;         /* lines that can be under way to memory */
    uint32_t queue;         /* requests that it holds; more are refused */
    uint32_t write_buffer;  /* lines on their way to memory */
    uint32_t accept_clocks; /* between two requests that it accepts: 1 / bandwidth */
    enum tags_replacement replacement;
};

struct hub;

extern const struct mem_port_ops hub_ops;

void hub_config_default(struct hub_config *config); /* 1 MiB, 16 ways, 12 clocks */
bool hub_config_check(const struct hub_config *config, struct error *err);

/* Like cache_new(). */
struct hub *hub_new(const char *name, const struct hub_config *config, struct event_queue *queue,
                    const struct clock *clock, uint32_t component, uint16_t requester,
                    const struct mem_port_ops *lower_ops, void *lower);
void hub_free(struct hub *hub);

/* Makes a first-level cache, whose lower port is this hub, known as a holder of lines. */
void hub_attach(struct hub *hub, struct cache *cache);

/* For those who watch write-backs and fills between hub and memory (`cache` is NULL in the calls). */
void hub_observe(struct hub *hub, const struct cache_observer *observer);

void hub_publish(struct hub *hub, struct stats *stats, const char *prefix);

#endif
