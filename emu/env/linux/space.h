/* The address space of a Linux program: its mappings, and the Sv39 page tables in the machine's memory that harts
 * walk. Memory is given out when it is mapped accessible, in pieces as long as possible, so that each mapping is a
 * range that accelerators can use (isa/include/croft/range.h). */
#ifndef EMU_ENV_LINUX_SPACE_H
#define EMU_ENV_LINUX_SPACE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "emu/env/linux/space/frames.h"
#include "emu/hart/mmu/mirror.h"
#include "emu/sim/error.h"
#include "isa/include/croft/range.h"

/* The program's half of Sv39, without its last page, as in Linux. */
#define SPACE_END ((UINT64_C(1) << 38) - FRAME)
/* mmap_min_addr of Linux: nothing is mapped below. */
enum { SPACE_FIRST = 0x10000 };

#define SPACE_UNBACKED UINT64_MAX

/* Protections of mappings (mmap(2)). */
enum { SPACE_READ = 1, SPACE_WRITE = 2, SPACE_EXECUTE = 4 };

/* The file of mappings. */
struct space_file {
    size_t references;
    int host;               /* host descriptor, for writing back; -1: none */
    uint64_t device, inode; /* of the host's file */
    bool read_only;         /* was opened to read: shared mappings cannot become writable */
    bool ends;              /* accesses behind the page with its end are refused (SIGBUS) */
    char *name;             /* as /proc/self/maps shows it; "" is none */
};

struct space_map {
    uint64_t first, end;     /* multiples of FRAME */
    uint64_t physical;       /* of `first`; SPACE_UNBACKED: no memory yet, because nothing may access it */
    uint64_t offset;         /* of `first` in the file */
    uint8_t protection;      /* set of SPACE_READ ... */
    bool shared;             /* MAP_SHARED of a file */
    bool beyond;             /* behind the end of its file: nothing may access it */
    bool stored;             /* the program may have stored to it, so that it is written back */
    struct space_file *file; /* NULL: anonymous */
};

struct space {
    struct frames frames;
    uint64_t root;          /* physical address of the root table */
    struct space_map *maps; /* by ascending address, disjoint */
    size_t count, room;
    uint64_t break_start, break_end;
    uint64_t top;                /* mappings are placed below it, the highest first */
    struct frame_range kept_out; /* addresses at which accelerators have memory of their own; empty: none */
    struct mirror *mirror;       /* shows it to harts on the host, too; NULL: there is none */
    bool shares;                 /* a file has been mapped shared, or has mappings that depend on its size */
    bool changed;                /* the page tables have changed since this was last cleared */
    struct croft_range_table *ranges; /* in the machine's memory; kept up to date */
    uint64_t ranges_at;               /* its physical address */
};

/* Makes an empty address space over free memory from physical address `first` on; mirror: what shows it on the host, or NULL. Returns false and sets err if memory
 * is too small. Release with address_space_free(). */
bool address_space_init(struct space *space, const struct phys *memory, uint64_t first, struct mirror *mirror,
                        struct error *err);
/* Writes shared mappings back and releases everything. */
void address_space_free(struct space *space);

/* Returns an open file for mappings; it is released with the last mapping and address_space_file_release(). */
struct space_file *address_space_file_new(int host, const char *name);
void address_space_file_release(struct space_file *file);

/* What address_space_map() maps. */
struct space_request {
    uint64_t first, length; /* length: rounded up to whole pages */
    uint8_t protection;
    /* At `first`, a multiple of FRAME, replacing what is there; else `first` is a wish, 0: none. */
    bool fixed;
    bool keep; /* fixed, but only where nothing is */
    bool shared;
    struct space_file *file;
    uint64_t offset;
};

/* Maps zeroed memory. Returns its address, or -ENOMEM, -EINVAL, -EEXIST. */
int64_t address_space_map(struct space *space, const struct space_request *request);

/* Return 0 or -errno; address and length as of the system calls. */
int64_t address_space_unmap(struct space *space, uint64_t address, uint64_t length);
int64_t address_space_protect(struct space *space, uint64_t address, uint64_t length, uint8_t protection);
/* Makes anonymous memory zero; with `zero` false only checks that all is mapped. */
int64_t address_space_discard(struct space *space, uint64_t address, uint64_t length, bool zero);
/* Bytes of a host file. */
struct space_part {
    uint64_t device, inode, offset, length;
};

/* Before the program uses a file by a call: writes what it has stored to shared mappings of these bytes to the file. */
void address_space_store(struct space *space, const struct space_part *part);
/* After it has changed the file by a call: shared mappings show these bytes. */
void address_space_reload(struct space *space, const struct space_part *part);

/* Lets mappings of the file, whose `ends` is true, follow its size. Call it when they or the size have changed. */
void address_space_fit(struct space *space, uint64_t device, uint64_t inode);

/* Writes shared mappings back to their files. */
int64_t address_space_sync(struct space *space, uint64_t address, uint64_t length);

/* As mremap(2). Returns the address or -errno. */
int64_t address_space_remap(struct space *space, uint64_t address, uint64_t old_length, uint64_t length,
                            bool may_move, bool fixed, uint64_t to);

/* As brk(2): returns the new break, or the old one if it cannot be moved there. */
uint64_t address_space_break(struct space *space, uint64_t address);

/* Returns the mapping that holds the address, or NULL. */
const struct space_map *address_space_find(const struct space *space, uint64_t address);

/* Sums up the bytes that are mapped, and those of them that have memory. */
void address_space_measure(const struct space *space, uint64_t *size, uint64_t *resident);

/* Copy to and from the program regardless of permissions; backed mappings only. Return false if a byte has none. */
bool address_space_write(struct space *space, uint64_t address, const void *from, uint64_t length);
bool address_space_read(const struct space *space, uint64_t address, void *to, uint64_t length);

/* Fills [address, address + length) of a new mapping from its file. Returns 0 or -errno. */
int64_t address_space_fill(struct space *space, uint64_t address, uint64_t length, int host, uint64_t offset);

#endif
