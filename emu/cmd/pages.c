/* croft pages: pages and the blocks that share them, from a memory trace. */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "emu/cmd/cmd.h"
#include "emu/cmd/options.h"
#include "emu/debug/symbols.h"
#include "emu/io/output.h"
#include "emu/machine/plan/pages.h"
#include "emu/sim/alloc.h"
#include "emu/simt/trace/sharing.h"

enum { PAGE, STACKS, FIRST, LAST, PROGRAM, MAP, LAUNCH, PLACE, MEMORIES, MULTIPROCESSORS };

static const struct option_row rows[] = {
    [PAGE] = {"page", 0, "BYTES", "bytes of a page, a power of two (default 4096)"},
    [STACKS] = {"stacks", 0, NULL, "count pages of thread stacks, too"},
    [FIRST] = {"first", 0, "ADDRESS", "count pages from this address on (default 0)"},
    [LAST] = {"last", 0, "ADDRESS", "count pages up to this address (default 2^64 - 1)"},
    [PROGRAM] = {"program", 0, "FILE",
                 "print a row for each kernel of this ELF file, instead of each launch"},
    [MAP] = {"map", 0, "FILE", "write a picture (SVG) of the pages that each block accesses to FILE"},
    [LAUNCH] = {"launch", 0, "NUMBER",
                "the launch of --map, or most: that with most instructions (default 1)"},
    [PLACE] = {"place", 0, "FILE",
               "write a table of pages and the memory from whose multiprocessors most requests come"},
    [MEMORIES] = {"memories", 0, "COUNT", "memories of --place (default 16)"},
    [MULTIPROCESSORS] = {"multiprocessors", 0, "COUNT",
                         "multiprocessors of --place, as many in turn at each memory (default 64)"},
};

const struct option_set pages_interface = {
    .command = "croft pages",
    .synopsis = "[options] TRACE",
    .summary = "Tells how many blocks of threads share the pages of a memory trace.",
    .example = "croft pages --place table.pages trace.memory.zst",
    .notes =
        "A trace is written by: croft run -m nupim --trace memory:FILE PROGRAM\n"
        "PS_avg is the number of blocks that access a page, averaged over a launch's pages, PS_max the most "
        "of a\n"
        "page (the NUPIM paper, section IV-B). Rows of kernels and the last line weigh launches by their "
        "memory\n"
        "instructions; their blocks are those of the largest launch. Pages of a kernel are those of the "
        "launch\n"
        "with most, pages of the last line those of all launches.\n"
        "The table of --place is for a machine's key `pages`.\n",
    .count = sizeof rows / sizeof rows[0],
    .rows = rows,
};

struct request {
    const char *trace, *map, *place, *program;
    uint64_t page, first, last, launch, memories, multiprocessors;
    bool stacks, most; /* most: the launch with most instructions */
};

/* Parses a number from 1 to `most`, or an address from 0, which may be hexadecimal. */
static bool number(const char *value, bool address, uint64_t most, uint64_t *result)
{
    const uint64_t least = address ? 0 : 1;
    char *end;
    errno = 0;
    if (*value < '0' || *value > '9')
        return false;
    *result = strtoull(value, &end, address && value[0] == '0' && (value[1] | 32) == 'x' ? 16 : 10);
    return !errno && !*end && *result >= least && *result <= most;
}

static int take(void *context, int option, const char *value)
{
    struct request *r = context;
    uint64_t *numbers[] = {
        [PAGE] = &r->page,     [FIRST] = &r->first,       [LAST] = &r->last,
        [LAUNCH] = &r->launch, [MEMORIES] = &r->memories, [MULTIPROCESSORS] = &r->multiprocessors};
    static const uint64_t most[] = {
        [PAGE] = UINT64_C(1) << 40, [FIRST] = UINT64_MAX, [LAST] = UINT64_MAX,
        [LAUNCH] = UINT32_MAX,      [MEMORIES] = 65536,   [MULTIPROCESSORS] = 65536};
    bool address = option == FIRST || option == LAST;
    switch (option) {
    case STACKS: r->stacks = true; break;
    case MAP: r->map = value; break;
    case PLACE: r->place = value; break;
    case PROGRAM: r->program = value; break;
    case OPTION_ARGUMENT:
        if (r->trace)
            return options_usage_error(&pages_interface, "one trace at a time; '%s' is a second one", value);
        r->trace = value;
        break;
    default:
        r->most = option == LAUNCH ? strcmp(value, "most") == 0 : r->most;
        if (option == LAUNCH && r->most)
            r->launch = 1;
        else if (!number(value, address, most[option], numbers[option]) ||
                 (option == PAGE && r->page & (r->page - 1)))
            return options_usage_error(&pages_interface,
                                       "--%s: '%s' is not allowed; allowed: %d to %" PRIu64 "%s",
                                       rows[option].name, value, address ? 0 : 1, most[option],
                                       option == PAGE     ? ", a power of two"
                                       : option == LAUNCH ? ", or most"
                                                          : "");
    }
    return OPTIONS_TAKEN;
}

static bool read_trace(const struct request *r, struct sharing *sharing, struct error *err)
{
    struct access_record record;
    struct access_reader *reader = access_reader_open(r->trace, err);
    if (!reader)
        return false;
    while (access_reader_next(reader, &record, err))
        sharing_add(sharing, &record);
    access_reader_close(reader);
    return !err->text[0];
}

/* Sums and maxima over launches. */
struct summary {
    uint64_t kernel, launches, pages, instructions, most;
    uint32_t blocks;
    double weighted; /* PS_avg times instructions */
};

static double average(const struct sharing_launch *launch)
{
    return launch->pages ? (double)launch->shared / (double)launch->pages : 0;
}

static void add_launch(struct summary *sum, const struct sharing_launch *l)
{
    sum->launches++;
    sum->blocks = l->blocks > sum->blocks ? l->blocks : sum->blocks;
    sum->pages = l->pages > sum->pages ? l->pages : sum->pages;
    sum->instructions += l->instructions;
    sum->most = l->most > sum->most ? l->most : sum->most;
    sum->weighted += average(l) * (double)l->instructions;
}

static void print_summary(const struct summary *sum)
{
    printf(" %8" PRIu32 " %8" PRIu64 " %13" PRIu64 " %8.2f %8" PRIu64 "\n", sum->blocks, sum->pages,
           sum->instructions, sum->instructions ? sum->weighted / (double)sum->instructions : 0, sum->most);
}

/* Prints a row for each kernel, in the order of their first launches. */
static void print_kernels(struct symbols *symbols, const struct sharing_launch *launches, size_t count)
{
    struct summary *kernels = alloc(count + 1, sizeof *kernels);
    size_t known = 0;
    for (size_t i = 0; i < count; i++) {
        size_t k = 0;
        while (k < known && kernels[k].kernel != launches[i].kernel)
            k++;
        known += k == known;
        kernels[k].kernel = launches[i].kernel;
        add_launch(&kernels[k], &launches[i]);
    }
    printf("%-24s launches   blocks    pages  instructions   PS_avg   PS_max\n", "kernel");
    for (size_t k = 0; k < known; k++) {
        uint64_t offset = 1;
        const char *name = symbols_name(symbols, kernels[k].kernel, &offset);
        char address[24];
        (void)snprintf(address, sizeof address, "0x%" PRIx64, kernels[k].kernel);
        printf("%-24s %8" PRIu64, name && !offset ? name : address, kernels[k].launches);
        print_summary(&kernels[k]);
    }
    free(kernels);
}

/* Prints the table of launches, or of kernels if symbols are given. */
static void print_table(struct sharing *sharing, struct symbols *symbols)
{
    size_t count;
    const struct sharing_launch *launches = sharing_launches(sharing, &count);
    struct summary all = {0};
    for (size_t i = 0; i < count; i++)
        add_launch(&all, &launches[i]);
    all.pages = sharing_pages(sharing);
    if (symbols)
        print_kernels(symbols, launches, count);
    else
        printf("launch   blocks    pages  instructions   PS_avg   PS_max\n");
    for (size_t i = 0; i < count && !symbols; i++) {
        const struct sharing_launch *l = &launches[i];
        printf("%6" PRIu32 " %8" PRIu32 " %8" PRIu64 " %13" PRIu64 " %8.2f %8" PRIu64 "\n", l->launch,
               l->blocks, l->pages, l->instructions, average(l), l->most);
    }
    if (symbols)
        printf("%-24s %8" PRIu64, "all", all.launches);
    else
        printf("   all");
    print_summary(&all);
}

/* Returns whether all multiprocessors of the trace are among those of --multiprocessors. */
static bool places_fit(const struct request *r, const struct sharing_touch *touch, size_t count,
                       struct error *err)
{
    for (size_t i = 0; i < count; i++)
        if (touch[i].by >= r->multiprocessors)
            return error_set(err,
                             "--multiprocessors: %" PRIu64
                             "; the trace has requests of multiprocessor %" PRIu32 ", numbered from 0",
                             r->multiprocessors, touch[i].by);
    return true;
}

/* Writes the table of --place. Of memories with the same number of requests, that with the fewest pages yet gets the page, or the
 * lowest: a page whose requests come from several memories' multiprocessors alike must not fill the first of them. */
static bool write_places(const struct request *r, struct sharing *sharing, struct error *err)
{
    size_t count;
    const struct sharing_touch *touch = sharing_multiprocessors(sharing, &count);
    struct output *output = places_fit(r, touch, count, err) ? output_open(r->place, err) : NULL;
    if (!output)
        return false;
    FILE *file = output_stream(output);
    uint64_t *requests = alloc(r->memories, sizeof *requests), *pages = alloc(r->memories, sizeof *pages);
    (void)fprintf(file, "# pages of %" PRIu64 " bytes, and their memories\n", r->page);
    for (size_t i = 0, next; i < count; i = next) {
        uint64_t best = 0;
        memset(requests, 0, r->memories * sizeof *requests);
        for (next = i; next < count && touch[next].page == touch[i].page; next++) {
            requests[touch[next].by * r->memories / r->multiprocessors] += touch[next].requests;
        }
        for (uint64_t m = 1; m < r->memories; m++)
            if (requests[m] > requests[best] || (requests[m] == requests[best] && pages[m] < pages[best]))
                best = m;
        pages[best]++;
        (void)fprintf(file, "0x%" PRIx64 " %" PRIu64 "\n", touch[i].page, best);
    }
    free(requests);
    free(pages);
    return output_keep(output, err);
}

enum { CELLS = 128, CELL = 4 }; /* most cells on a side of the picture, and pixels on a side of each then */

/* Returns the first launch with most memory instructions. */
static uint64_t most_instructions(const struct sharing_launch *launch, size_t count)
{
    size_t most = 0;
    for (size_t i = 1; i < count; i++)
        most = launch[i].instructions > launch[most].instructions ? i : most;
    return count ? launch[most].launch : 1;
}

/* Writes the picture of --map: blocks from left to right, pages from top to bottom, darker where more requests are. */
static bool write_map(const struct request *r, struct sharing *sharing, struct error *err)
{
    size_t count, launches, pages = 0, from = 0;
    const struct sharing_launch *launch = sharing_launches(sharing, &launches);
    const struct sharing_touch *touch = sharing_blocks(sharing, &count);
    const uint64_t number = r->most ? most_instructions(launch, launches) : r->launch;
    while (launches && launch->launch != number)
        launches--, launch++;
    if (!launches)
        return error_set(err, "--launch: the trace has no launch %" PRIu64, number);
    struct output *output = output_open(r->map, err);
    if (!output)
        return false;
    FILE *file = output_stream(output);
    static uint64_t cells[CELLS][CELLS];
    uint64_t most = 0, across = launch->blocks < CELLS ? launch->blocks : CELLS,
             taken = launch->pages + !launch->pages, down = taken < CELLS ? taken : CELLS;
    const uint64_t wide = CELLS * CELL / across, high = CELLS * CELL / down;
    memset(cells, 0, sizeof cells);
    while (from < count && touch[from].launch != number)
        from++;
    for (size_t i = from; i < count && touch[i].launch == number; i++) {
        pages += i > from && touch[i].page != touch[i - 1].page;
        uint64_t *cell = &cells[pages * down / taken][touch[i].by * across / launch->blocks];
        *cell += touch[i].requests;
        most = *cell > most ? *cell : most;
    }
    (void)fprintf(file,
                  "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%" PRIu64 "\" height=\"%" PRIu64
                  "\" font-family=\"sans-serif\" font-size=\"12\">\n"
                  "<text x=\"4\" y=\"14\">launch %" PRIu32 ": %" PRIu32 " blocks from left to right, %" PRIu64
                  " pages from top to bottom</text>\n",
                  across * wide + 8, down * high + 28, launch->launch, launch->blocks, launch->pages);
    for (uint64_t y = 0; y < down; y++)
        for (uint64_t x = 0; x < across; x++)
            if (cells[y][x])
                (void)fprintf(file,
                              "<rect x=\"%" PRIu64 "\" y=\"%" PRIu64 "\" width=\"%" PRIu64
                              "\" height=\"%" PRIu64 "\" fill-opacity=\"%.2f\"/>\n",
                              4 + x * wide, 22 + y * high, wide, high,
                              0.25 + 0.75 * (double)cells[y][x] / (double)most);
    (void)fprintf(file, "</svg>\n");
    return output_keep(output, err);
}

/* Checks options that need each other, and sets those that are not given. */
static bool complete(struct request *r)
{
    if (r->place && r->page != PAGES_BYTES)
        (void)options_usage_error(&pages_interface,
                                  "--page: a machine's pages have %d bytes, so those of --place have",
                                  PAGES_BYTES);
    else if (!r->map && r->launch)
        (void)options_usage_error(&pages_interface, "--launch: needs --map");
    else if (!r->place && (r->memories || r->multiprocessors))
        (void)options_usage_error(&pages_interface, "--%s: needs --place",
                                  rows[r->memories ? MEMORIES : MULTIPROCESSORS].name);
    else {
        r->launch += !r->launch;
        r->memories = r->memories ? r->memories : 16;
        r->multiprocessors = r->multiprocessors ? r->multiprocessors : 64;
        return true;
    }
    return false;
}

int cmd_pages(int argc, char **argv)
{
    struct request r = {.page = PAGES_BYTES, .last = UINT64_MAX};
    struct error err;
    int status = options_parse(&pages_interface, argc, argv, take, &r);
    if (status != OPTIONS_TAKEN)
        return status;
    if (!r.trace)
        return options_usage_error(&pages_interface, "no trace; croft run --trace memory:FILE writes one");
    if (!complete(&r))
        return 2;
    const struct sharing_setup setup = {.page = r.page, .first = r.first, .last = r.last, .stacks = r.stacks};
    struct symbols *symbols = r.program ? symbols_new(r.program) : NULL;
    struct sharing *sharing = sharing_new(&setup);
    bool good = !symbols || elf_kind(symbols_elf(symbols)) == ELF_K_ELF ||
                error_set(&err, "--program: %s: cannot be read as an ELF file", r.program);
    good = good && read_trace(&r, sharing, &err);
    if (good)
        print_table(sharing, symbols);
    good = good && (!r.map || write_map(&r, sharing, &err)) && (!r.place || write_places(&r, sharing, &err));
    if (!good)
        (void)fprintf(stderr, "croft pages: %s\n", err.text);
    sharing_free(sharing);
    symbols_free(symbols);
    return good ? 0 : 1;
}
