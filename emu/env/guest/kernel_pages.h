/* Access to the memory of a program under the kernel: translates its addresses page by page, as its hart
 * would. */
#ifndef EMU_ENV_GUEST_KERNEL_PAGES_H
#define EMU_ENV_GUEST_KERNEL_PAGES_H

#include <stdbool.h>
#include <stdint.h>

#include "emu/hart/hart.h"
#include "isa/include/croft/range.h"

struct kernel_pages;

/* Makes access through the hart's page tables, with user-mode permissions. Never returns NULL. Release with
 * kernel_pages_free(). */
struct kernel_pages *kernel_pages_new(struct hart *hart);
void kernel_pages_free(struct kernel_pages *pages);

/* Returns a view of the program's bytes [address, address + length), length not 0, valid until
 * kernel_pages_settle(). Returns NULL if the program may not read (write) all of them, or if some are not in
 * the page tables yet. If the pages are contiguous in memory, the view is that memory; otherwise it is a
 * copy, which kernel_pages_settle() stores if `write` is set. If copies of one call overlap, the later one
 * wins. */
void *kernel_pages_view(struct kernel_pages *pages, uint64_t address, uint64_t length, bool write);

/* Returns whether kernel_pages_view() could return a view of these bytes, without making one. Records a
 * failure like that of a view. */
bool kernel_pages_reach(struct kernel_pages *pages, uint64_t address, uint64_t length, bool write);

/* The part of the first failed view since the last kernel_pages_settle() that begins with its first unusable
 * page. */
struct kernel_missing {
    uint64_t address, length; /* length 0: no view has failed */
    bool write;
};

/* Ends all views. If `keep` is set, copies made for writing are stored to memory. Returns the bytes that were
 * missing. */
struct kernel_missing kernel_pages_settle(struct kernel_pages *pages, bool keep);

/* Translates a user-mode address of the program to a physical one. Returns false if the page tables do not
 * allow the access, or not yet. */
bool kernel_pages_translate(const struct kernel_pages *pages, uint64_t address, uint32_t permission,
                            uint64_t *physical);

/* Returns whether the program's ranges allow this access (one CROFT_RANGE_*); the page itself may still be
 * missing. */
bool kernel_pages_allow(const struct kernel_pages *pages, uint64_t address, uint32_t permission);

/* Sets the kernel's table of ranges, which must stay valid; NULL before the kernel has started. */
void kernel_pages_set_ranges(struct kernel_pages *pages, const struct croft_range_table *ranges);
const struct croft_range_table *kernel_pages_ranges(const struct kernel_pages *pages);

/* Returns why the program cannot access an address (permission: one CROFT_RANGE_*), as text for messages:
 * "where nothing is mapped", "which is read-only", ... */
const char *kernel_pages_refusal(const struct kernel_pages *pages, uint64_t address, uint32_t permission);

#endif
