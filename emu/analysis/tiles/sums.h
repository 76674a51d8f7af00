/* Values of registers as sums of products: constants times atoms, which are what the code does not compute further. All sums of
 * a function live in one pool, and equal ones have the same number. Arithmetic is that of whole numbers: code is taken to
 * compute without overflow, so the extensions that compilers insert are no operations. */
#ifndef EMU_ANALYSIS_TILES_SUMS_H
#define EMU_ANALYSIS_TILES_SUMS_H

#include <stdbool.h>
#include <stdint.h>

enum { SUM_TERMS = 20, SUM_ATOMS = 3, SUM_UNKNOWN = -1 };

#define SUM_MOST (INT64_C(1) << 56) /* of a factor, and of a constant */

enum atom_kind {
    ATOM_ENTRY,    /* register `number` where the function begins */
    ATOM_CSR,      /* CSR `number` */
    ATOM_ROUND,    /* how often the body of loop `number` has been executed before */
    ATOM_QUOTIENT, /* operands[0] / divisor, rounded down; divisor 0: / operands[1] */
    ATOM_WORD,     /* what memory holds at operands[0], which is the same in all threads and rounds */
    ATOM_LOADED,   /* what instruction `number` loads from operands[0] */
    ATOM_RESULT,   /* another result of instruction `number` */
    ATOM_HEADER,   /* place `place` where node `number`, the header of a loop, begins */
    ATOM_JOIN,     /* place `place` where node `number` begins */
};

struct atom {
    enum atom_kind kind;
    int number, place;
    int64_t divisor;
    int operands[3]; /* sums; SUM_UNKNOWN: none */
};

/* factor * atoms[0] * ... ; without atoms: the constant. */
struct sum_term {
    int64_t factor;
    unsigned count;
    int atoms[SUM_ATOMS]; /* ascending */
};

/* The terms ascend by their atoms; no factor is 0. */
struct sum {
    unsigned count;
    struct sum_term terms[SUM_TERMS];
};

struct sums;

/* Release it with sums_free(), which accepts NULL. */
struct sums *sums_new(void);
void sums_free(struct sums *sums);

/* Return the number of an atom, which is a new one if it has none; and the atom, the sum of a number. What they point to is valid until
 * the next call that makes one. */
int sums_atom(struct sums *sums, const struct atom *atom);
const struct atom *sums_atom_at(const struct sums *sums, int atom);
const struct sum *sums_at(const struct sums *sums, int sum);

/* Return the number of a sum: SUM_UNKNOWN if an operand is, and if the result has too many terms, or a factor beyond SUM_MOST. */
int sum_constant(struct sums *sums, int64_t value);
int sum_of_atom(struct sums *sums, const struct atom *atom);
int sum_add(struct sums *sums, int a, int b, int64_t factor); /* a + factor * b */
int sum_multiply(struct sums *sums, int a, int b);
int sum_quotient(struct sums *sums, int a, int64_t divisor); /* rounded down; divisor > 0 */
int sum_quotient_by(struct sums *sums, int a, int divisor);  /* the same for any sum */
int sum_of_term(struct sums *sums, const struct sum_term *term);
/* The sum divided by `divisor`, SUM_UNKNOWN if a factor is no multiple. */
int sum_exact(struct sums *sums, int a, int64_t divisor);

/* Returns whether the sum is a constant, and stores it. */
bool sum_is_constant(const struct sums *sums, int sum, int64_t *value);

/* Returns the constant term. */
int64_t sum_offset(const struct sums *sums, int sum);

#endif
