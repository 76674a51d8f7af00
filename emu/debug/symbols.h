/* Names and source lines for guest addresses. The program's file is opened on the first query. */
#ifndef EMU_DEBUG_SYMBOLS_H
#define EMU_DEBUG_SYMBOLS_H

#include <elfutils/libdw.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct symbols;

enum { SYMBOLS_TEXT = 512 };

/* Stores the ELF file's path; opens nothing yet. Never NULL. Free with symbols_free(). */
struct symbols *symbols_new(const char *path);
void symbols_free(struct symbols *symbols);

/* The file's code and data are `bias` above the addresses that it says, as a position-independent program's are; 0 at first. All functions
 * take and return addresses of the running program, except those on the opened file. */
void symbols_move(struct symbols *symbols, uint64_t bias);
uint64_t symbols_bias(const struct symbols *symbols);

/* Returns the name of the function or label that covers a code address; *offset is the address's offset in
 * it, in bytes. NULL when there is none (no symbol table, or not a code address). The name is valid until
 * symbols_free(). */
const char *symbols_name(struct symbols *symbols, uint64_t address, uint64_t *offset);

/* Returns true if the address is in an executable section or, without a section table, in an executable
 * segment. */
bool symbols_is_code(struct symbols *symbols, uint64_t address);

/* Writes the source line of the instruction at the address as "file:line". The file is relative to the
 * compilation folder if it lies inside it. Returns false when the line is unknown. */
bool symbols_line(struct symbols *symbols, uint64_t address, char *text, size_t size);

/* Of an instruction that is inlined from another file: writes the line of the call in the file of the function that the instruction is in.
 * Returns false if there is none. */
bool symbols_call_line(struct symbols *symbols, uint64_t address, char *text, size_t size);

/* Describes an address as "main+0x12 (src/main.c:7)", with the parts that are known, or as "no symbol".
 * Always writes a terminated string to text[size], and returns it. */
const char *symbols_describe(struct symbols *symbols, uint64_t address, char *text, size_t size);

/* Like symbols_describe() for a return address: reports the function and line of the call before it. */
const char *symbols_describe_return(struct symbols *symbols, uint64_t address, char *text, size_t size);

/* Calls segment(context, first, last) for each loadable segment of the file that the program may not write, with the
 * addresses of its first and last byte. */
void symbols_read_only(struct symbols *symbols, void (*segment)(void *context, uint64_t first, uint64_t last),
                       void *context);

/* The opened file and its debug information, owned by `symbols`. NULL when missing. */
Elf *symbols_elf(struct symbols *symbols);
Dwarf *symbols_dwarf(struct symbols *symbols);

#endif
