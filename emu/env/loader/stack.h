/* The initial stack of a Linux program: arguments, environment and auxiliary vector. */
#ifndef EMU_ENV_LOADER_STACK_H
#define EMU_ENV_LOADER_STACK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "emu/env/loader/elf.h"
#include "emu/mem/phys.h"
#include "emu/sim/error.h"

enum {
    STACK_STRINGS = 16384, /* bytes; the strings' area is a multiple of this */
    GUEST_USER_ID = 1000,  /* user and group of every guest */
};

struct stack_contents {
    const char *const *arguments; /* argument_count of them; the first is the program */
    size_t argument_count;
    const char *const *environment; /* "NAME=VALUE" */
    size_t environment_count;
    const struct elf_program *program;
};

/* Returns the bytes of `count` strings, with the zero behind each. */
uint64_t stack_strings_size(const char *const *strings, size_t count);

/* Writes the stack to the end of memory, within `size` bytes, and sets the stack pointer, 16-byte aligned:
 *
 *   *sp -> argc | argv[0..argc-1] 0 | environment 0 | auxiliary vector, AT_NULL | strings, AT_RANDOM bytes,
 *   argv[0] | end
 *
 * The strings' area is rounded up to STACK_STRINGS and the program's path comes last, so that the path's
 * length changes no address outside of the strings' area. Returns false and sets err if the contents do not
 * fit into a quarter of the stack. */
bool stack_build(const struct phys *memory, uint64_t size, const struct stack_contents *contents,
                 uint64_t *sp, struct error *err);

#endif
