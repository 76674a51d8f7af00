#include "emu/simt/grid/placement.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "emu/sim/alloc.h"

const char *const placement_policy_names[] = {[PLACEMENT_ROUND_ROBIN] = "round_robin",
                                              [PLACEMENT_CONTIGUOUS] = "contiguous",
                                              [PLACEMENT_MODULE] = "module",
                                              [PLACEMENT_TABLE] = "table",
                                              NULL};

/* Blocks [first, end) on multiprocessors [from, to). */
struct share {
    uint64_t first, end;
    uint32_t from, to;
};

struct shares {
    struct share *at;
    size_t count, room;
};

static void add(struct shares *shares, uint64_t first, uint64_t end, uint32_t from, uint32_t to)
{
    if (first >= end)
        return;
    if (shares->count == shares->room) {
        shares->room = shares->room ? 2 * shares->room : 16;
        shares->at = alloc_resize(shares->at, shares->room * sizeof *shares->at);
    }
    shares->at[shares->count++] = (struct share){first, end, from, to};
}

static int by_first(const void *a, const void *b)
{
    uint64_t x = ((const struct share *)a)->first, y = ((const struct share *)b)->first;
    return x < y ? -1 : x > y;
}

/* The lines of a file for one launch; launch 0: for all launches without lines of their own. */
struct section {
    uint64_t launch;
    struct shares shares; /* in ascending order of blocks, without overlaps */
};

struct placement_table {
    struct section *sections; /* the first has number 0 */
    size_t count;
};

/* The state of reading a file. */
struct reader {
    struct placement_table *table;
    const char *path;
    unsigned line;
    uint32_t multiprocessors;
};

static bool bad(const struct reader *reader, struct error *err, const char *format, const char *text)
{
    char what[160];
    (void)snprintf(what, sizeof what, format, text);
    return error_set(err, "%s:%u: %s", reader->path, reader->line, what);
}

/* Parses "4" or "4-7" to [*first, *end). */
static bool parse_range(const char *text, uint64_t *first, uint64_t *end)
{
    char *rest;
    errno = 0;
    if (*text < '0' || *text > '9')
        return false;
    *first = *end = strtoull(text, &rest, 10);
    if (*rest == '-' && rest[1] >= '0' && rest[1] <= '9')
        *end = strtoull(rest + 1, &rest, 10);
    bool good = *rest == '\0' && errno == 0 && *first <= *end && *end < UINT32_MAX;
    (*end)++;
    return good;
}

static struct section *section_of(struct placement_table *table, uint64_t launch)
{
    for (size_t i = 0; i < table->count; i++)
        if (table->sections[i].launch == launch)
            return &table->sections[i];
    table->sections = alloc_resize(table->sections, (table->count + 1) * sizeof *table->sections);
    table->sections[table->count] = (struct section){.launch = launch};
    return &table->sections[table->count++];
}

static bool read_line(const struct reader *reader, char *text, uint64_t *launch, struct error *err)
{
    static const char blanks[] = " \t\r\n";
    text[strcspn(text, "#")] = '\0';
    char *rest, *left = strtok_r(text, blanks, &rest);
    if (!left)
        return true;
    const char *right = strtok_r(NULL, blanks, &rest);
    uint64_t first, end, from, to;
    if (!right || strtok_r(NULL, blanks, &rest))
        return bad(reader, err, "a line consists of %s",
                   "blocks and multiprocessors, or of `launch` and a number");
    if (strcmp(left, "launch") == 0) {
        if (!parse_range(right, launch, &end) || end != *launch + 1 || *launch == 0)
            return bad(reader, err, "\"%s\" is not the number of a launch; allowed: 1 and more", right);
        return true;
    }
    if (!parse_range(left, &first, &end))
        return bad(reader, err, "\"%s\" is not a block or a range of blocks; allowed: such as 4 or 4-7",
                   left);
    if (!parse_range(right, &from, &to) || to > reader->multiprocessors) {
        char allowed[64];
        (void)snprintf(allowed, sizeof allowed, "allowed: 0 to %" PRIu32 ", or a range such as 0-1",
                       reader->multiprocessors - 1);
        (void)bad(reader, err, "\"%s\" is not a multiprocessor; ", right);
        size_t length = strlen(err->text);
        (void)snprintf(err->text + length, sizeof err->text - length, "%s", allowed);
        return false;
    }
    add(&section_of(reader->table, *launch)->shares, first, end, (uint32_t)from, (uint32_t)to);
    return true;
}

/* Sorts the lines of each launch. Returns false if two of them name a block. */
static bool sort(const struct placement_table *table, const char *path, struct error *err)
{
    for (size_t i = 0; i < table->count; i++) {
        const struct shares *shares = &table->sections[i].shares;
        if (shares->count)
            qsort(shares->at, shares->count, sizeof *shares->at, by_first);
        for (size_t j = 1; j < shares->count; j++)
            if (shares->at[j].first < shares->at[j - 1].end)
                return error_set(err, "%s: block %" PRIu64 " is in two lines; allowed: one for each launch",
                                 path, shares->at[j].first);
    }
    return true;
}

static bool read_lines(struct reader *reader, FILE *file, struct error *err)
{
    char *text = NULL;
    size_t room = 0;
    uint64_t launch = 0;
    bool good = true;
    while (good && getline(&text, &room, file) >= 0) {
        reader->line++;
        good = read_line(reader, text, &launch, err);
    }
    if (good && ferror(file))
        good = error_set(err, "%s: %s", reader->path, strerror(errno));
    free(text);
    return good && sort(reader->table, reader->path, err);
}

struct placement_table *placement_table_read(const char *path, uint32_t count, struct error *err)
{
    FILE *file = fopen(path, "r");
    if (!file) {
        (void)error_set(err, "%s: cannot read the table of blocks: %s", path, strerror(errno));
        return NULL;
    }
    struct placement_table *table = alloc(1, sizeof *table);
    struct reader reader = {.table = table, .path = path, .multiprocessors = count};
    (void)section_of(table, 0);
    bool good = read_lines(&reader, file, err);
    (void)fclose(file);
    if (good)
        return table;
    placement_table_free(table);
    return NULL;
}

void placement_table_free(struct placement_table *table)
{
    if (!table)
        return;
    for (size_t i = 0; i < table->count; i++)
        free(table->sections[i].shares.at);
    free(table->sections);
    free(table);
}

/* The indices of a multiprocessor's shares; those before `next` are used up. */
struct list {
    uint32_t *shares;
    size_t count, next;
};

struct placement {
    struct shares shares;
    struct list *lists; /* by multiprocessor */
    uint32_t count;
};

static bool some_able(const bool *able, uint32_t from, uint32_t to)
{
    for (uint32_t i = from; i < to; i++)
        if (able[i])
            return true;
    return false;
}

/* Divides the blocks among the able multiprocessors; if not `single`, joins the ranges of the multiprocessors of a part. */
static void divide(struct shares *shares, const struct placement_setup *setup, bool single)
{
    uint64_t total = 0, before = 0;
    for (uint32_t i = 0; i < setup->count; i++)
        total += setup->able[i];
    for (uint32_t from = 0, to; from < setup->count; from = to) {
        uint64_t after = before;
        for (to = from;
             to < setup->count && (to == from || (!single && setup->parts[to] == setup->parts[from])); to++)
            after += setup->able[to];
        add(shares, setup->blocks * before / total, setup->blocks * after / total, from, to);
        before = after;
    }
}

/* Takes the table's shares, and gives blocks between them to all multiprocessors. */
static void look_up(struct shares *shares, const struct placement_setup *setup)
{
    const struct placement_table *table = setup->table;
    const struct section *section = &table->sections[0];
    uint64_t at = 0;
    for (size_t i = 1; i < table->count; i++)
        if (table->sections[i].launch == setup->launch)
            section = &table->sections[i];
    for (size_t i = 0; i < section->shares.count; i++) {
        const struct share *share = &section->shares.at[i];
        uint64_t end = share->end < setup->blocks ? share->end : setup->blocks;
        bool able = some_able(setup->able, share->from, share->to);
        if (share->first >= setup->blocks)
            break;
        add(shares, at, share->first, 0, setup->count);
        add(shares, share->first, end, able ? share->from : 0, able ? share->to : setup->count);
        at = end;
    }
    add(shares, at, setup->blocks, 0, setup->count);
}

static void list_shares(struct placement *placement, const bool *able)
{
    const struct shares *shares = &placement->shares;
    for (unsigned fill = 0; fill < 2; fill++) {
        for (uint32_t i = 0; i < placement->count; i++) {
            struct list *list = &placement->lists[i];
            if (fill && list->count)
                list->shares = alloc(list->count, sizeof *list->shares);
            list->count = fill ? 0 : list->count;
        }
        for (size_t j = 0; j < shares->count; j++)
            for (uint32_t i = shares->at[j].from; i < shares->at[j].to; i++) {
                struct list *list = &placement->lists[i];
                if (able[i] && fill)
                    list->shares[list->count] = (uint32_t)j;
                list->count += able[i];
            }
    }
}

struct placement *placement_new(const struct placement_setup *setup)
{
    struct placement *placement = alloc(1, sizeof *placement);
    placement->count = setup->count;
    placement->lists = alloc(setup->count, sizeof *placement->lists);
    if (setup->policy == PLACEMENT_ROUND_ROBIN)
        add(&placement->shares, 0, setup->blocks, 0, setup->count);
    else if (setup->policy == PLACEMENT_TABLE)
        look_up(&placement->shares, setup);
    else
        divide(&placement->shares, setup, setup->policy == PLACEMENT_CONTIGUOUS);
    list_shares(placement, setup->able);
    return placement;
}

void placement_free(struct placement *placement)
{
    if (!placement)
        return;
    for (uint32_t i = 0; i < placement->count; i++)
        free(placement->lists[i].shares);
    free(placement->lists);
    free(placement->shares.at);
    free(placement);
}

bool placement_next(struct placement *placement, uint32_t multiprocessor, uint64_t *block)
{
    struct list *list = &placement->lists[multiprocessor];
    for (; list->next < list->count; list->next++) {
        const struct share *share = &placement->shares.at[list->shares[list->next]];
        *block = share->first;
        if (share->first < share->end)
            return true;
    }
    return false;
}

void placement_take(struct placement *placement, uint32_t multiprocessor)
{
    const struct list *list = &placement->lists[multiprocessor];
    placement->shares.at[list->shares[list->next]].first++;
}
