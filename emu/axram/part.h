/* The state of the part kind `axram`, shared by its files. */
#ifndef EMU_AXRAM_PART_H
#define EMU_AXRAM_PART_H

#include "emu/axram/axram.h"
#include "emu/hart/custom.h"
#include "emu/mem/cache.h"
#include "emu/mem/llc.h"
#include "emu/simt/warp.h"

/* The inputs that a thread has named, until its wrt_res.axram. */
struct axram_named {
    uint64_t base;
    uint32_t blocks, units; /* units 0: none */
    uint64_t launch, thread;
};

/* A multiprocessor's first-level cache, and the slices of its cluster's second level. */
struct axram_front {
    struct cache *l1;
    struct llc *const *slices;
    uint32_t slice_count;
    bool by_line;
    bool first; /* it is the first of its cluster */
};

struct axram;

/* An instruction that a timed core or warp waits for. */
struct axram_job {
    struct axram_request request;
    struct axram *axram;
    struct custom_waiter *waiter;
    uint32_t chip;
    uint64_t asked;                  /* fs: time of the instruction */
    const struct axram_front *front; /* of the multiprocessor whose stores are pushed; NULL: none */
    struct mem_push *push;           /* [0] of its first-level cache, then of the slices */
    uint32_t unpushed;
    bool waiting; /* from the instruction until its answer */
    struct event event;
    struct axram_job *next; /* in the list of free jobs */
    struct axram_job *all;  /* in the list of all jobs */
};

struct axram {
    struct axram_config config;
    struct event_queue *queue;
    uint32_t component;
    struct axram_shared shared;
    struct axram_chip *chips;
    uint32_t chip_count, harts;
    uint64_t base; /* first address of accelerator memory */
    struct stream_peers *peers;
    struct network_place {
        bool configured;
        struct axram_topology topology;
        uint64_t address;
    } * networks;              /* by chip */
    struct axram_named *named; /* by hart, then by lane of each warp */
    size_t named_count;
    struct axram_front *fronts;
    uint32_t front_count;
    bool check;
    struct axram_job *free, *all;
    uint64_t dropped, drop_clocks, findings;
    struct histogram clocks;
    struct axram_figure *figures;
    size_t figure_count;
};

/* The executor of an instruction: a hart, or a lane of a warp. */
struct axram_thread {
    struct hart *hart; /* NULL: `lane` of `warp` */
    struct warp *warp;
    unsigned lane;
};

/* Returns the chip of an address in accelerator memory. */
static inline uint32_t axram_chip_of(const struct axram *axram, uint64_t address)
{
    return (uint32_t)((address - axram->base) / AXRAM_PIECE % axram->chip_count);
}

/* instructions.c: serve the instructions, as struct custom_unit says; the context is a struct axram. */
bool axram_instruction(void *context, struct custom_call *call);
bool axram_instruction_lanes(void *context, struct custom_lanes *lanes);

/* messages.c: lets the request leave at `time` (fs), or serves it at once if the thread's core is not timed. */
void axram_enqueue(struct axram *axram, const struct axram_request *request,
                   const struct axram_thread *thread, uint64_t time, struct custom_waiter *waiter);

/* energy.c: adds the accounts of units and commands. */
void axram_energy(struct axram *axram, struct energy_ledger *ledger, struct scope scope);

#endif
