/* The state of the part kind `axram`, shared by its files. */
#ifndef EMU_AXRAM_PART_H
#define EMU_AXRAM_PART_H

#include "emu/axram/axram.h"
#include "emu/hart/custom.h"
#include "emu/mem/cache.h"
#include "emu/mem/llc.h"
#include "emu/simt/multiprocessor.h"
#include "emu/simt/warp.h"

/* The inputs that a thread has named, until its wrt_res.axram. */
struct axram_named {
    uint64_t base;
    struct axram_span named; /* the region, as the thread has it */
    uint32_t blocks, units;  /* units 0: none */
    uint64_t launch, thread;
};

/* A multiprocessor, its first-level cache, and the slices of its cluster's second level. */
struct axram_front {
    struct simt *simt;
    struct cache *l1;
    struct llc *const *slices;
    uint32_t slice_count;
    bool by_line;
    bool first; /* it is the first of its cluster */
    struct simt_cluster *cluster;
    uint32_t input; /* of the cluster's crossbar; UINT32_MAX: there is none */
    bool heads;     /* it is the first of that input; the others follow it */
};

/* A message to the multiprocessors of an input: that a line is old. */
struct axram_signal {
    struct mem_request request;
    struct mem_link link;
    const struct axram_front *front;
    struct axram_job *job;
    struct axram_signal *next; /* in the list of free signals */
    struct axram_signal *all;
};

struct axram;

/* An instruction that a timed core or warp waits for. */
struct axram_job {
    struct axram_request request;
    struct axram *axram;
    struct custom_waiter *waiter;
    uint32_t number; /* among all jobs */
    uint32_t chip;
    uint32_t unmapped;               /* pages that its controller's TLB does not have yet */
    uint64_t asked;                  /* fs: time of the instruction */
    const struct axram_front *front; /* of the multiprocessor whose stores are pushed; NULL: none */
    struct mem_push *push; /* [0] of its memory pipeline, then its first-level cache; then of the slices */
    uint32_t unpushed;
    uint32_t unheard;                    /* signals under way, and 1 while lines are left */
    uint64_t first_line, line, line_end; /* of the results: first line, next line to be dropped, end */
    /* By line, then multiprocessor: its cache has a copy that is older; with --check coherence. */
    bool *copies;
    void (*dropped)(struct axram_job *job, uint64_t now);
    uint64_t written; /* fs: time of the results */
    bool waiting;     /* from the instruction until its answer */
    struct event event;
    struct axram_job *next; /* in the list of free jobs */
    struct axram_job *all;  /* in the list of all jobs */
};

struct axram {
    struct axram_config config;
    struct event_queue *queue;
    uint32_t component;
    struct axram_shared shared;
    struct dram_memory *const
        *memories; /* by number; chip c is channel c % channels of memory c / channels */
    uint32_t memory_count;
    struct axram_team *teams; /* of config.together chips each */
    struct simt_tlb **tlbs;   /* of the chips' controllers; NULL: addresses are physical */
    uint32_t chip_count, harts;
    uint64_t base; /* first address of accelerator memory */
    struct stream_peers *peers;
    struct network_place {
        bool configured;
        struct axram_topology topology;
        uint64_t address;
    } * networks;              /* by chip */
    struct axram_named *named; /* by lane of each warp */
    size_t named_count;
    struct axram_named *pending; /* of harts' threads, oldest first */
    size_t pending_count;
    struct axram_front *fronts;
    uint32_t front_count;
    bool check;
    struct axram_job *free, *all;
    uint32_t job_count, most_jobs; /* most_jobs: a warp or hart has at most one */
    struct axram_signal *free_signals, *all_signals;
    uint64_t dropped, drop_clocks, signals;
    uint64_t old, unpushed; /* found by --check coherence: copies, and lines that are read before stores */
    struct histogram clocks;
    struct axram_figure *figures;
    size_t figure_count;
};

/* The page that a thread's address was translated by. */
struct axram_page {
    uint64_t number; /* UINT64_MAX: none */
    uint64_t physical;
};

/* The executor of an instruction: a hart, or a lane of a warp. */
struct axram_thread {
    struct hart *hart; /* NULL: `lane` of `warp` */
    struct warp *warp;
    unsigned lane;
    /* Of the warp's threads that have executed the same instruction; NULL: not kept. */
    struct axram_page *last;
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

/* translation.c: makes and frees the controllers' TLBs; adds their statistics and accounts of energy. */
void axram_make_tlbs(struct axram *axram, struct simt_mmu *mmu);
void axram_free_tlbs(struct axram *axram);
void axram_publish_tlbs(const struct axram *axram, struct stats *stats, const struct scope *scope);
void axram_tlb_energy(const struct axram *axram, struct energy_ledger *ledger, const struct scope *scope);

/* translation.c: returns the chip to whose controller a region goes, by its virtual address (section 7). */
uint32_t axram_home_of(const struct axram *axram, uint64_t address);

/* translation.c: lets the controller at which a job arrives translate its regions; then the chip gets the request. */
void axram_translate(struct axram_job *job, uint64_t now);

/* coherence.c: what --check coherence looks for. axram_check_pushed() takes a job that has come to its controller: whether memory lacks a
 * store of its multiprocessor to the blocks that the chip reads. axram_note_copies() and axram_report_copies(): whether caches
 * keep copies of its results that are older. axram_findings() prints the numbers of findings that are not 0, and returns their sum. */
void axram_check_pushed(struct axram *axram, const struct axram_job *job);
void axram_note_copies(struct axram_job *job);
void axram_report_copies(struct axram_job *job);
uint64_t axram_findings(const void *part);
/* Returns the bytes of the caches' lines, and the note about a line of the results and a multiprocessor's cache. */
uint32_t axram_line_bytes(const struct axram *axram);
bool *axram_copy_of(const struct axram_job *job, uint64_t line, uint32_t front);

/* invalidation.c: makes the caches drop the lines of a job's results, which were written now; then calls done(). */
void axram_invalidate(struct axram_job *job, void (*done)(struct axram_job *job, uint64_t now), uint64_t now);

/* energy.c: adds the accounts of units and commands. */
void axram_energy(struct axram *axram, struct energy_ledger *ledger, struct scope scope);

#endif
