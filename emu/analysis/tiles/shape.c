#include "emu/analysis/tiles/shape.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>

#include "emu/analysis/tiles/bounds.h"
#include "isa/csr.h"

enum { VARIABLES = 12, CHUNK = 64, WORD = 4, MOST_BEGIN = 1 << 30 };

/* A coordinate or round, or a quotient of them, and its factors in both addresses. */
struct variable {
    int atom;
    int local, global; /* sums */
};

struct shape {
    struct walk *w;
    struct tile_copy *copy;
    struct variable variables[VARIABLES];
    unsigned count, node;
    int local, global;           /* the addresses */
    int local_base, global_base; /* what all threads have in common */
    int64_t field;
};

bool shape_refuse(struct tile_copy *copy, int where, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    (void)vsnprintf(copy->reason, sizeof copy->reason, format, arguments);
    va_end(arguments);
    copy->where = where;
    copy->possible = false;
    return false;
}

static bool has_atom(const struct walk *w, int sum, enum atom_kind kind, int number)
{
    const struct sum *at = sum == SUM_UNKNOWN ? NULL : sums_at(w->sums, sum);
    for (unsigned i = 0; at && i < at->count; i++) {
        const struct sum_term *term = &at->terms[i];
        const struct atom *atom = term->count == 1 ? sums_atom_at(w->sums, term->atoms[0]) : NULL;
        if (atom && term->factor == 1 && atom->kind == kind && atom->number == number)
            return true;
    }
    return false;
}

bool shape_is_local(const struct walk *w, int address)
{
    return has_atom(w, address, ATOM_CSR, CSR_sshared);
}

bool shape_is_stack(const struct walk *w, int address)
{
    return has_atom(w, address, ATOM_ENTRY, SP);
}

static int zero(const struct shape *s)
{
    return sum_constant(s->w->sums, 0);
}

/* Variables. */

static struct variable *variable_of(struct shape *s, int atom)
{
    for (unsigned i = 0; i < s->count; i++)
        if (s->variables[i].atom == atom)
            return &s->variables[i];
    if (s->count == VARIABLES)
        return NULL;
    s->variables[s->count] = (struct variable){atom, zero(s), zero(s)};
    return &s->variables[s->count++];
}

/* Says which of an address's atoms the code does not tell. */
static bool refuse_atom(struct shape *s, const struct atom *atom, bool local)
{
    const char *const which = local ? "the address in the scratchpad" : "the address in global memory";
    if (atom->kind == ATOM_RESULT && cfg_is_call(&s->w->f->cfg->insns[atom->number]))
        return shape_refuse(s->copy, atom->number, "%s depends on the result of a call", which);
    switch (atom->kind) {
    case ATOM_LOADED:
        return shape_refuse(s->copy, atom->number, "%s depends on data that each thread loads", which);
    case ATOM_HEADER:
        return shape_refuse(s->copy, s->copy->store, "%s changes from round to round by no fixed step",
                            which);
    case ATOM_JOIN: return shape_refuse(s->copy, s->copy->store, "%s depends on the path to the copy", which);
    default:
        return shape_refuse(s->copy, atom->kind == ATOM_RESULT ? atom->number : s->copy->store,
                            "%s is no sum of thread coordinates and rounds of loops", which);
    }
}

/* Adds a term of an address to its variable, or to what all threads have in common. */
static bool put_term(struct shape *s, const struct sum_term *term, bool local)
{
    struct walk *w = s->w;
    int *base = local ? &s->local_base : &s->global_base, varying = -1;
    for (unsigned i = 0; i < term->count; i++) {
        const unsigned varies = walk_atom_varies(w, term->atoms[i]);
        if (!varies || (!local && varies == (VARIES_ROUND | VARIES_DATA)))
            continue;
        if (varies & VARIES_DATA)
            return refuse_atom(s, sums_atom_at(w->sums, term->atoms[i]), local);
        if (varying >= 0)
            return shape_refuse(s->copy, s->copy->store, "an address has a product of coordinates or rounds");
        varying = (int)i;
    }
    if (varying < 0) {
        *base = sum_add(w->sums, *base, sum_of_term(w->sums, term), 1);
        return true;
    }
    struct variable *variable = variable_of(s, term->atoms[varying]);
    struct sum_term factor = *term;
    factor.count--;
    for (unsigned i = (unsigned)varying; i < factor.count; i++)
        factor.atoms[i] = factor.atoms[i + 1];
    if (!variable)
        return shape_refuse(s->copy, s->copy->store, "an address has more than %d terms", VARIABLES);
    int *sum = local ? &variable->local : &variable->global;
    *sum = sum_add(w->sums, *sum, sum_of_term(w->sums, &factor), 1);
    return true;
}

static bool put_address(struct shape *s, int address, bool local)
{
    if (address == SUM_UNKNOWN)
        return shape_refuse(s->copy, s->copy->store, "an address has more than %d terms", SUM_TERMS);
    const struct sum sum = *sums_at(s->w->sums, address);
    for (unsigned i = 0; i < sum.count; i++)
        if (!put_term(s, &sum.terms[i], local))
            return false;
    return true;
}

static bool is_zero(const struct shape *s, int sum)
{
    return sum == zero(s);
}

/* Returns whether the quotient has a variable of the local address in it. */
static bool is_of_index(const struct shape *s, const struct variable *variable)
{
    const struct atom *atom = sums_atom_at(s->w->sums, variable->atom);
    if (atom->kind != ATOM_QUOTIENT)
        return false;
    for (unsigned i = 0; i < s->count; i++) {
        const struct sum *inner = sums_at(s->w->sums, atom->operands[0]);
        for (unsigned j = 0; j < inner->count; j++)
            for (unsigned k = 0; k < inner->terms[j].count; k++)
                if (inner->terms[j].atoms[k] == s->variables[i].atom && !is_zero(s, s->variables[i].local))
                    return true;
    }
    return false;
}

/* Gives rounds that only the global address has to the tile's base: they have tiles of their own. */
static void leave_rounds(struct shape *s)
{
    for (unsigned i = 0; i < s->count; i++) {
        struct variable *v = &s->variables[i];
        const struct atom *atom = sums_atom_at(s->w->sums, v->atom);
        if (!is_zero(s, v->local) || walk_atom_varies(s->w, v->atom) != VARIES_ROUND || is_of_index(s, v))
            continue;
        const struct sum_term own = {.factor = 1, .count = 1, .atoms = {v->atom}};
        if (atom->kind == ATOM_ROUND)
            s->copy->loop = atom->number;
        s->global_base = sum_add(s->w->sums, s->global_base,
                                 sum_multiply(s->w->sums, v->global, sum_of_term(s->w->sums, &own)), 1);
        s->variables[i--] = s->variables[--s->count];
    }
}

/* Returns the variable with the least constant factor in the local address, or NULL. */
static const struct variable *least_of(const struct shape *s, int64_t *factor)
{
    const struct variable *least = NULL;
    int64_t value;
    for (unsigned i = 0; i < s->count; i++)
        if (sum_is_constant(s->w->sums, s->variables[i].local, &value) && value > 0 &&
            (!least || value < *factor)) {
            least = &s->variables[i];
            *factor = value;
        }
    return least;
}

static int variable_sum(const struct shape *s, const struct variable *v)
{
    return sum_of_term(s->w->sums, &(struct sum_term){.factor = 1, .count = 1, .atoms = {v->atom}});
}

/* Tiles whose rows the code computes as n / objects. */

static const struct variable *find_quotient(const struct shape *s)
{
    for (unsigned i = 0; i < s->count; i++)
        if (is_of_index(s, &s->variables[i]) && is_zero(s, s->variables[i].local))
            return &s->variables[i];
    return NULL;
}

/* The index begins with a constant if that of the quotient does: x / 16 and (x + 3) / 16 differ. */
static int64_t begin_of(const struct shape *s, const struct atom *quotient)
{
    return sum_offset(s->w->sums, quotient->operands[0]);
}

/* The objects of a row, and the rows of as many elements as there are. */
static void set_rows(struct shape *s, int objects, int index)
{
    struct sums *sums = s->w->sums;
    struct tile_copy *copy = s->copy;
    const struct tile_parameter bound = bounds_of(s->w, index, s->node);
    int64_t divisor = 0;
    copy->objects = (struct tile_parameter){objects, 1, false};
    copy->rows = (struct tile_parameter){SUM_UNKNOWN, 1, false};
    if (bound.sum == objects && bound.divisor == 1) {
        copy->rows.sum = sum_constant(sums, 1);
        copy->stride_size = SUM_UNKNOWN;
    } else if (sum_is_constant(sums, objects, &divisor)) {
        const int exact = sum_exact(sums, bound.sum, divisor);
        copy->rows = (struct tile_parameter){exact, bound.divisor, bound.assumed};
        if (exact == SUM_UNKNOWN && !__builtin_mul_overflow(divisor, bound.divisor, &divisor))
            copy->rows = (struct tile_parameter){bound.sum, divisor, bound.assumed};
    } else if (bound.divisor == 1) {
        copy->rows = (struct tile_parameter){sum_quotient_by(sums, bound.sum, objects), 1, bound.assumed};
    }
}

static bool by_quotient(struct shape *s, const struct variable *first, const struct variable *quotient,
                        int index)
{
    struct sums *sums = s->w->sums;
    const struct atom atom = *sums_atom_at(sums, quotient->atom);
    const int64_t begin = begin_of(s, &atom);
    if (begin > MOST_BEGIN)
        return shape_refuse(s->copy, s->copy->store, "its rows and objects are not those of one tile");
    const int objects = atom.divisor ? sum_constant(sums, atom.divisor) : atom.operands[1];
    const int object = first->global,
              stride = sum_add(sums, quotient->global, sum_multiply(sums, object, objects), 1);
    index = sum_add(sums, index, sum_constant(sums, begin), 1);
    const int whole = sum_quotient_by(sums, index, objects);
    const int rest = sum_add(sums, index, sum_multiply(sums, whole, objects), -1);
    const int expected =
        sum_add(sums, sum_multiply(sums, stride, whole), sum_multiply(sums, object, rest), 1);
    int varying = zero(s);
    for (unsigned i = 0; i < s->count; i++)
        varying = sum_add(sums, varying,
                          sum_multiply(sums, s->variables[i].global, variable_sum(s, &s->variables[i])), 1);
    const int difference = sum_add(sums, varying, expected, -1);
    if (difference == SUM_UNKNOWN || walk_varies(s->w, difference))
        return shape_refuse(s->copy, s->copy->store, "its rows and objects are not those of one tile");
    s->global_base = sum_add(sums, s->global_base, difference, 1);
    s->local_base = sum_add(sums, s->local_base, sum_constant(sums, begin * s->field), -1);
    s->copy->object_size = object;
    s->copy->stride_size = stride;
    set_rows(s, objects, index);
    return true;
}

/* Tiles whose rows have coordinates or rounds of their own. */

static bool proportional(const struct shape *s, const struct variable *a, const struct variable *b)
{
    const int x = sum_multiply(s->w->sums, a->local, b->global),
              y = sum_multiply(s->w->sums, b->local, a->global);
    return x != SUM_UNKNOWN && x == y;
}

/* Returns the variable that counts rows one by one: of those that do not count objects, the one with the least factor. NULL with
 * *several set: there is none. */
static const struct variable *row_of(const struct shape *s, const struct variable *first, bool *several)
{
    const struct variable *row = NULL;
    int64_t least = 0, value;
    *several = false;
    for (unsigned i = 0; i < s->count; i++) {
        const struct variable *v = &s->variables[i];
        if (proportional(s, first, v))
            continue;
        *several |= row && !proportional(s, row, v);
        const bool constant = sum_is_constant(s->w->sums, v->local, &value);
        if (!row || (constant && (least == 0 || value < least))) {
            row = v;
            least = constant ? value : 0;
        }
    }
    return row;
}

/* Returns the sum of those variables that count what `like` counts, each by its factor over that of `like`. */
static int index_of(const struct shape *s, const struct variable *like)
{
    struct sums *sums = s->w->sums;
    int64_t unit, value;
    int index = zero(s);
    const bool constant = sum_is_constant(sums, like->local, &unit);
    for (unsigned i = 0; i < s->count; i++) {
        const struct variable *v = &s->variables[i];
        if (!proportional(s, like, v))
            continue;
        int factor = sum_constant(sums, 1);
        if (v != like && (!constant || !sum_is_constant(sums, v->local, &value) || value % unit))
            return SUM_UNKNOWN;
        if (v != like)
            factor = sum_constant(sums, value / unit);
        index = sum_add(sums, index, sum_multiply(sums, factor, variable_sum(s, v)), 1);
    }
    return index;
}

static bool by_groups(struct shape *s, const struct variable *first)
{
    struct sums *sums = s->w->sums;
    bool several;
    const struct variable *row = row_of(s, first, &several);
    s->copy->object_size = first->global;
    s->copy->rows = (struct tile_parameter){sum_constant(sums, 1), 1, false};
    if (several)
        return shape_refuse(s->copy, s->copy->store, "it has more than rows and objects");
    const int index = index_of(s, row ? row : first);
    if (index == SUM_UNKNOWN)
        return shape_refuse(s->copy, s->copy->store,
                            "the distance of its rows in the scratchpad is not known");
    if (!row) {
        s->copy->objects = bounds_of(s->w, index, s->node);
        return true;
    }
    const int objects = sum_exact(sums, row->local, s->field);
    if (objects == SUM_UNKNOWN)
        return shape_refuse(s->copy, s->copy->store, "a row in the scratchpad is no whole number of fields");
    s->copy->objects = (struct tile_parameter){objects, 1, false};
    s->copy->stride_size = row->global;
    s->copy->rows = bounds_of(s->w, index, s->node);
    return true;
}

/* Rules of maps that constants can break. */
static bool check(struct shape *s)
{
    struct sums *sums = s->w->sums;
    struct tile_copy *copy = s->copy;
    int64_t base, object, stride = 0, objects, row;
    if (sum_is_constant(sums, copy->stash_base, &base) && (base < 0 || base % CHUNK))
        return shape_refuse(
            copy, copy->store,
            "it begins at byte %" PRId64 " of the scratchpad; a map begins at a multiple of %d", base, CHUNK);
    const bool known = sum_is_constant(sums, copy->object_size, &object);
    if (known && (object < s->field || object % WORD))
        return shape_refuse(copy, copy->store,
                            "its objects are %" PRId64 " bytes apart; a map has fields of %" PRId64
                            " bytes in objects of a multiple "
                            "of 4",
                            object, s->field);
    if (known && copy->stride_size != SUM_UNKNOWN && sum_is_constant(sums, copy->stride_size, &stride) &&
        sum_is_constant(sums, copy->objects.sum, &objects) &&
        (__builtin_mul_overflow(objects, object, &row) || stride < row || stride % WORD))
        return shape_refuse(copy, copy->store,
                            "its rows are %" PRId64 " bytes apart, but have %" PRId64 " objects of %" PRId64
                            " bytes",
                            stride, objects, object);
    return true;
}

static bool find_variables(struct shape *s)
{
    if (!put_address(s, s->local, true) || !put_address(s, s->global, false))
        return false;
    leave_rounds(s);
    for (unsigned i = 0; i < s->count; i++) {
        const struct variable *v = &s->variables[i];
        if (!is_zero(s, v->local) && is_zero(s, v->global))
            return shape_refuse(s->copy, s->copy->store,
                                "several words of the scratchpad belong to one of global memory");
        if (is_zero(s, v->local) && !is_of_index(s, v))
            return shape_refuse(s->copy, s->copy->store,
                                "several words of global memory belong to one of the scratchpad");
    }
    return true;
}

static bool find(struct shape *s)
{
    struct walk *w = s->w;
    int64_t pitch = 0;
    if (!find_variables(s))
        return false;
    const struct variable *first = least_of(s, &pitch), *quotient = find_quotient(s);
    if (!first)
        return shape_refuse(s->copy, s->copy->store, "it copies one word");
    if (pitch != s->field)
        return shape_refuse(s->copy, s->copy->store,
                            "it copies %" PRId64 " of each %" PRId64
                            " bytes of the scratchpad; a map's tile has no gaps",
                            s->field, pitch);
    int local = zero(s);
    for (unsigned i = 0; i < s->count; i++)
        local = sum_add(w->sums, local,
                        sum_multiply(w->sums, s->variables[i].local, variable_sum(s, &s->variables[i])), 1);
    const int index = sum_exact(w->sums, local, s->field);
    if (quotient && index == SUM_UNKNOWN)
        return shape_refuse(s->copy, s->copy->store,
                            "its place in the scratchpad is no whole number of fields");
    if (!(quotient ? by_quotient(s, first, quotient, index) : by_groups(s, first)))
        return false;
    const struct atom shared = {.kind = ATOM_CSR, .number = CSR_sshared, .operands = {-1, -1, -1}};
    s->copy->stash_base = sum_add(w->sums, s->local_base, sum_of_atom(w->sums, &shared), -1);
    s->copy->global_base = s->global_base;
    return check(s);
}

void shape_find(struct walk *walk, struct tile_copy *copy, int local, int global, int64_t field,
                unsigned node)
{
    struct shape s = {
        .w = walk, .copy = copy, .node = node, .local = local, .global = global, .field = field};
    s.local_base = s.global_base = zero(&s);
    copy->field_size = field;
    copy->object_size = copy->stride_size = copy->stash_base = copy->global_base = SUM_UNKNOWN;
    copy->loop = -1;
    copy->possible = find(&s);
}

int64_t shape_pitch(const struct walk *w, int local)
{
    const struct sum *sum = sums_at(w->sums, local);
    int64_t least = 0;
    for (unsigned i = 0; i < sum->count; i++) {
        const struct sum_term *term = &sum->terms[i];
        if (term->count == 1 && walk_atom_varies(w, term->atoms[0]) && term->factor > 0 &&
            (least == 0 || term->factor < least))
            least = term->factor;
    }
    return least;
}
