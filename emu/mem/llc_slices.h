/* A last level as a whole: one slice (llc.h), or several side by side, each with lines of its own.
 *
 * Blocks of llc_config.slice_bytes take turns among the slices. A request goes to the slice of its address on
 * its client's own link, and that slice's directory knows the client. Neither the request nor its response
 * takes time on the way, so that a cache and the directory change at the same instant. A network between caches
 * and slices would break that: a probe could overtake the response that it concerns. The slices' own clocks
 * hold what the way costs.
 *
 * A range to clean or invalidate goes to all slices, each of which looks at its own lines of it, and is answered
 * when all have answered. Of several ranges each takes its own time.
 *
 * With one slice nothing stands between it and the caches. */
#ifndef EMU_MEM_LLC_SLICES_H
#define EMU_MEM_LLC_SLICES_H

#include "emu/mem/llc.h"

struct llc_slices;

/* llc_new() for each of config->slices slices, which share component and requester and are called NAME.0, NAME.1
 * ..., or NAME if there is one. Out of memory aborts; never NULL. Free with llc_slices_free(). */
struct llc_slices *llc_slices_new(const char *name, const struct llc_config *config,
                                  struct event_queue *queue, const struct clock *clock, uint32_t component,
                                  uint16_t requester, const struct mem_port_ops *lower_ops, void *lower);
void llc_slices_free(struct llc_slices *slices);

/* What caches get as their lower port. */
struct part_end llc_slices_port(struct llc_slices *slices);

const char *llc_slices_name(const struct llc_slices *slices);

/* The number of slices; one of them, number < count; the one that has an address. They belong to the whole. */
uint32_t llc_slices_count(const struct llc_slices *slices);
struct llc *llc_slices_at(const struct llc_slices *slices, uint32_t number);
struct llc *llc_slices_of(const struct llc_slices *slices, uint64_t address);

/* llc_attach() and llc_attach_client() at all slices. */
void llc_slices_attach(struct llc_slices *slices, struct cache *cache);
void llc_slices_attach_client(struct llc_slices *slices, const struct llc_client *client);

/* llc_publish() and llc_energy() of each slice, within a scope of its number if there are several. */
void llc_slices_publish(struct llc_slices *slices, struct stats *stats, struct scope scope);
void llc_slices_energy(struct llc_slices *slices, struct energy_ledger *ledger, struct scope scope);

#endif
