/* Names and source lines for guest addresses; the program's file is opened at the first question. */
#ifndef EMU_DEBUG_SYMBOLS_H
#define EMU_DEBUG_SYMBOLS_H

#include <elfutils/libdw.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct symbols;

enum { SYMBOLS_TEXT = 512 };

/* Remembers the ELF file's path and opens nothing; never NULL. Free with symbols_free(). */
struct symbols *symbols_new(const char *path);
void symbols_free(struct symbols *symbols);

/* The name of the function or label that covers a code address, and the address's offset in it in bytes. NULL
 * when there is none (no symbol table, or an address outside the code). The name lives as long as symbols. */
const char *symbols_name(struct symbols *symbols, uint64_t address, uint64_t *offset);

/* Whether address lies in an executable section; without a section table, in an executable segment. */
bool symbols_is_code(struct symbols *symbols, uint64_t address);

/* The source line that the instruction at address came from, as "file:line"; relative to the compilation's
 * folder when the file lies beneath it. Returns false when it is not known. */
bool symbols_line(struct symbols *symbols, uint64_t address, char *text, size_t size);

/* Describes an address in one phrase, "main+0x12 (src/main.c:7)", with what is known; "no symbol" when
 * nothing is. Always writes a terminated text, and returns it. */
const char *symbols_describe(struct symbols *symbols, uint64_t address, char *text, size_t size);

/* The same for a return address, which belongs to the function and the line of the call before it. */
const char *symbols_describe_return(struct symbols *symbols, uint64_t address, char *text, size_t size);

/* The opened file and its debug information, owned by symbols; NULL when the file has none. */
Elf *symbols_elf(struct symbols *symbols);
Dwarf *symbols_dwarf(struct symbols *symbols);

#endif
