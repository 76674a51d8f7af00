/* Loads the files of a bare machine into memory before the run, and writes the signature file after it. */
#ifndef EMU_ENV_BARE_LOAD_H
#define EMU_ENV_BARE_LOAD_H

#include "emu/dev/rom.h"
#include "emu/env/bare.h"
#include "emu/mem/phys/bytes.h"

/* Loads kernel, firmware, program and device tree into the program's part of memory, and segments that the
 * program links elsewhere into other byte holders. Sets *boot to what the boot ROM must do and *program_end
 * to the first address after the program (unchanged without a program). Returns false and sets err if a file
 * is wrong or does not fit. */
bool bare_load(const struct bare_options *options, const struct bytes *bytes, struct rom_boot *boot,
               uint64_t *program_end, struct error *err);

/* Writes the words of the signature region if the options ask for it. Returns false and sets err if there is
 * no such region or the file cannot be written. */
bool bare_write_signature(const struct bare_options *options, const struct bytes *bytes, struct error *err);

/* Writes the device tree that the program would find to a file ('-': standard output). */
bool bare_dump_fdt(const struct bare_options *options, const char *path, struct error *err);

#endif
