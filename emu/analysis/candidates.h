/* Blocks of code that are worth executing near memory (Hsieh et al., "Transparent Offloading and Mapping", ISCA 2016, section
 * 3.1): the estimated change of the bytes on the links by offloading is negative. In units of addresses, for a warp:
 *
 *   TX = REG_TX * S_W - (N_LD * Coal_LD * Miss_LD + N_ST * (S_W + Coal_ST))                      (3)
 *   RX = REG_RX * S_W - (N_LD * Coal_LD * S_C * Miss_LD + N_ST * Coal_ST / 4)                    (4)
 *
 * A block is code with one entry, from which all paths lead to one instruction behind it, which control reaches when the block
 * ends. It has no calls, returns, indirect jumps, atomics, fences, barriers, environment calls, hints and custom instructions, reads no
 * CSRs but a thread's coordinates, and accesses no memory through a register into which the address of the scratchpad may
 * have flowed (pointers that were loaded are trusted, or not: struct candidate_model).
 *
 * What RV64 has and PTX has not:
 *   - N_LD and N_ST are of loads and stores that every execution of the block executes, times the static trip counts of
 *     the loops around them in the block. Those relative to sp (spills, and the thread's own arrays) are not counted.
 *   - REG_TX are the integer and floating-point registers that the block reads before it writes them, of 64 bits each (sp,
 *     gp and tp included), and the coordinates that it reads. REG_RX are those that it writes and that are live where it
 *     ends (at a return, what callers use; all that can hold a result, if they are not known); those that it writes on some
 *     paths only are sent, too. frm and fflags travel with the packet and are not counted.
 *   - With `held` (ours), a register that has the same value in all lanes of a warp is one value in place of S_W, and one that is affine
 *     over them two, a value and a step (lanes.h).
 *   - Address arithmetic and extensions move no bytes. They matter only by the registers that they need.
 *
 * A block may lack the first instructions of its first basic block, and the last ones of its last, which only leads to its end, if
 * it saves more so, and at least what packets take besides registers; but not in a loop that is a block.
 *
 * If a block begins with a loop whose trip count is known from registers when the block begins, the block may be a
 * candidate only from a number of rounds on: it has a condition. A loop whose count is not known counts as one round
 * (section 3.1.3). */
#ifndef EMU_ANALYSIS_CANDIDATES_H
#define EMU_ANALYSIS_CANDIDATES_H

#include "emu/analysis/flow/cfg.h"
#include "emu/analysis/lanes.h"
#include "emu/analysis/trips.h"

struct candidate_model {
    double lanes;       /* S_W */
    double line_ratio;  /* S_C: bytes of a line over those of an address */
    double coalesced;   /* Coal_LD and Coal_ST */
    double load_misses; /* Miss_LD */
    bool kernels; /* the graph's entries are kernels, so that all callers are known: liveness_of_kernels() */
    bool held;    /* registers count as what a packet sends that has what they hold: one value, two, or S_W */
    bool why;     /* find `refusals`, too */
    bool known_only; /* no accesses through pointers that were loaded: they may point into the scratchpad */
    /* Sets both for the load or store at pc in place of the values above, or returns false; NULL: not called. */
    bool (*measured)(const void *context, uint64_t pc, double *coalesced, double *load_misses);
    const void *context;
};

/* Equations 3 and 4. */
double candidate_tx(const struct candidate_model *model, double registers, double loads, double stores);
double candidate_rx(const struct candidate_model *model, double registers, double loads, double stores);

enum { CANDIDATE_POWERS = 8 };

enum candidate_tag { CANDIDATE_SAVES_TX = 1, CANDIDATE_SAVES_RX = 2 };

struct candidate {
    /* Addresses of the first instruction, and of the one that control reaches when the block ends. */
    uint64_t begin, end;
    uint64_t function; /* entry of the function */
    uint64_t in, out;  /* registers, numbered as in isa/decoder/flow.h */
    uint64_t behind;   /* registers that are read behind its first basic block, by the block or behind it */
    uint32_t coordinates; /* bit n: CSR sthread_x + n is read */
    unsigned reg_tx, reg_rx;
    unsigned sent_as[LANES_KINDS],
        returned_as[LANES_KINDS]; /* of these, how many are of each enum lanes_kind */
    double tx_values, rx_values;  /* what they count as: REG_TX * S_W and REG_RX * S_W, or less with `held` */
    uint32_t same;                /* integer registers that hold one value for all threads where it begins */
    /* Most registers that are live at a time, for what the block does and returns; and in its function (TOM 6.4). */
    unsigned live, function_live;
    unsigned insns;
    double loads, stores;       /* N_LD, N_ST; of a block with a condition, with `threshold` rounds */
    double load_lines;          /* N_LD * Coal_LD * Miss_LD, as summed over the loads */
    double store_lines;         /* N_ST * Coal_ST */
    double loaded_lines;        /* N_LD * Coal_LD */
    unsigned stack, extensions; /* instructions: accesses relative to sp, sign and zero extensions */
    double tx, rx;              /* equations 3 and 4 with these */
    unsigned tag;               /* set of enum candidate_tag */
    bool floats;                /* frm and fflags matter */
    struct trip trip;           /* of the loop at its beginning; TRIP_UNKNOWN: unknown, or no loop */
    uint64_t threshold;         /* fewest rounds with which it saves bytes; 0: no condition */
    /* What it saves while its function is executed once, for comparison with blocks that overlap: the sum of saved[k] * n^k. See
     * candidate_saved(). */
    double saved[CANDIDATE_POWERS];
};

/* Return the mean lines of the block's loads and stores, and the mean part of the loads' lines that miss, as far as both are
 * known: 0 without such accesses. */
double candidate_lines(const struct candidate *candidate);
double candidate_misses(const struct candidate *candidate);

/* Returns what offloading all executions of the block saves while its function is executed once, where loops have `rounds`
 * rounds if their trip count is known from registers (but one beyond CANDIDATE_POWERS - 1 nested ones), their count if it is
 * static, and one if it is unknown; and where all instructions in them are executed in each round. For blocks of one function,
 * these are the same executions; `tx` and `rx` are of one execution of the block each, with its own number of rounds. */
static inline double candidate_saved(const struct candidate *candidate, double rounds)
{
    double sum = 0;
    for (unsigned k = CANDIDATE_POWERS; k-- > 0;)
        sum = sum * rounds + candidate->saved[k];
    return sum;
}

/* A loop without a candidate that has its first and its last instruction, or a function without one that has any of its
 * instructions. */
struct candidate_refusal {
    uint64_t function, begin; /* entry of the function, first instruction of the loop or function */
    uint64_t last;            /* address of a loop's last instruction */
    bool loop;
    uint64_t where; /* the instruction that is the reason; 0: none is */
    char text[176]; /* "it calls a function" */
};

struct candidates {
    struct candidate *list; /* by `begin`; no two share instructions */
    size_t count;
    size_t left_out;                    /* of those found, how many were left out because of the limit */
    struct candidate_refusal *refusals; /* with `why`; by function, the function first, then its loops */
    size_t refused;
};

/* Finds the candidates of all functions of a graph made with candidate_options. Of blocks that overlap, a larger one is
 * taken if it saves more than all those that it replaces, by candidate_saved() with the greatest threshold among them; of
 * more than `most`, those that save most with their own thresholds. Release it with
 * candidates_free(). */
struct candidates candidates_of(const struct cfg *cfg, const struct candidate_model *model, size_t most);
void candidates_free(struct candidates *candidates);

/* The options with which the graph has to be built: instructions that no block may contain are blocks of their own. So code
 * before a return can be a block that ends with it. */
extern const struct cfg_options candidate_options;

#endif
