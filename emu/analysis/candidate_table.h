/* The table of candidates in a program: section .tom.candidates (Hsieh et al., section 4.2). Little-endian:
 *
 *   bytes  0..7   "TOMTABLE"
 *          8..11  version, 1
 *         12..15  number of entries, at most CANDIDATE_ENTRIES
 *   then entries of 64 bytes, by begin:
 *          0, 8   begin, end: addresses of the first instruction, and of the one that control reaches when the block ends
 *         16, 24  registers that are sent and that are returned; bits 0 to 31 integer, 32 to 63 floating-point
 *         32      coordinates that are sent: bit n is CSR sthread_x + n (32 bits)
 *         36      bit 0: saves TX, 1: saves RX, 2: has a condition, 3: needs frm and gives fflags, 4: the condition has a step
 *         37, 38  the condition's minuend and subtrahend: integer registers; 0: the value 0
 *         39      the condition's shift
 *         40      the condition's threshold: (minuend - subtrahend) >> shift >= threshold, signed, 64 bits
 *         48      least number of rounds, for information
 *         56, 57  with a step: an integer register, whose value s counts without its sign, and enum candidate_compare;
 *                 with d = minuend - subtrahend: 0: d >= threshold * s, 1: d > threshold * s, 2: |d| >= threshold * s
 *         58, 59  0
 *         60      integer registers that hold one value for all threads where the block begins, if 4.2's first access is not one
 *                 of those that all threads make at one address; x0 is one of them (32 bits) */
#ifndef EMU_ANALYSIS_CANDIDATE_TABLE_H
#define EMU_ANALYSIS_CANDIDATE_TABLE_H

#include "emu/analysis/candidates.h"
#include "emu/sim/error.h"

#define CANDIDATE_SECTION ".tom.candidates"

enum {
    CANDIDATE_ENTRIES = 40, /* Hsieh et al., section 6.6 */
    CANDIDATE_ENTRY = 64,   /* bytes */
    CANDIDATE_HEADER = 16,
};

enum candidate_compare { CANDIDATE_AT_LEAST, CANDIDATE_MORE, CANDIDATE_FAR };

enum candidate_flag {
    CANDIDATE_TX = 1,
    CANDIDATE_RX = 2,
    CANDIDATE_CONDITION = 4,
    CANDIDATE_FLOATS = 8,
    CANDIDATE_STEP = 16,
};

struct candidate_entry {
    uint64_t begin, end, in, out;
    uint32_t coordinates;
    uint8_t flags, minuend, subtrahend, shift;
    int64_t threshold;
    uint64_t rounds;
    uint8_t step, compare;
    uint32_t same;
};

/* Returns whether the condition of an entry holds with these values of its registers. */
bool candidate_holds(const struct candidate_entry *entry, uint64_t minuend, uint64_t subtrahend,
                     uint64_t step);

/* Returns the table's bytes, which the caller frees, and their number. There may be at most CANDIDATE_ENTRIES candidates. */
uint8_t *candidate_table_write(const struct candidates *candidates, size_t *size);

/* Reads a table. Stores at most CANDIDATE_ENTRIES entries, and their number. Returns false with err set if bytes
 * are missing, the table is too large, or an entry is invalid. */
bool candidate_table_read(const uint8_t *bytes, size_t size, struct candidate_entry *entries, size_t *count,
                          struct error *err);

/* Returns the entry of a candidate. */
struct candidate_entry candidate_table_entry(const struct candidate *candidate);

#endif
