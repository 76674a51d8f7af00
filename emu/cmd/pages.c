/* croft pages: pages and the blocks that share them, from a memory trace. */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "emu/cmd/cmd.h"
#include "emu/cmd/options.h"
#include "emu/sim/alloc.h"
#include "emu/simt/sharing.h"

enum { PAGE, STACKS, MAP, LAUNCH, PLACE, MEMORIES, MULTIPROCESSORS };

static const struct option_row rows[] = {
    [PAGE] = {"page", 0, "BYTES", "bytes of a page, a power of two (default 4096)"},
    [STACKS] = {"stacks", 0, NULL, "count pages of thread stacks, too"},
    [MAP] = {"map", 0, "FILE", "write a picture (SVG) of the pages that each block accesses to FILE"},
    [LAUNCH] = {"launch", 0, "NUMBER", "the launch of --map (default 1)"},
    [PLACE] = {"place", 0, "FILE",
               "write a table of pages and the memory from whose multiprocessors most requests come"},
    [MEMORIES] = {"memories", 0, "COUNT", "memories of --place (default 16)"},
    [MULTIPROCESSORS] = {"multiprocessors", 0, "COUNT",
                         "multiprocessors of --place, as many in turn at each memory (default 64)"},
};

static const struct option_set interface = {
    .command = "croft pages",
    .synopsis = "[options] TRACE",
    .summary = "Tells how many blocks of threads share the pages of a memory trace.",
    .example = "croft pages --place table.pages trace.memory.zst",
    .notes =
        "A trace is written by: croft run -m nupim --trace memory:FILE PROGRAM\n"
        "PS_avg is the number of blocks that access a page, averaged over a launch's pages, PS_max the most "
        "of a\n"
        "page (the NUPIM paper, section IV-B). The last line weighs launches by their memory instructions.\n"
        "The table of --place is for a machine's key `pages`.\n",
    .count = sizeof rows / sizeof rows[0],
    .rows = rows,
};

struct request {
    const char *trace, *map, *place;
    uint64_t page, launch, memories, multiprocessors;
    bool stacks;
};

static bool number(const char *value, uint64_t most, uint64_t *result)
{
    char *end;
    errno = 0;
    if (*value < '0' || *value > '9')
        return false;
    *result = strtoull(value, &end, 10);
    return !errno && !*end && *result >= 1 && *result <= most;
}

static int take(void *context, int option, const char *value)
{
    struct request *r = context;
    uint64_t *numbers[] = {[PAGE] = &r->page,
                           [LAUNCH] = &r->launch,
                           [MEMORIES] = &r->memories,
                           [MULTIPROCESSORS] = &r->multiprocessors};
    static const uint64_t most[] = {
        [PAGE] = UINT64_C(1) << 40, [LAUNCH] = UINT32_MAX, [MEMORIES] = 65536, [MULTIPROCESSORS] = 65536};
    switch (option) {
    case STACKS: r->stacks = true; break;
    case MAP: r->map = value; break;
    case PLACE: r->place = value; break;
    case OPTION_ARGUMENT:
        if (r->trace)
            return options_usage_error(&interface, "one trace at a time; '%s' is a second one", value);
        r->trace = value;
        break;
    default:
        if (!number(value, most[option], numbers[option]) || (option == PAGE && r->page & (r->page - 1)))
            return options_usage_error(&interface, "--%s: '%s' is not allowed; allowed: 1 to %" PRIu64 "%s",
                                       rows[option].name, value, most[option],
                                       option == PAGE ? ", a power of two" : "");
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

static void print_launches(struct sharing *sharing)
{
    size_t count;
    const struct sharing_launch *launches = sharing_launches(sharing, &count);
    double weighted = 0;
    uint64_t instructions = 0, most = 0;
    printf("launch   blocks    pages  instructions   PS_avg   PS_max\n");
    for (size_t i = 0; i < count; i++) {
        const struct sharing_launch *l = &launches[i];
        double average = (double)l->shared / (double)l->pages;
        printf("%6" PRIu32 " %8" PRIu32 " %8" PRIu64 " %13" PRIu64 " %8.2f %8" PRIu64 "\n", l->launch,
               l->blocks, l->pages, l->instructions, average, l->most);
        weighted += average * (double)l->instructions;
        instructions += l->instructions;
        most = l->most > most ? l->most : most;
    }
    if (instructions)
        printf("   all                   %13" PRIu64 " %8.2f %8" PRIu64 "\n", instructions,
               weighted / (double)instructions, most);
}

/* Opens a file to write; NULL with err set on failure. */
static FILE *create(const char *path, struct error *err)
{
    FILE *file = fopen(path, "we");
    if (!file)
        (void)error_set(err, "%s: cannot be written: %s", path, strerror(errno));
    return file;
}

static bool finish(FILE *file, const char *path, struct error *err)
{
    bool good = !ferror(file);
    good = fclose(file) == 0 && good;
    return good || error_set(err, "%s: cannot be written: %s", path, strerror(errno));
}

/* Writes the table of --place. Of memories with the same number of requests, the lowest gets the page. */
static bool write_places(const struct request *r, struct sharing *sharing, struct error *err)
{
    size_t count;
    const struct sharing_touch *touch = sharing_multiprocessors(sharing, &count);
    FILE *file = create(r->place, err);
    if (!file)
        return false;
    uint64_t *requests = alloc(r->memories, sizeof *requests);
    (void)fprintf(file, "# pages of %" PRIu64 " bytes, and their memories\n", r->page);
    for (size_t i = 0, next; i < count; i = next) {
        uint64_t best = 0;
        memset(requests, 0, r->memories * sizeof *requests);
        for (next = i; next < count && touch[next].page == touch[i].page; next++) {
            uint64_t near = touch[next].by * r->memories / r->multiprocessors;
            requests[near < r->memories ? near : r->memories - 1] += touch[next].requests;
        }
        for (uint64_t m = 1; m < r->memories; m++)
            best = requests[m] > requests[best] ? m : best;
        (void)fprintf(file, "0x%" PRIx64 " %" PRIu64 "\n", touch[i].page, best);
    }
    free(requests);
    return finish(file, r->place, err);
}

enum { CELLS = 128, CELL = 4 };

/* Writes the picture of --map: blocks from left to right, pages from top to bottom, darker where more requests are. */
static bool write_map(const struct request *r, struct sharing *sharing, struct error *err)
{
    size_t count, launches, pages = 0, from = 0;
    const struct sharing_launch *launch = sharing_launches(sharing, &launches);
    const struct sharing_touch *touch = sharing_blocks(sharing, &count);
    while (launches && launch->launch != r->launch)
        launches--, launch++;
    if (!launches)
        return error_set(err, "--launch: the trace has no launch %" PRIu64, r->launch);
    FILE *file = create(r->map, err);
    if (!file)
        return false;
    static uint64_t cells[CELLS][CELLS];
    uint64_t most = 0, across = launch->blocks < CELLS ? launch->blocks : CELLS,
             down = launch->pages < CELLS ? launch->pages : CELLS;
    memset(cells, 0, sizeof cells);
    while (touch[from].launch != r->launch)
        from++;
    for (size_t i = from; i < count && touch[i].launch == r->launch; i++) {
        pages += i > from && touch[i].page != touch[i - 1].page;
        uint64_t *cell = &cells[pages * down / launch->pages][touch[i].by * across / launch->blocks];
        *cell += touch[i].requests;
        most = *cell > most ? *cell : most;
    }
    (void)fprintf(file,
                  "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%" PRIu64 "\" height=\"%" PRIu64
                  "\" font-family=\"sans-serif\" font-size=\"12\">\n"
                  "<text x=\"4\" y=\"14\">launch %" PRIu32 ": %" PRIu32 " blocks from left to right, %" PRIu64
                  " pages from top to bottom</text>\n",
                  across * CELL + 8, down * CELL + 28, launch->launch, launch->blocks, launch->pages);
    for (uint64_t y = 0; y < down; y++)
        for (uint64_t x = 0; x < across; x++)
            if (cells[y][x])
                (void)fprintf(file,
                              "<rect x=\"%" PRIu64 "\" y=\"%" PRIu64
                              "\" width=\"%d\" height=\"%d\" fill-opacity=\"%.2f\"/>\n",
                              4 + x * CELL, 22 + y * CELL, CELL, CELL,
                              0.25 + 0.75 * (double)cells[y][x] / (double)most);
    (void)fprintf(file, "</svg>\n");
    return finish(file, r->map, err);
}

int cmd_pages(int argc, char **argv)
{
    struct request r = {.page = 4096, .launch = 1, .memories = 16, .multiprocessors = 64};
    struct error err;
    int status = options_parse(&interface, argc, argv, take, &r);
    if (status != OPTIONS_TAKEN)
        return status;
    if (!r.trace)
        return options_usage_error(&interface, "no trace; croft run --trace memory:FILE writes one");
    struct sharing *sharing = sharing_new(r.page, r.stacks);
    bool good = read_trace(&r, sharing, &err);
    if (good)
        print_launches(sharing);
    good = good && (!r.map || write_map(&r, sharing, &err)) && (!r.place || write_places(&r, sharing, &err));
    if (!good)
        (void)fprintf(stderr, "croft pages: %s\n", err.text);
    sharing_free(sharing);
    return good ? 0 : 1;
}
