/* Sets of extensions, and the ISA strings that name them (unprivileged specification, chapter "ISA Extension Naming
 * Conventions"). A set has a bit for each enum insn_extension. */
#ifndef ISA_DECODER_SET_H
#define ISA_DECODER_SET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "isa/insn.h"

enum { ISA_STRING = 256, ISA_MESSAGE = 640 }; /* sizes of the texts below */

static inline bool isa_has(uint64_t set, enum insn_extension extension)
{
    return set >> extension & 1;
}

/* Returns whether harts with these extensions execute the row: it needs its own, and D if it is of double precision. */
static inline bool isa_has_row(uint64_t set, const struct insn_info *info)
{
    return isa_has(set, (enum insn_extension)info->extension) &&
           (info->precision != PRECISION_D || isa_has(set, EXTENSION_D));
}

/* Returns all extensions that harts have. */
uint64_t isa_all(void);

/* Parses an ISA string (rv64gc_zba), a profile's name (rva22u64, rva22u64_zfh) or "all"; capitals count as small letters,
 * version numbers are ignored. *set becomes the named extensions, those that they need, the privileged architecture and our
 * own extensions, which ISA strings do not choose. Returns false, with what is wrong and what is known in `message`, for
 * anything else. */
bool isa_parse(const char *text, uint64_t *set, char message[ISA_MESSAGE]);

/* Writes the set as a canonical ISA string. */
void isa_string(uint64_t set, char text[ISA_STRING]);

/* Writes the extension's name in ISA strings. Returns false if it has none. */
bool isa_extension_text(enum insn_extension extension, char text[INSN_NAME_SIZE]);

/* Returns the value of misa for harts with machine, supervisor and user mode. */
uint64_t isa_misa(uint64_t set);

#endif
