/* Loads a statically linked ELF64 RISC-V program into memory and checks all fields of the file that it
 * uses. */
#ifndef EMU_ENV_LOADER_ELF_H
#define EMU_ENV_LOADER_ELF_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "emu/mem/phys/bytes.h"
#include "emu/sim/error.h"

/* Selects which of a segment's two addresses it is loaded at. */
enum elf_address {
    ELF_VIRTUAL,  /* p_vaddr: user programs */
    ELF_PHYSICAL, /* p_paddr: firmware, which runs before address translation */
    /* The same; a position-independent file is loaded at the start of memory, as if that were address 0, and must relocate
     * itself, as OpenSBI's do. */
    ELF_MOVABLE,
};

enum { ELF_SEGMENTS = 128 };

/* Guest addresses of a loaded segment. */
struct elf_range {
    uint64_t first, end; /* end excluded */
};

/* Permissions of a segment. */
enum { ELF_EXECUTE = 1, ELF_WRITE = 2, ELF_READ = 4 }; /* PF_X, PF_W, PF_R */

struct elf_program {
    /* Of the segments in memory only: `end` is the first address after the highest one (the initial program
     * break; the start of memory if there is none), `write_first` the lowest address of a writable one (`end`
     * if there is none). */
    uint64_t end, write_first;
    uint64_t entry;         /* guest address of the first instruction; even, in an executable segment */
    uint64_t headers;       /* guest address of the program headers; 0: no segment holds them */
    uint64_t headers_count; /* their number */
    size_t range_count;     /* 1 to ELF_SEGMENTS */
    struct elf_range ranges[ELF_SEGMENTS]; /* the loaded segments; no two overlap */
    struct {
        uint64_t bytes_end;   /* first guest address after the file's bytes; zeros follow */
        unsigned permissions; /* set of ELF_READ, ELF_WRITE and ELF_EXECUTE */
    } contents[ELF_SEGMENTS]; /* of the range with the same index */
};

/* Copies the loadable segments of the file at `path` to memory and other holders of ordinary bytes, zeroes
 * their remainder beyond the file's bytes (.bss), and fills *program. The entry point is not relocated,
 * whichever kind of address is used, and must lie in a loaded segment. On failure err names the file, what is
 * wrong with it and what is allowed; bytes may then be partly written. */
bool elf_load(struct elf_program *program, const char *path, enum elf_address address,
              const struct bytes *bytes, struct error *err);

/* Loads like elf_load(), by physical addresses and into memory only. Sets *entry. */
bool elf_load_firmware(const char *path, const struct phys *memory, uint64_t *entry, struct error *err);

/* What messages advise for a program that is not for 64-bit RISC-V. */
#define ELF_ADVICE "build it with croft cc, or for Linux with riscv64-linux-gnu-gcc"

/* Returns " (x86-64)" or the like for machines that people have; "" for others. */
const char *elf_machine_name(unsigned machine);

#endif
