#include "emu/machine/plan/pages.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "emu/sim/alloc.h"

enum { PAGES_LINE = 256 }; /* bytes for a line */

struct placing {
    struct home_map *map;
    const struct pages_range *range;
    uint16_t *memory; /* by frame */
    bool *taken;      /* by frame: it holds a page of the table */
    bool *named;      /* by page: the table has it */
    uint32_t *next;   /* by memory: the first frame that may be free */
    uint32_t pages;
};

/* Reads a decimal number, or a hexadecimal one after 0x; leading zeros do not make it octal. */
static bool parse(const char *text, uint64_t *value)
{
    char *end;
    errno = 0;
    if (*text < '0' || *text > '9')
        return false;
    *value = strtoull(text, &end, text[0] == '0' && (text[1] | 32) == 'x' ? 16 : 10);
    return !errno && !*end;
}

/* Puts a page into a frame of a memory. */
static bool place(struct placing *placing, uint64_t address, uint32_t memory, struct error *err)
{
    uint32_t frame = home_page_frame(placing->map, address), *next = &placing->next[memory];
    if (placing->memory[frame] != memory || placing->taken[frame]) {
        while (*next < placing->pages && (placing->memory[*next] != memory || placing->taken[*next]))
            ++*next;
        if (*next == placing->pages)
            return error_set(err, "memory %" PRIu32 " has no room for more pages", memory);
        frame = *next;
        if (!home_page_move(placing->map, address, frame, NULL, NULL, 0, err))
            return false;
    }
    placing->taken[frame] = true;
    return true;
}

static bool read_line(struct placing *placing, char *text, struct error *err)
{
    static const char blanks[] = " \t\r\n";
    const struct pages_range *range = placing->range;
    text[strcspn(text, "#")] = '\0';
    char *rest, *left = strtok_r(text, blanks, &rest);
    if (!left)
        return true;
    const char *right = strtok_r(NULL, blanks, &rest);
    uint64_t address, memory;
    if (!right || strtok_r(NULL, blanks, &rest))
        return error_set(err, "a line consists of a page's address and the number of its memory");
    if (!parse(left, &address) || address - range->base >= range->size || address % PAGES_BYTES)
        return error_set(err,
                         "\"%s\" is not the address of a page; allowed: multiples of %d from 0x%" PRIx64
                         " to 0x%" PRIx64,
                         left, PAGES_BYTES, range->base, range->base + range->size - PAGES_BYTES);
    if (!parse(right, &memory) || memory >= range->memories)
        return error_set(err, "\"%s\" is not a memory; allowed: 0 to %" PRIu32, right, range->memories - 1);
    bool *named = &placing->named[(address - range->base) / PAGES_BYTES];
    if (*named)
        return error_set(err, "page %s is in two lines; allowed: one", left);
    *named = true;
    return place(placing, address, (uint32_t)memory, err);
}

/* Reads the lines of a table; path: for messages. */
static bool read_lines(struct placing *placing, FILE *file, const char *path, struct error *err)
{
    char text[PAGES_LINE];
    unsigned line = 0;
    while (fgets(text, sizeof text, file)) {
        struct error why;
        size_t length = strlen(text);
        line++;
        if (length == 0 || (text[length - 1] != '\n' && !feof(file)))
            return error_set(err, "%s:%u: is no line of text with fewer than %d characters", path, line,
                             PAGES_LINE - 1);
        if (!read_line(placing, text, &why))
            return error_set(err, "%s:%u: %s", path, line, why.text);
    }
    return !ferror(file) || error_set(err, "%s: cannot read the table of pages: %s", path, strerror(errno));
}

static bool read_table(struct placing *placing, const char *path, struct error *err)
{
    FILE *file = fopen(path, "re");
    if (!file)
        return error_set(err, "%s: cannot read the table of pages: %s", path, strerror(errno));
    bool good = read_lines(placing, file, path, err);
    (void)fclose(file);
    return good;
}

bool pages_place(struct home_map *map, const struct pages_range *range, const char *path, struct error *err)
{
    uint32_t pages = (uint32_t)(range->size / PAGES_BYTES);
    struct placing placing = {.map = map, .range = range, .pages = pages};
    if (!home_range_page(map, range->base, PAGES_BYTES, err))
        return false;
    placing.memory = alloc(pages, sizeof *placing.memory);
    placing.taken = alloc(pages, sizeof *placing.taken);
    placing.named = alloc(pages, sizeof *placing.named);
    placing.next = alloc(range->memories, sizeof *placing.next);
    for (uint32_t i = 0; i < pages; i++) {
        struct home home;
        home_resolve(map, range->base + (uint64_t)i * PAGES_BYTES, &home);
        placing.memory[i] = (uint16_t)(home.module * range->stacks + home.stack);
    }
    bool good = read_table(&placing, path, err);
    free(placing.memory);
    free(placing.taken);
    free(placing.named);
    free(placing.next);
    return good;
}
