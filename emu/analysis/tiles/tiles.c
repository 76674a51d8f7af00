#include "emu/analysis/tiles.h"

#include <stdlib.h>
#include <string.h>

#include "emu/analysis/tiles/shape.h"
#include "emu/analysis/tiles/walk.h"
#include "emu/sim/alloc.h"

enum { WORD = 4, CHUNK = 64, MOST_DEPTH = 6, MOST_FIELD = 256 };

/* A copy while it is looked at. */
struct pending {
    struct tile_copy copy;
    unsigned node;
    int local, global;
    int64_t size;
    bool merged; /* it is part of another one's field */
};

struct search {
    struct walk walk;
    struct pending *list;
    size_t count, room;
};

static const struct insn_info *info_at(const struct search *s, int insn)
{
    return &insn_table[s->walk.f->cfg->insns[insn].step.insn.id];
}

static bool is_store(const struct search *s, const struct walk_access *access)
{
    return info_at(s, access->insn)->access == ACCESS_STORE;
}

/* Returns the atom that a value is, or NULL. */
static const struct atom *atom_of(const struct walk *w, int value)
{
    const struct sum *sum = value == SUM_UNKNOWN ? NULL : sums_at(w->sums, value);
    const bool one = sum && sum->count == 1 && sum->terms[0].count == 1 && sum->terms[0].factor == 1;
    return one ? sums_atom_at(w->sums, sum->terms[0].atoms[0]) : NULL;
}

/* Finds a load from local or global memory in what a value was computed from; returns its instruction, or -1. */
static int loaded_from(struct walk *w, int value, bool local, unsigned depth)
{
    if (value == SUM_UNKNOWN || depth == 0)
        return -1;
    const struct sum sum = *sums_at(w->sums, value);
    for (unsigned i = 0; i < sum.count; i++)
        for (unsigned j = 0; j < sum.terms[i].count; j++) {
            const struct atom atom = *sums_atom_at(w->sums, sum.terms[i].atoms[j]);
            const int address = atom.kind == ATOM_LOADED ? walk_resolve(w, atom.operands[0]) : SUM_UNKNOWN;
            if (atom.kind == ATOM_LOADED && address != SUM_UNKNOWN && walk_varies(w, address) &&
                shape_is_local(w, address) == local && !shape_is_stack(w, address))
                return atom.number;
            for (unsigned k = 0; k < 3 && (atom.kind == ATOM_RESULT || atom.kind == ATOM_QUOTIENT); k++) {
                const int found = loaded_from(w, atom.operands[k], local, depth - 1);
                if (found >= 0)
                    return found;
            }
        }
    return -1;
}

static struct pending *add(struct search *s, const struct walk_access *store, int load, bool out)
{
    if (s->count == s->room) {
        s->room = s->room ? 2 * s->room : 16;
        s->list = alloc_resize(s->list, s->room * sizeof *s->list);
    }
    s->list[s->count] = (struct pending){
        .copy = {.load = load,
                 .store = store->insn,
                 .out = out,
                 .words = 1,
                 .loop = -1,
                 .where = store->insn,
                 .objects = {.sum = SUM_UNKNOWN, .divisor = 1},
                 .rows = {.sum = SUM_UNKNOWN, .divisor = 1}},
        .node = store->node,
        .size = info_at(s, store->insn)->size,
    };
    return &s->list[s->count++];
}

/* Names the instruction that computes what is stored, if it is one. */
static void refuse_changed(const struct search *s, struct tile_copy *copy, const struct atom *value)
{
    char name[INSN_NAME_SIZE];
    if (!value || value->kind != ATOM_RESULT) {
        (void)shape_refuse(copy, copy->store, "what it stores is not what it loads");
        return;
    }
    insn_spell(info_at(s, value->number)->name, name);
    (void)shape_refuse(copy, value->number, "what it stores is not what it loads: %s changes it", name);
}

/* Looks at a store: of exactly what a load has brought from the other memory, or of something that was computed from it. */
static void look_at(struct search *s, const struct walk_access *store)
{
    struct walk *w = &s->walk;
    const int address = walk_resolve(w, store->address);
    const struct atom *value = atom_of(w, store->value);
    if (address == SUM_UNKNOWN || shape_is_stack(w, address))
        return;
    const bool out = !shape_is_local(w, address);
    if (!value || value->kind != ATOM_LOADED) {
        const int load = loaded_from(w, store->value, out, MOST_DEPTH);
        if (load >= 0)
            refuse_changed(s, &add(s, store, load, out)->copy, value);
        return;
    }
    const int load = value->number, from = walk_resolve(w, value->operands[0]);
    if (from == SUM_UNKNOWN || shape_is_stack(w, from) || shape_is_local(w, from) != out)
        return;
    struct pending *p = add(s, store, load, out);
    p->local = out ? from : address;
    p->global = out ? address : from;
    p->copy.possible = true;
    if (info_at(s, load)->size != p->size)
        (void)shape_refuse(&p->copy, store->insn, "it loads %d bytes and stores %d", info_at(s, load)->size,
                           (int)p->size);
    else if (p->size < WORD)
        (void)shape_refuse(&p->copy, store->insn, "it copies %d bytes at a time; words of a map have 4",
                           (int)p->size);
}

/* Fields of several words. */

/* Returns whether the other copy has the words `*distance` bytes further on, in both memories. */
static bool is_beside(struct walk *w, const struct pending *a, const struct pending *b, int64_t *distance)
{
    int64_t global;
    return a->copy.out == b->copy.out && a->size == b->size && a->copy.possible && b->copy.possible &&
           !b->merged && sum_is_constant(w->sums, sum_add(w->sums, b->local, a->local, -1), distance) &&
           sum_is_constant(w->sums, sum_add(w->sums, b->global, a->global, -1), &global) &&
           *distance == global;
}

/* Returns the bytes of the field whose first word a copy copies, and merges its other words if they fill `pitch` bytes. */
static int64_t find_field(struct search *s, struct pending *first, int64_t pitch)
{
    int64_t distance;
    uint64_t words = 1;
    if (pitch <= first->size || pitch % first->size || pitch / first->size > MOST_FIELD / WORD)
        return first->size;
    const unsigned wanted = (unsigned)(pitch / first->size);
    for (size_t i = 0; i < s->count; i++)
        if (is_beside(&s->walk, first, &s->list[i], &distance) && distance > 0 && distance < pitch &&
            distance % first->size == 0)
            words |= UINT64_C(1) << (distance / first->size);
    if ((unsigned)__builtin_popcountll(words) != wanted)
        return first->size;
    for (size_t i = 0; i < s->count; i++)
        if (is_beside(&s->walk, first, &s->list[i], &distance) && distance > 0 && distance < pitch)
            s->list[i].merged = true;
    first->copy.words = wanted;
    return pitch;
}

static void find_shapes(struct search *s)
{
    int64_t *fields = alloc(s->count + 1, sizeof *fields);
    for (size_t i = 0; i < s->count; i++)
        if (s->list[i].copy.possible && !s->list[i].merged)
            fields[i] = find_field(s, &s->list[i], shape_pitch(&s->walk, s->list[i].local));
    for (size_t i = 0; i < s->count; i++) {
        struct pending *p = &s->list[i];
        if (p->copy.possible && !p->merged)
            shape_find(&s->walk, &p->copy, p->local, p->global, fields[i], p->node);
    }
    free(fields);
}

/* Rounds that the compiler has unrolled: copies of following objects, or of following rows, of one tile. */

static bool same_parameter(const struct tile_parameter *a, const struct tile_parameter *b)
{
    return a->sum == b->sum && a->divisor == b->divisor;
}

/* Returns how many elements of `size` bytes, apart by `distance` in global memory, tile b begins after tile a; -1: no number. */
static int64_t elements_between(const struct walk *w, const struct tile_copy *a, const struct tile_copy *b,
                                int64_t size, int distance)
{
    int64_t bytes;
    if (size <= 0 || !sum_is_constant(w->sums, sum_add(w->sums, b->stash_base, a->stash_base, -1), &bytes) ||
        bytes <= 0 || bytes % size)
        return -1;
    const int global = sum_add(w->sums, b->global_base, a->global_base, -1);
    const int expected = sum_add(w->sums, sum_constant(w->sums, 0), distance, bytes / size);
    return expected != SUM_UNKNOWN && global == expected ? bytes / size : -1;
}

/* Makes one tile of two if b's elements follow those of a, or are among them. */
static bool extend(const struct walk *w, struct tile_copy *a, const struct tile_copy *b)
{
    const bool rows = a->stride_size != SUM_UNKNOWN;
    struct tile_parameter *count = rows ? &a->rows : &a->objects;
    const struct tile_parameter *more = rows ? &b->rows : &b->objects;
    int64_t objects = 1, own, others;
    if (a->out != b->out || a->field_size != b->field_size || a->object_size != b->object_size ||
        a->stride_size != b->stride_size || a->loop != b->loop ||
        (rows && (!same_parameter(&a->objects, &b->objects) ||
                  !sum_is_constant(w->sums, a->objects.sum, &objects))) ||
        !sum_is_constant(w->sums, count->sum, &own) || !sum_is_constant(w->sums, more->sum, &others) ||
        count->divisor != 1 || more->divisor != 1)
        return false;
    if (__builtin_mul_overflow(objects, a->field_size, &objects))
        return false;
    const int64_t after = elements_between(w, a, b, objects, rows ? a->stride_size : a->object_size);
    if (after <= 0 || after > own)
        return false;
    if (after + others > own)
        count->sum = sum_constant(w->sums, after + others);
    return true;
}

static void merge_rounds(struct search *s)
{
    for (bool more = true; more;) {
        more = false;
        for (size_t i = 0; i < s->count; i++)
            for (size_t j = 0; j < s->count; j++) {
                struct pending *a = &s->list[i], *b = &s->list[j];
                if (i == j || a->merged || b->merged || !a->copy.possible || !b->copy.possible ||
                    !extend(&s->walk, &a->copy, &b->copy))
                    continue;
                b->merged = true;
                more = true;
            }
    }
}

/* Maps. */

static bool same_tile(const struct tile_copy *a, const struct tile_copy *b)
{
    return a->stash_base == b->stash_base && a->global_base == b->global_base &&
           a->field_size == b->field_size && a->object_size == b->object_size &&
           a->stride_size == b->stride_size && a->objects.sum == b->objects.sum &&
           a->objects.divisor == b->objects.divisor && a->rows.sum == b->rows.sum &&
           a->rows.divisor == b->rows.divisor;
}

/* Stores the bytes of a tile in local memory. Returns false if they are not known. */
static bool bytes_of(const struct walk *w, const struct tile_copy *copy, int64_t *bytes)
{
    int64_t objects, rows;
    return sum_is_constant(w->sums, copy->objects.sum, &objects) &&
           sum_is_constant(w->sums, copy->rows.sum, &rows) && !__builtin_mul_overflow(objects, rows, bytes) &&
           !__builtin_mul_overflow(*bytes, copy->field_size, bytes) && *bytes < SUM_MOST;
}

/* Returns whether a store that is no copy into the tile may change it. */
static bool is_changed(struct search *s, const struct tile_copy *copy)
{
    struct walk *w = &s->walk;
    int64_t base, bytes, other, end = INT64_MAX;
    const bool known = sum_is_constant(w->sums, copy->stash_base, &base);
    if (known && bytes_of(w, copy, &bytes))
        end = base + bytes;
    for (size_t i = 0; i < w->count; i++) {
        const int address = walk_resolve(w, w->accesses[i].address);
        bool copies = !is_store(s, &w->accesses[i]) || !shape_is_local(w, address);
        for (size_t j = 0; j < s->count && !copies; j++)
            copies = s->list[j].copy.store == w->accesses[i].insn &&
                     (s->list[j].copy.possible || s->list[j].merged);
        if (copies)
            continue;
        other = sum_offset(w->sums, address);
        if (!known || (walk_varies(w, address) & VARIES_DATA) || (other >= base && other < end))
            return true;
    }
    return false;
}

/* Stores the bytes of local memory of a map's chunks, or of the first one. Returns false if they are not known. */
static bool chunks_of(const struct walk *w, const struct tile_copy *copy, int64_t *begin, int64_t *end)
{
    int64_t bytes;
    if (!sum_is_constant(w->sums, copy->stash_base, begin))
        return false;
    if (!bytes_of(w, copy, &bytes))
        bytes = 1;
    *end = *begin + (bytes + CHUNK - 1) / CHUNK * CHUNK;
    return true;
}

static const struct tile_map *find_over(const struct walk *w, const struct tiles *tiles,
                                        const struct tile_copy *copy)
{
    int64_t begin, end, first, last;
    if (!chunks_of(w, copy, &begin, &end))
        return NULL;
    for (size_t i = 0; i < tiles->map_count; i++)
        if (chunks_of(w, tiles->maps[i].copy, &first, &last) && begin < last && first < end)
            return &tiles->maps[i];
    return NULL;
}

static void find_maps(struct search *s, struct tiles *tiles)
{
    bool *taken = alloc(tiles->count + 1, sizeof *taken);
    tiles->maps = alloc(tiles->count + 1, sizeof *tiles->maps);
    for (size_t i = 0; i < tiles->count; i++) {
        const struct tile_copy *copy = &tiles->copies[i];
        struct tile_map map = {.copy = copy};
        if (!copy->possible || taken[i])
            continue;
        map.in = copy->out ? NULL : copy;
        map.out = copy->out ? copy : NULL;
        for (size_t j = i + 1; j < tiles->count && !(map.in && map.out); j++)
            if (tiles->copies[j].possible && !taken[j] && tiles->copies[j].out != copy->out &&
                same_tile(copy, &tiles->copies[j])) {
                taken[j] = true;
                *(copy->out ? &map.in : &map.out) = &tiles->copies[j];
            }
        map.over = find_over(&s->walk, tiles, copy);
        map.temporary = !map.out && is_changed(s, copy);
        tiles->maps[tiles->map_count++] = map;
    }
    free(taken);
}

static int by_store(const void *a, const void *b)
{
    const struct pending *x = a, *y = b;
    return x->copy.store < y->copy.store ? -1 : x->copy.store > y->copy.store;
}

struct tiles tiles_of(const struct function *function)
{
    struct search s = {.walk = walk_open(function)};
    struct tiles tiles = {.function = function};
    for (size_t i = 0; i < s.walk.count; i++)
        if (is_store(&s, &s.walk.accesses[i]))
            look_at(&s, &s.walk.accesses[i]);
    if (s.count)
        qsort(s.list, s.count, sizeof *s.list, by_store);
    find_shapes(&s);
    merge_rounds(&s);
    tiles.copies = alloc(s.count + 1, sizeof *tiles.copies);
    for (size_t i = 0; i < s.count; i++)
        if (!s.list[i].merged)
            tiles.copies[tiles.count++] = s.list[i].copy;
    find_maps(&s, &tiles);
    tiles.sums = s.walk.sums;
    s.walk.sums = NULL;
    walk_close(&s.walk);
    free(s.list);
    return tiles;
}

void tiles_free(struct tiles *tiles)
{
    sums_free(tiles->sums);
    free(tiles->copies);
    free(tiles->maps);
    *tiles = (struct tiles){0};
}
