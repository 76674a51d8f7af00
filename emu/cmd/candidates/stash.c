#include "emu/cmd/candidates/stash.h"

#include <inttypes.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "emu/analysis/tiles.h"
#include "emu/cmd/candidates/sum_text.h"
#include "emu/sim/alloc.h"

enum { TEXT = 1024 };

/* What is printed of one program. */
struct listing {
    struct program *program;
    const struct cfg *cfg;
    const struct candidates_stash_options *options;
    bool *seen; /* by instruction: a store that was printed */
    size_t maps, copies, others;
    json_t *json_maps, *json_others; /* NULL: text */
    char last[4 * TEXT];             /* what print_other() has found last */
};

static uint64_t pc_of(const struct listing *l, int insn)
{
    return l->cfg->insns[insn].step.pc;
}

/* Writes where a copy is in the source: its own line, and the call of the inlined function that copies. */
static const char *place_of(const struct listing *l, int insn, char *text, size_t size)
{
    char line[SYMBOLS_TEXT], call[SYMBOLS_TEXT];
    const uint64_t pc = pc_of(l, insn);
    if (!symbols_line(l->program->symbols, pc, line, sizeof line))
        (void)snprintf(text, size, "0x%" PRIx64, pc);
    else if (symbols_call_line(l->program->symbols, pc, call, sizeof call))
        (void)snprintf(text, size, "%.400s (%.400s)", call, line);
    else
        (void)snprintf(text, size, "%s", line);
    return text;
}

static const char *function_of(const struct listing *l, const struct tiles *tiles)
{
    uint64_t offset;
    const char *name = symbols_name(l->program->symbols, pc_of(l, tiles->function->part->entry), &offset);
    return name ? name : "-";
}

/* Writes the type of a field, as far as the copy's instructions tell. */
static const char *type_of(const struct listing *l, const struct tile_copy *copy, char *text, size_t size)
{
    const struct insn_info *info = &insn_table[l->cfg->insns[copy->load].step.insn.id];
    const bool real = insn_needs_fp(info), two = info->size == 8;
    const char *word = real ? (two ? "double" : "float") : two ? "uint64_t" : "uint32_t";
    if (copy->words == 1)
        (void)snprintf(text, size, "%s", word);
    else
        (void)snprintf(text, size, "struct { %s word[%u]; }", word, copy->words);
    return text;
}

/* The parameters of a map, as text. */
struct parameters {
    char stash_base[TEXT], global_base[TEXT], object_size[TEXT], stride_size[TEXT], objects[TEXT], rows[TEXT],
        loop[TEXT];
    bool several; /* rows */
};

static void write_parameter(const struct sum_names *names, const struct tile_parameter *parameter, char *text,
                            size_t size)
{
    char sum[TEXT];
    sum_text(names, parameter->sum, sum, sizeof sum);
    if (parameter->divisor == 1 || parameter->sum == SUM_UNKNOWN)
        (void)snprintf(text, size, "%s", sum);
    else
        (void)snprintf(text, size, "(%.900s) / %" PRId64, sum, parameter->divisor);
}

static struct parameters parameters_of(const struct listing *l, const struct tiles *tiles,
                                       const struct tile_copy *copy)
{
    const struct sum_names names = {l->program, tiles->function, tiles->sums};
    struct parameters p = {.several = copy->stride_size != SUM_UNKNOWN};
    sum_text(&names, copy->stash_base, p.stash_base, sizeof p.stash_base);
    sum_text(&names, copy->global_base, p.global_base, sizeof p.global_base);
    sum_text(&names, copy->object_size, p.object_size, sizeof p.object_size);
    write_parameter(&names, &copy->objects, p.objects, sizeof p.objects);
    if (p.several) {
        sum_text(&names, copy->stride_size, p.stride_size, sizeof p.stride_size);
        write_parameter(&names, &copy->rows, p.rows, sizeof p.rows);
    }
    if (copy->loop >= 0)
        sum_loop_text(&names, copy->loop, p.loop, sizeof p.loop);
    return p;
}

/* Writes the call that replaces the copies. */
static void write_call(const struct listing *l, const struct tile_map *map, const struct parameters *p,
                       char *text, size_t size)
{
    char type[64];
    const char *plus = strcmp(p->stash_base, "0") != 0 ? " + " : "";
    int length = snprintf(text, size, "croft_stash_map((char *)simt_shared()%s%s, (%s *)(%s), .objects = %s",
                          plus, *plus ? p->stash_base : "", type_of(l, map->copy, type, sizeof type),
                          p->global_base, p->objects);
    char *at = text + (size_t)length;
    const char *const end = text + size;
    char field[24];
    (void)snprintf(field, sizeof field, "%" PRId64, map->copy->field_size);
    if (strcmp(field, p->object_size) != 0)
        at += (size_t)snprintf(at, (size_t)(end - at), ", .object_size = %s", p->object_size);
    if (p->several)
        at += (size_t)snprintf(at, (size_t)(end - at), ", .rows = %s, .stride_size = %s", p->rows,
                               p->stride_size);
    (void)snprintf(at, (size_t)(end - at), "%s)", map->temporary ? ", .noncoherent = 1" : "");
}

static const char *unknown_of(const struct tile_parameter *parameter)
{
    return parameter->sum == SUM_UNKNOWN ? "not in the code: the launch decides"
                                         : "one for each thread of the block";
}

/* Names what could not be inferred, or was assumed. */
static void print_notes(const struct listing *l, const struct tile_map *map, const struct parameters *p)
{
    const struct tile_copy *copy = map->copy;
    char line[TEXT];
    if (copy->objects.sum == SUM_UNKNOWN || copy->objects.assumed)
        printf("    objects: %s\n", unknown_of(&copy->objects));
    if (p->several && (copy->rows.sum == SUM_UNKNOWN || copy->rows.assumed))
        printf("    rows: %s\n", unknown_of(&copy->rows));
    if (copy->loop >= 0)
        printf("    the tile changes with each round of the loop at %s: croft_stash_change() there\n",
               p->loop);
    if (map->over && copy->loop < 0)
        printf("    it shares chunks with the map of %s: croft_stash_change(), or another place\n",
               place_of(l, map->over->copy->store, line, sizeof line));
    if (map->temporary)
        printf("    the kernel stores to the tile and does not copy it back\n");
}

static void print_map(struct listing *l, const struct tiles *tiles, const struct tile_map *map)
{
    char call[6 * TEXT], line[TEXT];
    const struct parameters p = parameters_of(l, tiles, map->copy);
    write_call(l, map, &p, call, sizeof call);
    if (!l->json_maps) {
        printf("%s:", function_of(l, tiles));
        if (map->in)
            printf(" in %s", place_of(l, map->in->store, line, sizeof line));
        if (map->out)
            printf("%s out %s", map->in ? "," : "", place_of(l, map->out->store, line, sizeof line));
        printf("\n    %s\n", call);
        print_notes(l, map, &p);
        return;
    }
    json_t *row =
        json_pack("{s:s, s:s, s:s, s:s, s:I, s:s, s:s, s:b, s:b, s:b}", "function", function_of(l, tiles),
                  "map", call, "stash_base", p.stash_base, "global_base", p.global_base, "field_size",
                  (json_int_t)map->copy->field_size, "object_size", p.object_size, "objects", p.objects,
                  "objects_assumed", map->copy->objects.assumed, "rows_assumed", map->copy->rows.assumed,
                  "coherent", !map->temporary);
    if (p.several) {
        (void)json_object_set_new(row, "rows", json_string(p.rows));
        (void)json_object_set_new(row, "stride_size", json_string(p.stride_size));
    }
    if (map->in)
        (void)json_object_set_new(row, "in", json_string(place_of(l, map->in->store, line, sizeof line)));
    if (map->out)
        (void)json_object_set_new(row, "out", json_string(place_of(l, map->out->store, line, sizeof line)));
    if (map->copy->loop >= 0)
        (void)json_object_set_new(row, "changes", json_string(p.loop));
    (void)json_array_append_new(l->json_maps, row);
}

/* Of copies that the compiler has unrolled, the reason is printed once. */
static void print_other(struct listing *l, const struct tiles *tiles, const struct tile_copy *copy)
{
    char line[TEXT], where[TEXT], text[4 * TEXT];
    place_of(l, copy->store, line, sizeof line);
    place_of(l, copy->where, where, sizeof where);
    (void)snprintf(text, sizeof text, "%s: %s %s\n    no: %s (%s)\n", function_of(l, tiles),
                   copy->out ? "out" : "in", line, copy->reason, where);
    if (strcmp(text, l->last) == 0)
        return;
    (void)snprintf(l->last, sizeof l->last, "%s", text);
    l->others++;
    if (!l->options->why)
        return;
    if (l->json_others)
        (void)json_array_append_new(l->json_others,
                                    json_pack("{s:s, s:s, s:b, s:s, s:s}", "function", function_of(l, tiles),
                                              "source", line, "out", copy->out, "reason", copy->reason,
                                              "where", where));
    else
        printf("%s", text);
}

static void print_function(struct listing *l, const struct tiles *tiles)
{
    for (size_t i = 0; i < tiles->map_count; i++) {
        const struct tile_map *map = &tiles->maps[i];
        if (l->seen[map->copy->store])
            continue;
        l->seen[map->copy->store] = true;
        l->maps++;
        l->copies += (size_t)(map->in != NULL) + (size_t)(map->out != NULL);
        print_map(l, tiles, map);
    }
    for (size_t i = 0; i < tiles->count; i++) {
        const struct tile_copy *copy = &tiles->copies[i];
        if (copy->possible || l->seen[copy->store])
            continue;
        l->seen[copy->store] = true;
        print_other(l, tiles, copy);
    }
}

/* What explains the counts, or what they lack. */
static const char *remark(const struct listing *l)
{
    if (l->others)
        return l->options->why ? "" : " (--why says why)";
    if (l->maps || l->options->symbol || l->options->all)
        return "";
    return l->program->kernels ? " (no kernel copies between global and local memory)"
                               : " (the program has no kernels: it does not call simt_launch())";
}

static void print_listing(struct listing *l)
{
    for (int i = 0; i < l->cfg->function_count; i++) {
        struct function function = function_open(l->cfg, &l->cfg->functions[i]);
        struct tiles tiles = tiles_of(&function);
        print_function(l, &tiles);
        tiles_free(&tiles);
        function_close(&function);
    }
    if (!l->json_maps) {
        printf("%zu maps replace %zu copies; %zu other copies have none%s\n", l->maps, l->copies, l->others,
               remark(l));
        return;
    }
    json_t *root = json_pack("{s:s, s:I, s:I, s:O}", "program", l->program->path, "copies",
                             (json_int_t)l->copies, "others", (json_int_t)l->others, "maps", l->json_maps);
    if (l->options->why)
        (void)json_object_set(root, "refused", l->json_others);
    (void)json_dumpf(root, stdout, JSON_INDENT(2));
    printf("\n");
    json_decref(root);
}

bool candidates_print_stash(struct program *program, const struct candidates_stash_options *options,
                            struct error *err)
{
    struct listing listing = {.program = program, .options = options};
    struct decoder *decoder = decoder_new();
    bool done = program_find_entries(program, options->symbol, options->all, decoder, err);
    if (done) {
        struct cfg cfg = cfg_build(decoder, &(struct reach_code){program_fetch, program}, program->entries,
                                   program->count, NULL);
        listing.cfg = &cfg;
        listing.seen = alloc((size_t)cfg.count + 1, sizeof *listing.seen);
        listing.json_maps = options->json ? json_array() : NULL;
        listing.json_others = options->json ? json_array() : NULL;
        done = !cfg.too_large || error_set(err, "has more than %d reachable instructions", REACH_INSNS);
        if (done)
            print_listing(&listing);
        json_decref(listing.json_maps);
        json_decref(listing.json_others);
        free(listing.seen);
        cfg_free(&cfg);
    }
    decoder_free(decoder);
    return done;
}
