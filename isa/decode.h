/* Decodes the bits of an instruction into its row and operands. */
#ifndef ISA_DECODE_H
#define ISA_DECODE_H

#include <stdint.h>

#include "isa/insn.h"

struct decoder;

/* Makes an index over isa/rows.def and isa/compressed.def; never NULL. Free it with decoder_free(). */
struct decoder *decoder_new(void);
/* The same for harts with these extensions (isa/decoder/set.h): instructions of others are illegal, HINTs of others are what their
 * base row says. */
struct decoder *decoder_new_for(uint64_t extensions);
uint64_t decoder_extensions(const struct decoder *decoder);
void decoder_free(struct decoder *decoder);

/* Decodes the instruction in the low bits of `bits` (little endian; a compressed one needs only 16 valid bits). A
 * compressed instruction is returned as its expansion, with its own length and bits. An encoding that matches no row is
 * returned with id INSN_illegal and the length that its low bits encode (2 or 4). */
struct insn decode(const struct decoder *decoder, uint32_t bits);

#endif
