/* Files that are put into memory as they are or as ELF programs, and the symbols that mean something to an
 * emulator. */
#ifndef EMU_ENV_IMAGE_H
#define EMU_ENV_IMAGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "emu/env/elf.h"
#include "emu/mem/phys.h"
#include "emu/sim/error.h"

enum { IMAGE_FILES = 3, IMAGE_RANGES = IMAGE_FILES * ELF_SEGMENTS };

/* Which addresses the files take that were loaded. Starts as zeros. */
struct image_map {
    size_t count;
    struct image_range {
        const char *path; /* the caller's */
        struct elf_range range;
    } ranges[IMAGE_RANGES];
};

/* Loads a file: an ELF program by its physical addresses (elf_load()), anything else byte for byte at
 * `address` in memory. At most IMAGE_FILES for a map; path must outlive it. *entry becomes where it starts, *end the
 * first address behind it. On failure, also when it overlaps a file that the map already has, err names the
 * file, or both with their ranges, and what is allowed. */
bool image_load(const char *path, uint64_t address, const struct bytes *bytes, struct image_map *map,
                uint64_t *entry, uint64_t *end, struct error *err);

/* The highest address, a multiple of align (a power of two), at which size bytes (not 0) overlap no file;
 * false when there is none in memory. */
bool image_place(const struct image_map *map, const struct phys *memory, uint64_t size, uint64_t align,
                 uint64_t *address);

/* The value of a symbol of an ELF file; false when the file is no ELF, has no symbol table, or no such
 * symbol. */
bool image_symbol(const char *path, const char *name, uint64_t *value);

#endif
