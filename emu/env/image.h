/* Files that are put into memory as they are or as ELF programs, and the symbols that mean something to an
 * emulator. */
#ifndef EMU_ENV_IMAGE_H
#define EMU_ENV_IMAGE_H

#include <stdbool.h>
#include <stdint.h>

#include "emu/mem/phys.h"
#include "emu/sim/error.h"

/* Loads a file: an ELF program by elf_load(), anything else byte for byte at `address`. *entry becomes where
 * it starts, *end the first address behind it. On failure err names the file and what is allowed. */
bool image_load(const char *path, uint64_t address, const struct phys *memory, uint64_t *entry, uint64_t *end,
                struct error *err);

/* The value of a symbol of an ELF file; false when the file is no ELF, has no symbol table, or no such
 * symbol. */
bool image_symbol(const char *path, const char *name, uint64_t *value);

#endif
