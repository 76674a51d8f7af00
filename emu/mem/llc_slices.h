/* The whole last level: one slice (llc.h), or several with different lines.
 *
 * Blocks of llc_config.slice_bytes are distributed round-robin over the slices. By partition, each slice has
 * instead the lines of adjacent channels of each memory. A request goes to the slice of its address on its
 * client's own link, so that slice's directory knows the client. Requests and responses take no time between
 * caches and slices, so that a cache and the directory change at the same instant. With a network between
 * them, a probe could overtake the response that it concerns. The clocks of the slices include the latency of
 * the path.
 *
 * A range to clean or invalidate goes to all slices; each checks its own lines. It is answered when all
 * slices have answered. Several ranges proceed independently.
 *
 * A single slice is connected directly to the caches. */
#ifndef EMU_MEM_LLC_SLICES_H
#define EMU_MEM_LLC_SLICES_H

#include "emu/mem/llc.h"
#include "emu/mem/site.h"

struct llc_slices;

/* Calls llc_new() for each of config->slices slices, which share component and requester. They are named
 * NAME.0, NAME.1 ..., or NAME if there is only one. Never NULL; aborts if the host has no memory. Free with
 * llc_slices_free(). */
struct llc_slices *llc_slices_new(const char *name, const struct llc_config *config,
                                  struct event_queue *queue, const struct clock *clock, uint32_t component,
                                  uint16_t requester, const struct mem_port_ops *lower_ops, void *lower);
void llc_slices_free(struct llc_slices *slices);

/* The domain of units and registries (LLC_DENOVO), which the slices make; NULL: caches attach to the directory. The slices stand
 * where mail says, each an end of the part. Call llc_slices_place() once, before units join. */
struct denovo_domain *llc_slices_domain(const struct llc_slices *slices);
void llc_slices_place(struct llc_slices *slices, const struct mem_site_mail *mail);
/* Does llc_check_words() for all slices, and makes messages carry versions. */
void llc_slices_check_words(struct llc_slices *slices, struct word_versions *versions);

/* Distributes lines by partition: the controller number of a line's home (home.h) selects the slice. Each
 * memory has `channels` channels, a multiple of the number of slices. */
void llc_slices_set_partitions(struct llc_slices *slices, const struct home_map *homes, uint32_t channels);

/* The memories below a last level. */
struct llc_memories {
    const struct home_map *homes;
    uint32_t stacks;     /* of a module */
    const bool *reached; /* by module * stacks + stack: the memory is below */
};

/* Names the memories below, if other memories have some of the lines. The slices then prefetch no lines of
 * these. What the struct refers to must outlive the slices. */
void llc_slices_set_memories(struct llc_slices *slices, const struct llc_memories *memories);

/* Returns the lower port for the caches. */
struct part_end llc_slices_port(struct llc_slices *slices);

const char *llc_slices_name(const struct llc_slices *slices);

/* Return the number of slices, and slice `number`, below that count. The slices belong to `slices`. */
uint32_t llc_slices_count(const struct llc_slices *slices);
struct llc *llc_slices_at(const struct llc_slices *slices, uint32_t number);

/* Does llc_attach() for all slices. */
void llc_slices_attach(struct llc_slices *slices, struct cache *cache);

/* Adds a cache whose requests come through a network (LLC_BY_NODE); see llc_attach_far(). The cache then tells when lines have
 * arrived. */
void llc_slices_attach_far(struct llc_slices *slices, struct cache *cache);

/* Does llc_keep_out() for all slices. */
void llc_slices_keep_out(struct llc_slices *slices, const struct keep_out *list);

/* Do llc_publish() and llc_energy() for each slice, in a scope of its number if there are several. */
void llc_slices_publish(struct llc_slices *slices, struct stats *stats, struct scope scope);
void llc_slices_energy(struct llc_slices *slices, struct energy_ledger *ledger, struct scope scope);

#endif
