#include <errno.h>
#include <inttypes.h>
#include <jansson.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "emu/analysis/candidate_table.h"
#include "emu/cmd/candidates/nucd.h"
#include "emu/cmd/candidates/profile.h"
#include "emu/cmd/candidates/stash.h"
#include "emu/cmd/candidates/storage.h"
#include "emu/cmd/cmd.h"
#include "emu/cmd/code/exposed.h"
#include "emu/cmd/options.h"
#include "emu/cmd/paths.h"
#include "emu/cmd/run/advice.h"
#include "emu/machine/machine.h"
#include "emu/mem/cache.h"
#include "emu/sim/alloc.h"
#include "emu/simt/multiprocessor.h"

enum {
    JSON,
    ALL,
    SYMBOL,
    MACHINE,
    LINE,
    ADDRESS,
    MISSES,
    COALESCED,
    MOST,
    TRUST,
    REGISTERS_AS,
    PROFILE,
    FOR,
    OUTPUT,
    STORAGE,
    WHY
};

static const struct option_row rows[] = {
    [JSON] = {"json", 'j', NULL, "print JSON, with all that is known of each block"},
    [ALL] = {"all", 'a', NULL, "look at all functions, not only at what kernels call"},
    [SYMBOL] = {"symbol", 's', "NAME", "look at this function, and at what it calls"},
    [MACHINE] = {"machine", 'm', "NAME|FILE",
                 "take threads per warp and bytes of a line from its multiprocessors"},
    [LINE] = {"line", 0, "BYTES", "bytes of a cache line (default the machine's, or 128)"},
    [ADDRESS] = {"address", 0, "BYTES", "bytes of an address (default 8; the paper's GPU: 4)"},
    [MISSES] = {"misses", 0, "PERCENT", "loads that miss (default 50)"},
    [COALESCED] = {"coalesced", 0, "LINES", "lines of a warp's load or store (default 1)"},
    [MOST] = {"most", 0, "COUNT", "most blocks, 1 to 40 (default 40)"},
    [TRUST] = {"pointers", 0, "trusted|known",
               "whether loaded pointers are trusted not to point into the scratchpad (default trusted)"},
    [REGISTERS_AS] = {"registers", 0, "whole|held",
                      "whether registers count as sent whole, or by what their lanes hold (default whole)"},
    [PROFILE] =
        {"profile", 'p', "TRACE",
         "take lines and misses of each load and store from a run's --trace memory (default machine gpu)"},
    [FOR] = {"for", 0, "tom|nucd|stash",
             "blocks for TOM's stacks (default), loops that NUCD's hosts can give to accelerators, or copies "
             "that "
             "maps of a stash replace"},
    [OUTPUT] = {"output", 'o', "FILE",
                "write the program with the table as section " CANDIDATE_SECTION " to FILE"},
    [STORAGE] = {"storage", 0, NULL,
                 "print the bits of TOM's tables in the machine (default tom), without a program"},
    [WHY] = {"why", 0, NULL, "print for each loop, function and copy that is not taken the reason, too"},
};

const struct option_set candidates_interface = {
    .command = "croft candidates",
    .synopsis = "[options] PROGRAM",
    .summary = "Finds blocks of code that save bytes on the links if they are executed near memory.",
    .example = "croft candidates --json kmeans",
    .notes =
        "The blocks are those of Transparent Offloading and Mapping (ISCA 2016), section 3.1;\n"
        "$DOC/emu/tom/README.md says how its equations are applied to RV64.\n"
        "By default, functions are looked at that kernels of the program call; if there are no kernels, "
        "all.\n"
        "Machine tom offloads the blocks of the table, which are matched by address; a program with it runs "
        "as\n"
        "without it. `croft cc --offload` adds the table and marks blocks by hints (tom.begin).\n"
        "With --for nucd, the loops are those that `croft cc -foffload-loops` divides into tasks: \"from\" "
        "are the\n"
        "rounds with its least number of instructions. Linked code does not tell volatile accesses.\n"
        "With --for stash, what is printed is the map in place of a copy between global memory and the "
        "scratchpad: [x] "
        "is what memory\n"
        "holds at x, a0 the kernel's argument, round(LINE) the number of a loop's round, from 0. --all "
        "prints the "
        "copies that no\n"
        "map replaces, and why; $DOC/emu/stash/README.md says more.\n",
    .count = sizeof rows / sizeof rows[0],
    .rows = rows,
};

/* The parsed command line. */
struct request {
    const char *path, *symbol, *output, *machine, *trace;
    struct profile_cache l1; /* of the machine */
    bool json, all, known_only, held, storage, nucd, stash, why;
    uint32_t given; /* set of options */
    uint64_t lanes, line, address, misses, coalesced, most;
};

/* Writing the table. */

static void print_line(const struct program *p, uint64_t pc, char *text, size_t size)
{
    if (!symbols_line(p->symbols, pc, text, size))
        (void)snprintf(text, size, "-");
}

static const char *numbered_register(unsigned reg, char text[8])
{
    (void)snprintf(text, 8, "%c%u", reg < 32 ? 'x' : 'f', reg % 32);
    return text;
}

/* Writes the condition as text, or "always". */
static void describe_condition(const struct candidate *c, char *text, size_t size)
{
    const struct candidate_entry entry = candidate_table_entry(c);
    if (!c->threshold) {
        (void)snprintf(text, size, "always");
        return;
    }
    if (entry.flags & CANDIDATE_STEP) {
        const char *size_of = entry.compare == CANDIDATE_FAR ? "|" : "";
        (void)snprintf(text, size, "%sx%u - x%u%s %s %" PRId64 " * |x%u|", size_of, entry.minuend,
                       entry.subtrahend, size_of,
                       entry.compare == CANDIDATE_MORE ? ">" : ">=", entry.threshold, entry.step);
        return;
    }
    char shift[16] = "";
    if (entry.shift)
        (void)snprintf(shift, sizeof shift, " >> %u", entry.shift);
    (void)snprintf(text, size, "(x%u - x%u)%s >= %" PRId64, entry.minuend, entry.subtrahend, shift,
                   entry.threshold);
}

static const char *tag_text(unsigned tag)
{
    static const char *const texts[] = {"-", "TX", "RX", "TX RX"};
    return texts[tag & 3];
}

/* Returns the candidate of a list with the block's addresses, or NULL. */
static const struct candidate *same_block(const struct candidates *list, const struct candidate *c)
{
    for (size_t i = 0; list && i < list->count; i++)
        if (list->list[i].begin == c->begin && list->list[i].end == c->end)
            return &list->list[i];
    return NULL;
}

/* Prints what the registers count as that are sent and returned: values, and how many registers are of each kind. */
static void print_registers_as(const struct candidate *c)
{
    printf(" %6g", c->tx_values + c->rx_values);
    for (unsigned kind = 0; kind < LANES_KINDS; kind++)
        printf(" %7u", c->sent_as[kind] + c->returned_as[kind]);
}

static void print_row(const struct program *p, size_t number, const struct candidate *c, bool held,
                      const struct candidates *other, const struct candidate *same)
{
    char line[SYMBOLS_TEXT], condition[64], range[40], text[24] = "-";
    uint64_t offset;
    const char *function = symbols_name(p->symbols, c->begin, &offset);
    (void)snprintf(range, sizeof range, "0x%" PRIx64 "-0x%" PRIx64, c->begin, c->end);
    print_line(p, c->begin, line, sizeof line);
    describe_condition(c, condition, sizeof condition);
    if (number != SIZE_MAX)
        (void)snprintf(text, sizeof text, "%zu", number);
    printf("%-3s %-25s %-28s %-22s %5g %5g %4u %4u %10.2f", text, range, line, function ? function : "-",
           c->loads, c->stores, c->reg_tx, c->reg_rx, c->tx + c->rx);
    if (held)
        print_registers_as(c);
    if (other) {
        (void)snprintf(text, sizeof text, "-");
        if (same)
            (void)snprintf(text, sizeof text, "%.2f", same->tx + same->rx);
        printf(" %6.2f %6.0f%% %10s", candidate_lines(c), 100 * candidate_misses(c), text);
    }
    printf(" %-5s %s\n", tag_text(c->tag), condition);
}

/* Prints the table. With `other`, the candidates of the static estimate, each row has their change, too, and rows follow of those
 * that are only theirs. */
static void print_table(const struct program *p, bool held, const struct candidates *found,
                        const struct candidates *other)
{
    printf("%-3s %-25s %-28s %-22s %5s %5s %4s %4s %10s", "no", "addresses", "source", "function", "N_LD",
           "N_ST", "TX", "RX", "change");
    if (held)
        printf(" %6s %7s %7s %7s %7s", "values", "same", "uniform", "affine", "varying");
    if (other)
        printf(" %6s %7s %10s", "lines", "misses", "static");
    printf(" %-5s %s\n", "saves", "offload if");
    for (size_t i = 0; i < found->count; i++)
        print_row(p, i, &found->list[i], held, other, same_block(other, &found->list[i]));
    for (size_t i = 0; other && i < other->count; i++)
        if (!same_block(found, &other->list[i])) {
            printf("only by the static estimate:\n");
            break;
        }
    for (size_t i = 0; other && i < other->count; i++)
        if (!same_block(found, &other->list[i]))
            print_row(p, SIZE_MAX, &other->list[i], held, NULL, NULL);
    const struct candidate *most = found->list;
    for (size_t i = 1; i < found->count; i++)
        most = found->list[i].live > most->live ? &found->list[i] : most;
    if (found->count)
        printf("most live registers: %u in a block, %u in its function\n", most->live, most->function_live);
}

/* Returns the name of the function that has the refused code, or NULL: code without a name, such as a kernel's code in front of its
 * function. */
static const char *refused_function(const struct program *p, const struct candidate_refusal *refusal)
{
    uint64_t offset;
    const char *name = symbols_name(p->symbols, refusal->function, &offset);
    return name && offset == 0 ? name : NULL;
}

/* Prints why loops and functions are no candidates. */
static void print_refusals(const struct program *p, const struct candidates *found)
{
    char line[SYMBOLS_TEXT];
    if (found->refused)
        printf("%-8s %-28s %-22s %s\n", "not", "source", "function", "because");
    for (size_t i = 0; i < found->refused; i++) {
        const struct candidate_refusal *refusal = &found->refusals[i];
        const char *function = refused_function(p, refusal);
        if (!function && !refusal->loop)
            continue;
        print_line(p, refusal->begin, line, sizeof line);
        printf("%-8s %-28s %-22s %s", refusal->loop ? "loop" : "function", line, function ? function : "-",
               refusal->text);
        print_line(p, refusal->where, line, sizeof line);
        if (refusal->where)
            printf(" (0x%" PRIx64 ", %s)", refusal->where, line);
        printf("\n");
    }
}

static json_t *describe_refusals(const struct program *p, const struct candidates *found)
{
    json_t *list = json_array();
    char line[SYMBOLS_TEXT], where[SYMBOLS_TEXT];
    for (size_t i = 0; i < found->refused; i++) {
        const struct candidate_refusal *refusal = &found->refusals[i];
        print_line(p, refusal->begin, line, sizeof line);
        print_line(p, refusal->where, where, sizeof where);
        (void)json_array_append_new(list, json_pack("{s:s, s:s, s:s?, s:I, s:s, s:I, s:s}", "what",
                                                    refusal->loop ? "loop" : "function", "source", line,
                                                    "function", refused_function(p, refusal), "begin",
                                                    (json_int_t)refusal->begin, "reason", refusal->text, "at",
                                                    (json_int_t)refusal->where, "at_source", where));
    }
    return list;
}

static json_t *registers(uint64_t set)
{
    json_t *list = json_array();
    char text[8];
    for (unsigned reg = 0; reg < REGISTERS; reg++)
        if (set >> reg & 1)
            (void)json_array_append_new(list, json_string(numbered_register(reg, text)));
    return list;
}

static json_t *kinds_of_registers(const unsigned *count)
{
    return json_pack("{s:I, s:I, s:I, s:I}", "same", (json_int_t)count[LANES_SAME], "uniform",
                     (json_int_t)count[LANES_UNIFORM], "affine", (json_int_t)count[LANES_AFFINE], "varying",
                     (json_int_t)count[LANES_VARYING]);
}

static json_t *describe(const struct program *p, const struct candidate *c)
{
    static const char *const kinds[] = {
        [TRIP_UNKNOWN] = "unknown", [TRIP_STATIC] = "static", [TRIP_KNOWN] = "known"};
    char line[SYMBOLS_TEXT], condition[64];
    uint64_t offset;
    const char *function = symbols_name(p->symbols, c->begin, &offset);
    print_line(p, c->begin, line, sizeof line);
    describe_condition(c, condition, sizeof condition);
    json_t *block = json_pack("{s:I, s:I, s:s, s:s?, s:f, s:f, s:I, s:I, s:f, s:f, s:b, s:b, s:s}", "begin",
                              (json_int_t)c->begin, "end", (json_int_t)c->end, "source", line, "function",
                              function, "loads", c->loads, "stores", c->stores, "reg_tx",
                              (json_int_t)c->reg_tx, "reg_rx", (json_int_t)c->reg_rx, "tx", c->tx, "rx",
                              c->rx, "saves_tx", (c->tag & CANDIDATE_SAVES_TX) != 0, "saves_rx",
                              (c->tag & CANDIDATE_SAVES_RX) != 0, "condition", condition);
    (void)json_object_set_new(block, "sent", registers(c->in));
    (void)json_object_set_new(block, "returned", registers(c->out));
    (void)json_object_set_new(block, "sent_as", kinds_of_registers(c->sent_as));
    (void)json_object_set_new(block, "returned_as", kinds_of_registers(c->returned_as));
    (void)json_object_set_new(block, "values_tx", json_real(c->tx_values));
    (void)json_object_set_new(block, "values_rx", json_real(c->rx_values));
    (void)json_object_set_new(block, "coordinates", json_integer(c->coordinates));
    (void)json_object_set_new(block, "floating_point", json_boolean(c->floats));
    (void)json_object_set_new(block, "instructions", json_integer(c->insns));
    (void)json_object_set_new(block, "live_registers", json_integer(c->live));
    (void)json_object_set_new(block, "function_live_registers", json_integer(c->function_live));
    (void)json_object_set_new(block, "stack_accesses", json_integer(c->stack));
    (void)json_object_set_new(block, "extensions", json_integer(c->extensions));
    (void)json_object_set_new(block, "rounds", json_string(kinds[c->trip.kind]));
    if (c->trip.kind == TRIP_STATIC)
        (void)json_object_set_new(block, "static_rounds", json_integer((json_int_t)c->trip.count));
    if (c->threshold)
        (void)json_object_set_new(block, "least_rounds", json_integer((json_int_t)c->threshold));
    return block;
}

/* Each block; with `other`, the static estimate's candidates, also its lines, misses and static change, and the blocks of `other`
 * alone. */
static void print_json(const struct program *p, const struct candidate_model *model,
                       const struct candidates *found, const struct candidates *other)
{
    json_t *list = json_array();
    for (size_t i = 0; i < found->count; i++) {
        const struct candidate *c = &found->list[i], *same = same_block(other, c);
        json_t *block = describe(p, c);
        if (other) {
            (void)json_object_set_new(block, "lines", json_real(candidate_lines(c)));
            (void)json_object_set_new(block, "misses", json_real(candidate_misses(c)));
            (void)json_object_set_new(block, "static_change",
                                      same ? json_real(same->tx + same->rx) : json_null());
        }
        (void)json_array_append_new(list, block);
    }
    json_t *all = json_pack("{s:s, s:f, s:f, s:f, s:f, s:I, s:o}", "program", p->path, "warp", model->lanes,
                            "line_ratio", model->line_ratio, "coalesced", model->coalesced, "load_misses",
                            model->load_misses, "left_out", (json_int_t)found->left_out, "candidates", list);
    json_t *only = json_array();
    for (size_t i = 0; other && i < other->count; i++)
        if (!same_block(found, &other->list[i]))
            (void)json_array_append_new(only, describe(p, &other->list[i]));
    if (other)
        (void)json_object_set(all, "only_static", only);
    json_decref(only);
    if (model->why)
        (void)json_object_set_new(all, "refused", describe_refusals(p, found));
    (void)json_dumpf(all, stdout, JSON_INDENT(2) | JSON_REAL_PRECISION(12));
    printf("\n");
    json_decref(all);
}

static bool write_table(const struct program *p, const char *output, const struct candidates *found,
                        struct error *err)
{
    size_t size;
    uint8_t *table = candidate_table_write(found, &size);
    bool done = program_write(p, output, CANDIDATE_SECTION, table, size, err);
    free(table);
    return done;
}

static bool find_candidates(struct program *p, const struct request *r, struct error *err)
{
    struct candidate_model model = {.lanes = (double)r->lanes,
                                    .line_ratio = (double)r->line / (double)r->address,
                                    .coalesced = (double)r->coalesced,
                                    .load_misses = (double)r->misses / 100,
                                    .held = r->held,
                                    .why = r->why,
                                    .known_only = r->known_only};
    struct profile *profile = r->trace ? profile_read(r->trace, &r->l1, err) : NULL;
    struct decoder *decoder = decoder_new();
    bool done = (profile || !r->trace) && program_find_entries(p, r->symbol, r->all, decoder, err);
    model.kernels = p->kernels;
    struct candidate_model measured = model;
    if (profile) {
        measured.measured = profile_rates;
        measured.context = profile;
    }
    if (done) {
        struct cfg cfg = cfg_build(decoder, &(struct reach_code){program_fetch, p}, p->entries, p->count,
                                   &candidate_options);
        program_mark_exposed(p, decoder, &cfg);
        struct candidates found = candidates_of(&cfg, &measured, r->most), other = {.count = 0};
        if (profile)
            other = candidates_of(&cfg, &model, r->most);
        done = !cfg.too_large || error_set(err, "has more than %d reachable instructions", REACH_INSNS);
        if (done && r->json)
            print_json(p, &model, &found, profile ? &other : NULL);
        else if (done)
            print_table(p, r->held, &found, profile ? &other : NULL);
        if (done && !r->json)
            print_refusals(p, &found);
        if (done && found.left_out)
            fprintf(
                stderr,
                "croft candidates: %s: warning: %zu blocks more would save bytes, but the table has %" PRIu64
                " entries (--most)\n",
                p->path, found.left_out, r->most);
        done = done && (!r->output || write_table(p, r->output, &found, err));
        candidates_free(&found);
        candidates_free(&other);
        cfg_free(&cfg);
    }
    profile_free(profile);
    decoder_free(decoder);
    return done;
}

/* Parses a number from `least` to `most`. */
static int number(int option, const char *text, uint64_t least, uint64_t most, uint64_t *value)
{
    char *end;
    errno = 0;
    unsigned long long parsed = strtoull(text, &end, 10);
    if (errno || end == text || *end || *text == '-' || parsed < least || parsed > most)
        return options_usage_error(&candidates_interface,
                                   "--%s is '%s'; it must be a number from %" PRIu64 " to %" PRIu64,
                                   rows[option].name, text, least, most);
    *value = parsed;
    return OPTIONS_TAKEN;
}

static int take(void *context, int option, const char *value)
{
    struct request *r = context;
    r->given |= option >= 0 && option < 32 ? UINT32_C(1) << option : 0;
    switch (option) {
    case JSON: r->json = true; break;
    case ALL: r->all = true; break;
    case STORAGE: r->storage = true; break;
    case WHY: r->why = true; break;
    case SYMBOL: r->symbol = value; break;
    case OUTPUT: r->output = value; break;
    case PROFILE: r->trace = value; break;
    case FOR:
        r->nucd = strcmp(value, "nucd") == 0;
        r->stash = strcmp(value, "stash") == 0;
        if (!r->nucd && !r->stash && strcmp(value, "tom") != 0)
            return options_usage_error(&candidates_interface, "--for is '%s'; it must be tom, nucd or stash",
                                       value);
        break;
    case MACHINE: r->machine = value; break;
    case LINE: return number(option, value, 16, 4096, &r->line);
    case ADDRESS: return number(option, value, 1, 16, &r->address);
    case MISSES: return number(option, value, 0, 100, &r->misses);
    case COALESCED: return number(option, value, 1, 32, &r->coalesced);
    case TRUST:
        r->known_only = strcmp(value, "known") == 0;
        if (!r->known_only && strcmp(value, "trusted") != 0)
            return options_usage_error(&candidates_interface,
                                       "--pointers is '%s'; it must be trusted or known", value);
        break;
    case REGISTERS_AS:
        r->held = strcmp(value, "held") == 0;
        if (!r->held && strcmp(value, "whole") != 0)
            return options_usage_error(&candidates_interface, "--registers is '%s'; it must be whole or held",
                                       value);
        break;
    case MOST: return number(option, value, 1, CANDIDATE_ENTRIES, &r->most);
    default:
        if (r->path)
            return options_usage_error(&candidates_interface, "takes one program, but '%s' was given, too",
                                       value);
        r->path = value;
    }
    return OPTIONS_TAKEN;
}

/* Takes the threads of a warp, and without --line the bytes of a line, from the machine's multiprocessors and their L1 cache. */
static bool ask_machine(struct request *r, struct error *err)
{
    char folder[PATH_MAX];
    struct machine_config machine;
    const struct cache_config *l1 = NULL;
    if (!paths_share("machines", folder, sizeof folder, err) ||
        !machine_load(&machine, r->machine, folder, NULL, 0, err))
        return false;
    for (const struct instance *i = tree_next(machine.tree, NULL); i && !l1; i = tree_next(machine.tree, i))
        if (i->kind == &cache_kind && i->parent && i->parent->kind == &simt_kind &&
            i->parent->config == machine.simt)
            l1 = i->config;
    if (l1) {
        r->lanes = machine.simt->width;
        r->line = r->line ? r->line : l1->line;
        r->l1 = (struct profile_cache){l1->size, l1->line, l1->ways};
    } else {
        (void)error_set(err, "machine '%s' has no multiprocessors with caches; gpu has", r->machine);
    }
    machine_free(&machine);
    return l1 != NULL;
}

static bool answer(struct program *program, struct request *r, struct error *err)
{
    const struct candidates_nucd_options loops = {r->symbol, r->json, r->all};
    const struct candidates_stash_options copies = {r->symbol, r->json, r->all, r->why};
    if (r->nucd)
        return program_open(program, r->path, err) && candidates_print_nucd(program, &loops, err);
    if (r->stash)
        return program_open(program, r->path, err) && candidates_print_stash(program, &copies, err);
    r->machine = r->trace && !r->machine ? "gpu" : r->machine;
    if (r->machine && !ask_machine(r, err))
        return false;
    r->line = r->line ? r->line : 128;
    return program_open(program, r->path, err) && find_candidates(program, r, err);
}

int cmd_candidates(int argc, char **argv)
{
    static const unsigned char of_tom[] = {MACHINE, LINE,    ADDRESS, MISSES, COALESCED,   MOST,
                                           TRUST,   PROFILE, OUTPUT,  WHY,    REGISTERS_AS};
    struct request r = {.lanes = 32, .address = 8, .misses = 50, .coalesced = 1, .most = CANDIDATE_ENTRIES};
    struct program program = {0};
    struct error err;
    int status = options_parse(&candidates_interface, argc, argv, take, &r);
    if (status != OPTIONS_TAKEN)
        return status;
    if (r.storage && r.path)
        return options_usage_error(&candidates_interface, "--storage takes no program, but '%s' was given",
                                   r.path);
    if (r.storage && candidates_print_storage(r.machine ? r.machine : "tom", &err))
        return 0;
    if (r.storage) {
        fprintf(stderr, "croft candidates: %s\n", err.text);
        return 1;
    }
    if (!r.path)
        return options_usage_error(&candidates_interface, "no program given");
    for (size_t i = 0; (r.nucd || r.stash) && i < sizeof of_tom / sizeof *of_tom; i++)
        if (r.given >> of_tom[i] & 1 && (r.nucd || of_tom[i] != WHY))
            return options_usage_error(&candidates_interface, "--for %s takes no --%s",
                                       r.nucd ? "nucd" : "stash", rows[of_tom[i]].name);
    bool done = answer(&program, &r, &err);
    if (!done) {
        (void)error_prefix(&err, "%s", r.path);
        advice_program(r.path, &err);
        fprintf(stderr, "croft candidates: %s\n", err.text);
    }
    program_close(&program);
    return done ? 0 : 1;
}
