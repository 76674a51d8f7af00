/* Pages placed by a table: which memory holds each (the root's `pages`). `croft pages --place` writes such tables. */
#ifndef EMU_MACHINE_PLAN_PAGES_H
#define EMU_MACHINE_PLAN_PAGES_H

#include "emu/mem/home.h"

enum { PAGES_BYTES = 4096 };

/* The range of memory, all of it in one range of the map. Its layout must keep each page in one memory. */
struct pages_range {
    uint64_t base, size;
    uint32_t memories, stacks; /* stacks: of a module; a memory's number is module * stacks + stack */
};

/* Divides the range into pages and puts each page of the table at `path` into a frame of its memory; the page
 * that was there moves to the freed frame. Other pages stay where the map has them. A line of the table is a
 * page's address and the number of a memory: "0x80001000 5"; # begins a comment. False with err set on
 * failure; the message names file and line if the table has an error. */
bool pages_place(struct home_map *map, const struct pages_range *range, const char *path, struct error *err);

#endif
