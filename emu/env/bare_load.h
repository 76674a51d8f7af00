/* What files give the memory of a bare machine before it runs, and what its memory gives a file in the end. */
#ifndef EMU_ENV_BARE_LOAD_H
#define EMU_ENV_BARE_LOAD_H

#include "emu/dev/rom.h"
#include "emu/env/bare.h"
#include "emu/mem/bytes.h"

/* Puts kernel, firmware, program and device tree into the program's part of memory, and what a
 * program links elsewhere to other holders of bytes. *boot becomes what the boot ROM is to
 * do; *program_end the first address behind the program, and is kept where there is none. False with err set when something
 * is wrong with a file, or does not fit. */
bool bare_load(const struct bare_options *options, const struct bytes *bytes, struct rom_boot *boot,
               uint64_t *program_end, struct error *err);

/* Writes the words of the signature region, if the options ask for that. False with err set when there is no such region, or
 * the file cannot be written. */
bool bare_write_signature(const struct bare_options *options, const struct bytes *bytes, struct error *err);

#endif
