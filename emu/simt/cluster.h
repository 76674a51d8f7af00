/* Multiprocessors as a part of a machine: with their first-level caches, and the crossbar and the slices of the second level
 * that they share. Without a second level, the crossbar joins the first-level caches to what is below, or each is joined by
 * itself. */
#ifndef EMU_SIMT_CLUSTER_H
#define EMU_SIMT_CLUSTER_H

#include "emu/mem/site.h"
#include "emu/sim/part.h"
#include "emu/simt/simt.h"
#include "emu/simt/timed_grid.h"

/* What multiprocessors are made with, beside struct part_site: part_site.place points to it. What it names outlives them. */
struct simt_site {
    const struct mem_site *memory;
    struct simt_grid *grid;
    uint32_t first; /* number of their first among all multiprocessors of the machine */
};

struct simt_cluster;

/* What the multiprocessor with that number in the cluster has counted. */
const struct simt_counters *simt_cluster_counted(const struct simt_cluster *cluster, uint32_t multiprocessor);

/* For simt_kind: the functions of struct part_kind. Slots of the port to memory are the slices or, without a second level,
 * one for the crossbar, or else the multiprocessors. */
void *simt_cluster_make(const void *config, const struct part_site *site, struct error *err);
void simt_cluster_free(void *part);
void simt_cluster_connect(void *part, unsigned port, unsigned slot, const struct part_end *server);
void simt_cluster_publish(void *part, struct stats *stats, struct scope scope);
void simt_cluster_energy(void *part, struct energy_ledger *ledger, struct scope scope);
void simt_cluster_observe(void *part, struct track_sink *sink, const char *name);

#endif
