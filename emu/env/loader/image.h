/* Loads files into memory, raw or as ELF programs, and finds symbols that have a meaning for the emulator. */
#ifndef EMU_ENV_LOADER_IMAGE_H
#define EMU_ENV_LOADER_IMAGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "emu/env/loader/elf.h"
#include "emu/mem/phys.h"
#include "emu/sim/error.h"

enum { IMAGE_FILES = 4, IMAGE_RANGES = IMAGE_FILES * ELF_SEGMENTS + 1 };

/* Addresses that the loaded files occupy, and at most one range that is kept free. Initialize with zeros. */
struct image_map {
    size_t count;
    struct image_range {
        const char *path; /* borrowed */
        struct elf_range range;
    } ranges[IMAGE_RANGES];
};

/* Loads a file: an ELF program at its physical addresses (elf_load(); which: ELF_PHYSICAL or ELF_MOVABLE), any other file byte for byte at
 * `address` in memory. A map holds at most IMAGE_FILES files; path must outlive it. Sets *entry to the
 * address at which the file starts and *end to the first address after it. On failure, err names the file and
 * what is allowed; if the file overlaps one that the map already has, err names both with their ranges. */
bool image_load(const char *path, uint64_t address, enum elf_address which, const struct bytes *bytes,
                struct image_map *map, uint64_t *entry, uint64_t *end, struct error *err);

/* Finds the highest address, a multiple of align (a power of two), at which size bytes (not 0) overlap no
 * file. Returns false if there is none in memory. */
bool image_place(const struct image_map *map, const struct phys *memory, uint64_t size, uint64_t align,
                 uint64_t *address);

/* Sets *size to the size of a file. Returns false with err set if it cannot be read. */
bool image_size(const char *path, uint64_t *size, struct error *err);

/* Loads a file byte for byte at `address`, whatever it is. Errors are as for image_load(). */
bool image_load_raw(const char *path, uint64_t address, const struct bytes *bytes, struct image_map *map,
                    struct error *err);

/* Sets *value to the value of a symbol of an ELF file. Returns false if the file is not ELF, has no symbol
 * table, or has no such symbol. */
bool image_symbol(const char *path, const char *name, uint64_t *value);

#endif
