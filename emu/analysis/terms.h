/* Sums of registers: terms in the order of registers, each with its factor, which is not 0. */
#ifndef EMU_ANALYSIS_TERMS_H
#define EMU_ANALYSIS_TERMS_H

#include <stdbool.h>
#include <stdint.h>

/* Adds factor times a register to a sum of *terms terms. Returns false if it would have more than `room`. */
static inline bool terms_add(uint8_t *regs, int64_t *factors, unsigned *terms, unsigned room, unsigned reg,
                             int64_t factor)
{
    unsigned i = 0;
    while (i < *terms && regs[i] < reg)
        i++;
    if (i < *terms && regs[i] == reg) {
        factors[i] += factor;
        if (factors[i] != 0)
            return true;
        for (--*terms; i < *terms; i++) {
            regs[i] = regs[i + 1];
            factors[i] = factors[i + 1];
        }
        return true;
    }
    if (*terms == room)
        return false;
    for (unsigned j = (*terms)++; j > i; j--) {
        regs[j] = regs[j - 1];
        factors[j] = factors[j - 1];
    }
    regs[i] = (uint8_t)reg;
    factors[i] = factor;
    return true;
}

#endif
