/* The memory of a program under the kernel: its addresses are translated page by page, as the hart would for
 * it. */
#ifndef EMU_ENV_KERNEL_PAGES_H
#define EMU_ENV_KERNEL_PAGES_H

#include <stdbool.h>
#include <stdint.h>

#include "emu/hart/hart.h"
#include "isa/include/croft/range.h"

struct kernel_pages;

/* Translates by hart's page tables, with what they allow user mode. Never NULL; release with
 * kernel_pages_free(). */
struct kernel_pages *kernel_pages_new(struct hart *hart);
void kernel_pages_free(struct kernel_pages *pages);

/* The bytes [address, address + length) of the program, length not 0, until kernel_pages_settle(); NULL when
 * the program may not read (write) all of them, or they are not in the tables yet. In memory they are where
 * they are if their pages follow each other there; otherwise they are a copy, which kernel_pages_settle()
 * stores back if it was to be written. (So where buffers of one call overlap and are scattered, the later one
 * wins.) */
void *kernel_pages_view(struct kernel_pages *pages, uint64_t address, uint64_t length, bool write);

/* Part of the first view that failed since the last kernel_pages_settle(): from its first unusable page to
 * its end. */
struct kernel_missing {
    uint64_t address, length; /* length 0: none has failed */
    bool write;
};

/* Ends all views; with keep, what was written to copies goes to memory. Returns what was missing. */
struct kernel_missing kernel_pages_settle(struct kernel_pages *pages, bool keep);

/* A user-mode address of the program as a physical one; false when the tables do not allow it, or not yet. */
bool kernel_pages_translate(const struct kernel_pages *pages, uint64_t address, uint32_t permission,
                            uint64_t *physical);

/* Whether a range of the program allows this (one CROFT_RANGE_*): its page may still be missing. */
bool kernel_pages_allow(const struct kernel_pages *pages, uint64_t address, uint32_t permission);

/* Tells where the kernel's table of ranges is; NULL until it has started. It must stay. */
void kernel_pages_set_ranges(struct kernel_pages *pages, const struct croft_range_table *ranges);
const struct croft_range_table *kernel_pages_ranges(const struct kernel_pages *pages);

/* Why the program cannot use an address as it wanted to (permission: one CROFT_RANGE_*), for messages: "where
 * nothing is mapped", "which is read-only", ... */
const char *kernel_pages_refusal(const struct kernel_pages *pages, uint64_t address, uint32_t permission);

#endif
