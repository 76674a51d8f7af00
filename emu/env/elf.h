/* Loads a statically linked ELF64 RISC-V program into memory, checking all that the file says. */
#ifndef EMU_ENV_ELF_H
#define EMU_ENV_ELF_H

#include <stdbool.h>
#include <stdint.h>

#include "emu/mem/phys.h"
#include "emu/sim/error.h"

struct elf_program {
    uint64_t entry;         /* guest address of the first instruction; even, within an executable segment */
    uint64_t end;           /* first guest address after the highest segment: the initial program break */
    uint64_t write_first;   /* lowest guest address of a writable segment; `end` when there is none */
    uint64_t headers;       /* guest address of the program headers, or 0 when no segment holds them */
    uint64_t headers_count; /* their number */
};

/* Copies the loadable segments of the file at `path` into memory, which must read as zero, and fills
 * *program. On failure err names the file, what is wrong with it and what is allowed; memory may then be
 * partly written. */
bool elf_load(struct elf_program *program, const char *path, const struct phys *memory, struct error *err);

#endif
