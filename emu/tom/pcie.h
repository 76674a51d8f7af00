/* The way to host memory (TOM 4.3): while the best mapping is being learned, the data are in the host's memory, and requests
 * that are on their way to a stack go there over PCI Express instead.
 *
 * A part of kind `tom_pcie` stands in front of each stack's link, and passes requests on at other times. All these parts share
 * one link to the host, whose bandwidth is per direction. A request occupies it for its header and data, reaches host memory,
 * and its response occupies the other direction. The latency is from the end of the request to the beginning of the
 * response; the host's memory has no banks here. */
#ifndef EMU_TOM_PCIE_H
#define EMU_TOM_PCIE_H

#include <stdbool.h>
#include <stdint.h>

/* The link to the host, which the parts share. */
struct tom_host {
    bool holds_data; /* reads and writes go to the host */
    uint32_t header; /* bytes of a packet beside its data */
    uint64_t latency, bandwidth;
    uint64_t free[2]; /* fs: when each direction is free: requests, responses */
    uint64_t requests, bytes[2], busy[2];
};

struct tom_pcie;

/* Connects a part with the link to the host, which must outlive it. A part without such a link passes all requests on. */
void tom_pcie_join(struct tom_pcie *pcie, struct tom_host *host);

#endif
