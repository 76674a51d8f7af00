/* From the bits of an instruction to its row and operands. */
#ifndef ISA_DECODE_H
#define ISA_DECODE_H

#include <stdint.h>

#include "isa/insn.h"

struct decoder;

/* An index over isa/rows.def and isa/compressed.def; never NULL. Free with decoder_free(). */
struct decoder *decoder_new(void);
void decoder_free(struct decoder *decoder);

/* Decodes the instruction whose first bytes are the low end of `bits` (little endian; 16 valid bits suffice
 * for a compressed one). Compressed instructions come back expanded, with their own length and bits. An
 * encoding that no row matches comes back with id INSN_illegal and the length that its low bits announce (2
 * or 4). */
struct insn decode(const struct decoder *decoder, uint32_t bits);

#endif
