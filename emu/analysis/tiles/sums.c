#include "emu/analysis/tiles/sums.h"

#include <stdlib.h>
#include <string.h>

#include "emu/sim/alloc.h"
#include "emu/sim/mix.h"

struct sums {
    struct atom *atoms;
    struct sum *list;
    int *index; /* by hash: number of the sum + 1; 0: none */
    int atom_count, atom_room, count, room;
};

struct sums *sums_new(void)
{
    return alloc(1, sizeof(struct sums));
}

void sums_free(struct sums *sums)
{
    if (!sums)
        return;
    free(sums->atoms);
    free(sums->list);
    free(sums->index);
    free(sums);
}

/* Atoms that an instruction or a node makes are made once, so they are not looked for. */
static bool is_unique(enum atom_kind kind)
{
    return kind == ATOM_RESULT || kind == ATOM_HEADER || kind == ATOM_JOIN;
}

static bool same_atom(const struct atom *a, const struct atom *b)
{
    return a->kind == b->kind && a->number == b->number && a->place == b->place && a->divisor == b->divisor &&
           memcmp(a->operands, b->operands, sizeof a->operands) == 0;
}

int sums_atom(struct sums *s, const struct atom *atom)
{
    for (int i = 0; i < s->atom_count && !is_unique(atom->kind); i++)
        if (same_atom(&s->atoms[i], atom))
            return i;
    if (s->atom_count == s->atom_room) {
        s->atom_room = s->atom_room ? 2 * s->atom_room : 64;
        s->atoms = alloc_resize(s->atoms, (size_t)s->atom_room * sizeof *s->atoms);
    }
    s->atoms[s->atom_count] = *atom;
    return s->atom_count++;
}

const struct atom *sums_atom_at(const struct sums *s, int atom)
{
    return &s->atoms[atom];
}

const struct sum *sums_at(const struct sums *s, int sum)
{
    return &s->list[sum];
}

static int compare_terms(const struct sum_term *a, const struct sum_term *b)
{
    for (unsigned i = 0; i < a->count && i < b->count; i++)
        if (a->atoms[i] != b->atoms[i])
            return a->atoms[i] < b->atoms[i] ? -1 : 1;
    return a->count == b->count ? 0 : a->count < b->count ? -1 : 1;
}

static bool same_sum(const struct sum *a, const struct sum *b)
{
    bool same = a->count == b->count;
    for (unsigned i = 0; i < a->count && same; i++)
        same = a->terms[i].factor == b->terms[i].factor && compare_terms(&a->terms[i], &b->terms[i]) == 0;
    return same;
}

static size_t slot_of(const struct sums *s, const struct sum *sum)
{
    const size_t mask = 4 * (size_t)s->room - 1;
    uint64_t hash = sum->count;
    for (unsigned i = 0; i < sum->count; i++) {
        hash = (hash ^ (uint64_t)sum->terms[i].factor) * MIX_FACTOR;
        for (unsigned j = 0; j < sum->terms[i].count; j++)
            hash = ((hash >> 29) ^ hash ^ (uint64_t)sum->terms[i].atoms[j]) * MIX_FACTOR;
    }
    size_t at = (size_t)(hash >> 20) & mask;
    while (s->index[at] && !same_sum(&s->list[s->index[at] - 1], sum))
        at = (at + 1) & mask;
    return at;
}

static int intern(struct sums *s, const struct sum *sum)
{
    if (s->count == s->room) {
        s->room = s->room ? 2 * s->room : 64;
        s->list = alloc_resize(s->list, (size_t)s->room * sizeof *s->list);
        free(s->index);
        s->index = alloc(4 * (size_t)s->room, sizeof *s->index);
        for (int i = 0; i < s->count; i++)
            s->index[slot_of(s, &s->list[i])] = i + 1;
    }
    const size_t at = slot_of(s, sum);
    if (!s->index[at]) {
        s->list[s->count] = *sum;
        s->index[at] = ++s->count;
    }
    return s->index[at] - 1;
}

static bool is_small(int64_t factor)
{
    return factor >= -SUM_MOST && factor <= SUM_MOST;
}

/* Adds a term to a sum under construction. Returns false if there is no room, or if a factor is too large. */
static bool put(struct sum *sum, const struct sum_term *term, int64_t times)
{
    unsigned at = 0;
    int64_t factor;
    if (__builtin_mul_overflow(term->factor, times, &factor) || !is_small(factor))
        return false;
    while (at < sum->count && compare_terms(&sum->terms[at], term) < 0)
        at++;
    if (at < sum->count && compare_terms(&sum->terms[at], term) == 0) {
        sum->terms[at].factor += factor;
        if (!is_small(sum->terms[at].factor))
            return false;
        if (sum->terms[at].factor == 0)
            memmove(&sum->terms[at], &sum->terms[at + 1], (--sum->count - at) * sizeof *sum->terms);
        return true;
    }
    if (factor == 0)
        return true;
    if (sum->count == SUM_TERMS)
        return false;
    memmove(&sum->terms[at + 1], &sum->terms[at], (sum->count++ - at) * sizeof *sum->terms);
    sum->terms[at] = *term;
    sum->terms[at].factor = factor;
    return true;
}

int sum_of_term(struct sums *s, const struct sum_term *term)
{
    struct sum sum = {0};
    return put(&sum, term, 1) ? intern(s, &sum) : SUM_UNKNOWN;
}

int sum_constant(struct sums *s, int64_t value)
{
    return sum_of_term(s, &(struct sum_term){.factor = value});
}

int sum_of_atom(struct sums *s, const struct atom *atom)
{
    return sum_of_term(s, &(struct sum_term){.factor = 1, .count = 1, .atoms = {sums_atom(s, atom)}});
}

int sum_add(struct sums *s, int a, int b, int64_t factor)
{
    if (a == SUM_UNKNOWN || b == SUM_UNKNOWN)
        return SUM_UNKNOWN;
    struct sum sum = s->list[a];
    for (unsigned i = 0; i < s->list[b].count; i++)
        if (!put(&sum, &s->list[b].terms[i], factor))
            return SUM_UNKNOWN;
    return intern(s, &sum);
}

/* Multiplies two terms without their factors. Returns false if there are too many atoms. */
static bool join(const struct sum_term *a, const struct sum_term *b, struct sum_term *product)
{
    if (a->count + b->count > SUM_ATOMS)
        return false;
    *product = (struct sum_term){.factor = 1, .count = a->count + b->count};
    for (unsigned i = 0, j = 0; i + j < product->count;) {
        const bool first = j == b->count || (i < a->count && a->atoms[i] <= b->atoms[j]);
        product->atoms[i + j] = first ? a->atoms[i] : b->atoms[j];
        i += first;
        j += !first;
    }
    return true;
}

int sum_multiply(struct sums *s, int a, int b)
{
    if (a == SUM_UNKNOWN || b == SUM_UNKNOWN)
        return SUM_UNKNOWN;
    const struct sum *x = &s->list[a], *y = &s->list[b];
    struct sum sum = {0};
    for (unsigned i = 0; i < x->count; i++)
        for (unsigned j = 0; j < y->count; j++) {
            struct sum_term product;
            if (!join(&x->terms[i], &y->terms[j], &product))
                return SUM_UNKNOWN;
            product.factor = x->terms[i].factor;
            if (!put(&sum, &product, y->terms[j].factor))
                return SUM_UNKNOWN;
        }
    return intern(s, &sum);
}

bool sum_is_constant(const struct sums *s, int sum, int64_t *value)
{
    if (sum == SUM_UNKNOWN || s->list[sum].count > 1 ||
        (s->list[sum].count == 1 && s->list[sum].terms[0].count))
        return false;
    *value = sum_offset(s, sum);
    return true;
}

int64_t sum_offset(const struct sums *s, int sum)
{
    const struct sum *at = &s->list[sum];
    return at->count && at->terms[0].count == 0 ? at->terms[0].factor : 0;
}

int sum_exact(struct sums *s, int a, int64_t divisor)
{
    if (a == SUM_UNKNOWN || divisor == 0)
        return SUM_UNKNOWN;
    struct sum sum = s->list[a];
    for (unsigned i = 0; i < sum.count; i++) {
        if (sum.terms[i].factor % divisor != 0)
            return SUM_UNKNOWN;
        sum.terms[i].factor /= divisor;
    }
    return intern(s, &sum);
}

/* Stores what is certainly a multiple in `whole`, divided, and the rest in `rest`. */
static void divide(const struct sum *sum, int64_t divisor, struct sum *whole, struct sum *rest)
{
    for (unsigned i = 0; i < sum->count; i++) {
        struct sum_term term = sum->terms[i];
        int64_t left = term.factor % divisor;
        left += left < 0 && term.count == 0 ? divisor : 0;
        if (left && term.count) {
            (void)put(rest, &term, 1);
            continue;
        }
        const struct sum_term constant = {.factor = left};
        (void)put(rest, &constant, 1);
        term.factor = (term.factor - left) / divisor;
        (void)put(whole, &term, 1);
    }
}

/* (x / a) / b is x / (a * b). */
static bool is_quotient(const struct sums *s, const struct sum *sum, struct atom *atom)
{
    if (sum->count != 1 || sum->terms[0].count != 1 || sum->terms[0].factor != 1)
        return false;
    *atom = s->atoms[sum->terms[0].atoms[0]];
    return atom->kind == ATOM_QUOTIENT;
}

int sum_quotient(struct sums *s, int a, int64_t divisor)
{
    if (a == SUM_UNKNOWN || divisor <= 0)
        return SUM_UNKNOWN;
    const struct sum sum = s->list[a];
    struct sum whole = {0}, rest = {0};
    struct atom atom;
    divide(&sum, divisor, &whole, &rest);
    if (rest.count == 0 || (rest.count == 1 && rest.terms[0].count == 0))
        return intern(s, &whole);
    if (is_quotient(s, &rest, &atom)) {
        if (__builtin_mul_overflow(atom.divisor, divisor, &atom.divisor))
            return SUM_UNKNOWN;
        return sum_add(s, intern(s, &whole), sum_of_atom(s, &atom), 1);
    }
    atom = (struct atom){
        .kind = ATOM_QUOTIENT, .divisor = divisor, .operands = {intern(s, &rest), SUM_UNKNOWN, SUM_UNKNOWN}};
    return sum_add(s, intern(s, &whole), sum_of_atom(s, &atom), 1);
}

int sum_quotient_by(struct sums *s, int a, int divisor)
{
    int64_t value;
    if (a == SUM_UNKNOWN || divisor == SUM_UNKNOWN)
        return SUM_UNKNOWN;
    if (sum_is_constant(s, divisor, &value))
        return sum_quotient(s, a, value);
    return sum_of_atom(s, &(struct atom){.kind = ATOM_QUOTIENT, .operands = {a, divisor, SUM_UNKNOWN}});
}
