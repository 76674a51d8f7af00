/* The mirror of an address space: its pages at one range of host addresses, with the same permissions, so that a hart accesses them
 * without translation. The host's MMU does the rest: a page that the program must not access faults on the host, too, and the
 * handler that touched it leaves for the slow path (emu/hart/exec/window_direct.h), which finds out why. */
#ifndef EMU_HART_MMU_MIRROR_H
#define EMU_HART_MMU_MIRROR_H

#include <stdbool.h>
#include <stdint.h>

#include "emu/mem/phys.h"

/* Where handlers list their instructions that may fault. */
#define MIRROR_SECTION "croft_mirror_faults"

enum { MIRROR_READ = 1, MIRROR_WRITE = 2 };

/* Bytes behind a mirror at which nothing is. */
enum { MIRROR_GUARD = 1 << 16 };

struct compiler;

/* Notes the compiler whose code a hart with a mirror is about to enter in this thread: it knows its instructions that may fault.
 * mirror_forget_compiler() ends that. */
void mirror_note_compiler(const struct compiler *compiler);
void mirror_forget_compiler(const struct compiler *compiler);

struct mirror {
    bool shows;     /* false: harts are to use the TLB */
    uint8_t *bytes; /* of address 0; NULL: the host has no room, so they use it all the time */
    uint64_t size;
    const struct phys *memory;
    int file;         /* of phys_init_shared() */
    uint32_t changes; /* that the host was asked for */
    uint32_t
        *writers; /* by page of memory (phys_page()): pages of the space that show it and can be written */
};

/* Makes a mirror for addresses [0, size) of a space over memory that phys_init_shared() has made. From now on, SIGSEGV is its. */
void mirror_init(struct mirror *mirror, const struct phys *memory, int file, uint64_t size);
void mirror_free(struct mirror *mirror);

/* Shows the pages [first, last) as those of memory from a physical address on; rights 0: nothing is there. Pages with code cannot be
 * written to: then, if the host refuses, and after 30,000 changes, it shows nothing from now on. All accesses take the slow path until the harts notice,
 * at a fence. */
void mirror_show(struct mirror *mirror, uint64_t first, uint64_t last, uint64_t physical, unsigned rights);

/* Counts one page more or less of the space that can be written and shows the page at a physical address. */
static inline void mirror_count_writer(struct mirror *mirror, uint64_t physical, bool more)
{
    uint32_t *writers = &mirror->writers[phys_page(mirror->memory, physical)];
    *writers = more ? *writers + 1 : *writers - 1;
}

#endif
