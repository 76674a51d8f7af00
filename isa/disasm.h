/* Prints instructions as text, spelt as by GNU objdump -M no-aliases. */
#ifndef ISA_DISASM_H
#define ISA_DISASM_H

#include <stddef.h>
#include <stdint.h>

#include "isa/insn.h"

/* Writes the mnemonic, a tab and the operands of insn, located at address pc, to text[size]. Branch targets are plain
 * hexadecimal addresses (0x80000010). Unknown encodings become `.2byte 0x...` or `.4byte 0x...`. The HINTs of our
 * extensions are named (nucd, tom.begin, marker); GNU objdump prints them as base instructions. */
void disasm(const struct insn *insn, uint64_t pc, char *text, size_t size);

/* The ABI name of integer register 0-31 ("a0"). */
extern const char *const register_name[32];
/* The ABI name of floating-point register 0-31 ("fa0"). */
extern const char *const fp_register_name[32];

/* The name of a CSR ("fcsr"), or NULL when the number is not in isa/csr.def. */
const char *csr_name(unsigned number);

#endif
