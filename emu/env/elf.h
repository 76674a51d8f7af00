/* Loads a statically linked ELF64 RISC-V program into memory, checking all that the file says. */
#ifndef EMU_ENV_ELF_H
#define EMU_ENV_ELF_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "emu/mem/bytes.h"
#include "emu/sim/error.h"

/* Which of a segment's two addresses it is loaded at. */
enum elf_address {
    ELF_VIRTUAL,  /* p_vaddr: user programs */
    ELF_PHYSICAL, /* p_paddr: firmware, which runs before there are virtual addresses */
};

enum { ELF_SEGMENTS = 128 };

/* Guest addresses that a segment takes. */
struct elf_range {
    uint64_t first, end; /* end excluded */
};

/* What the file allows the program in a segment. */
enum { ELF_EXECUTE = 1, ELF_WRITE = 2, ELF_READ = 4 }; /* PF_X, PF_W, PF_R */

struct elf_program {
    /* Of segments in memory alone: the first guest address after the highest one, which is the initial program break (the
     * first of memory when there is none), and the lowest of a writable one (`end` when there is none). */
    uint64_t end, write_first;
    uint64_t entry;         /* guest address of the first instruction; even, within an executable segment */
    uint64_t headers;       /* guest address of the program headers, or 0 when no segment holds them */
    uint64_t headers_count; /* their number */
    size_t range_count;     /* 1 to ELF_SEGMENTS */
    struct elf_range ranges[ELF_SEGMENTS]; /* what was loaded; no two overlap */
    struct {
        uint64_t bytes_end;   /* guest address behind the file's bytes: zeros follow */
        unsigned permissions; /* set of ELF_READ, ELF_WRITE and ELF_EXECUTE */
    } contents[ELF_SEGMENTS]; /* of each range */
};

/* Copies the loadable segments of the file at `path` to memory and other holders of ordinary bytes, zeroes what they
 * have beyond the file's bytes (.bss), and fills *program. The entry is taken as it is, whatever the addresses, and must lie where a
 * segment is loaded. On failure err names the file, what is wrong with it and what is allowed; bytes may
 * then be partly written. */
bool elf_load(struct elf_program *program, const char *path, enum elf_address address,
              const struct bytes *bytes, struct error *err);

/* The same by physical addresses, into memory alone. */
bool elf_load_firmware(const char *path, const struct phys *memory, uint64_t *entry, struct error *err);

#endif
