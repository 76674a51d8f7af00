/* The file of a program or object, for analyses of its code: instructions, functions, sections. */
#ifndef EMU_CMD_CODE_PROGRAM_H
#define EMU_CMD_CODE_PROGRAM_H

#include <gelf.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "emu/debug/symbols.h"
#include "emu/sim/error.h"
#include "isa/decode.h"

struct program {
    const char *path; /* belongs to the caller */
    struct symbols *symbols;
    Elf *elf;
    uint8_t *bytes; /* the file */
    size_t size, segments;
    uint64_t *entries; /* where analyses begin; see program_find_entries() */
    size_t count, room;
    bool kernels; /* the entries are kernels */
};

/* Opens a linked 64-bit RISC-V ELF file. In any case, release it with program_close(). */
bool program_open(struct program *program, const char *path, struct error *err);
void program_close(struct program *program);

/* The fetch() of struct reach_code (emu/analysis/flow/reach.h); context is a struct program. */
bool program_fetch(void *context, uint64_t pc, uint32_t *bits);

/* Collects entries. If `symbol` is given: that function; false with err set if there is none. Otherwise the kernels for
 * multiprocessors (not with `all`); without kernels all functions; without functions the program's start. */
bool program_find_entries(struct program *program, const char *symbol, bool all,
                          const struct decoder *decoder, struct error *err);

/* Returns whether the program of that path has the entry of a kernel for multiprocessors, that is, a launch. */
bool program_launches(const char *path);

/* Calls visit() for each defined symbol. */
void program_each_symbol(struct program *program,
                         void (*visit)(struct program *program, const char *name, const GElf_Sym *symbol,
                                       void *context),
                         void *context);

/* Returns whether the address lies in a section that the program may not write. */
bool program_is_constant(const struct program *program, uint64_t address);

/* Returns the bytes of a section, which belong to the program, or NULL. */
const uint8_t *program_section(const struct program *program, const char *name, size_t *size);

/* Writes the program with one more section, which is not loaded, to a file with the program's permissions. */
bool program_write(const struct program *program, const char *output, const char *name,
                   const uint8_t *section, size_t section_size, struct error *err);

#endif
