/* Several last levels side by side below coherent caches: slices, each with lines of its own.
 *
 * A request goes to the slice of its address on its client's own link. Neither the request nor its response
 * takes time here, so that a cache and the directory change at the same instant. A network between caches and
 * slices would break that: a probe could overtake the response that it concerns. The slices' own clocks hold
 * what the way costs.
 *
 * A range to clean or invalidate goes to all slices and is answered when all have answered. One range is
 * served at a time; others are refused until then. */
#ifndef EMU_MEM_LLC_SLICES_H
#define EMU_MEM_LLC_SLICES_H

#include "emu/mem/llc.h"

/* The slice of an address, below the number of slices: one for each block of llc_config.slice_bytes. */
typedef uint32_t llc_slice_of(const void *context, uint64_t address);

struct llc_slices;

/* What caches above get as lower port, with the slices as instance. */
extern const struct mem_port_ops llc_slices_ops;

/* Copies the list of slices, which are equal in line and protocol. They and context must outlive the
 * result. Out of memory aborts; never NULL. Free with llc_slices_free(), which leaves the slices alone. */
struct llc_slices *llc_slices_new(struct llc *const *slices, uint32_t count, llc_slice_of *slice_of,
                                  const void *context);
void llc_slices_free(struct llc_slices *slices);

/* Makes a cache, whose lower port this is, known to all slices: llc_attach(). */
void llc_slices_attach(struct llc_slices *slices, struct cache *cache);

#endif
