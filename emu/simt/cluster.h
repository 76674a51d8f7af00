/* Multiprocessors as a part of a machine, with their first-level caches and, shared by them, a crossbar and
 * the slices of the second-level cache. Without a second level, the crossbar connects the first-level caches
 * to memory; without a crossbar too, each first-level cache is connected by itself. */
#ifndef EMU_SIMT_CLUSTER_H
#define EMU_SIMT_CLUSTER_H

#include "emu/mem/site.h"
#include "emu/sim/part.h"
#include "emu/simt/grid/timed_grid.h"
#include "emu/simt/multiprocessor.h"

/* The parameters of multiprocessors in addition to struct part_site; part_site.place points to it. Everything
 * that it points to must outlive the multiprocessors. */
struct simt_site {
    const struct mem_site *memory;
    struct simt_grid *grid;
    uint32_t first;          /* number of the cluster's first multiprocessor among all of the machine */
    const struct hart *hart; /* whose page tables translate the threads' addresses; NULL: they are physical */
};

enum simt_role { SIMT_L1, SIMT_CROSSBAR, SIMT_L2, SIMT_TLB, SIMT_WALK_CACHE }; /* the roles of simt_kind */

struct llc;
struct simt_mmu;
struct simt_cluster;

/* Returns the counters of a multiprocessor, by its number in the cluster. */
const struct simt_counters *simt_cluster_counted(const struct simt_cluster *cluster, uint32_t multiprocessor);

/* What a mechanism beside a multiprocessor, such as tom, uses of it. */
struct simt_beside {
    struct simt_cluster *cluster;
    uint32_t in_cluster; /* its number in the cluster */
    struct simt *simt;
    struct cache *l1;
    struct clock clock;
    uint16_t number; /* requester number */
    /* bytes of an aligned block that has one way from l1 to memory, so that a cache operation reaches it;
     * 0: any */
    uint32_t block;
};
struct simt_beside simt_cluster_beside(struct simt_cluster *cluster, uint32_t multiprocessor);
uint32_t simt_cluster_count(const struct simt_cluster *cluster);

/* Of several clusters: simt_clusters_count() returns how many multiprocessors they have; simt_clusters_beside() finds one by its number
 * among these. */
uint32_t simt_clusters_count(void *const *clusters, uint32_t count);
struct simt_beside simt_clusters_beside(void *const *clusters, uint32_t number);

const struct simt_config *simt_cluster_config(const struct simt_cluster *cluster);
/* simt_cluster_slices() returns the number of slices of the second level, and stores them. simt_cluster_by_line() returns
 * whether lines take turns among the slices by their addresses. */
uint32_t simt_cluster_slices(const struct simt_cluster *cluster, struct llc *const **slices);
bool simt_cluster_by_line(const struct simt_cluster *cluster);

/* Return the crossbar's input of a multiprocessor, UINT32_MAX without a crossbar; and send a message about an address to it, from
 * the slice of the address (crossbar_signal()). */
uint32_t simt_cluster_input(const struct simt_cluster *cluster, uint32_t multiprocessor);
void simt_cluster_signal(struct simt_cluster *cluster, uint32_t input, struct mem_request *request,
                         uint64_t now);

/* Returns the multiprocessors' translation. NULL: addresses are physical. */
struct simt_mmu *simt_cluster_mmu(const struct simt_cluster *cluster);

/* Call simt_mmu_forget(), which forgets all translations, or simt_mmu_refresh(), which empties the walk cache. They do nothing
 * without translation. */
void simt_cluster_forget(struct simt_cluster *cluster);
void simt_cluster_refresh(struct simt_cluster *cluster);

/* The functions of struct part_kind for simt_kind. Slots of the memory port are the slices; without a second
 * level, the crossbar's single output; without a crossbar too, the multiprocessors. */
void *simt_cluster_make(const void *config, const struct part_site *site, struct error *err);
void simt_cluster_free(void *part);
void simt_cluster_connect(void *part, unsigned port, unsigned slot, const struct part_end *server);
void simt_cluster_publish(void *part, struct stats *stats, struct scope scope);
void simt_cluster_energy(void *part, struct energy_ledger *ledger, struct scope scope);
void simt_cluster_observe(void *part, struct track_sink *sink, const char *name);

#endif
