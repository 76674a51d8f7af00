#include "tests/hart/oracle/known.h"

#include <string.h>

#include "tests/isa/encode.h"

/* Returns the replacement, or 0 if there is none. */
static uint32_t replacement(const struct insn *insn)
{
    struct operands o = {insn->rd, insn->rs1, insn->rs2, 0, 0, insn->imm};
    if (insn->id == INSN_czero_eqz || insn->id == INSN_czero_nez) {
        o.rs2 = KNOWN_MASK;
        return encode(INSN_and, &o);
    }
    if (insn->compressed && compressed_table[insn->compressed - 1].extension == EXTENSION_Zcb)
        return encode((enum insn_id)insn->id, &o);
    return 0;
}

void known_batch(const struct decoder *decoder, const struct batch *from, struct batch *to)
{
    memcpy(to, from, sizeof *to);
    for (uint64_t i = 0; i < to->count; i++) {
        for (unsigned at = 0; at + 4 <= BATCH_CODE_BYTES;) {
            uint32_t bits;
            memcpy(&bits, to->code[i] + at, sizeof bits);
            const struct insn insn = decode(decoder, bits);
            const uint32_t other = replacement(&insn);
            if (other)
                memcpy(to->code[i] + at, &other, sizeof other);
            at += other ? 4 : insn.length;
        }
    }
}
