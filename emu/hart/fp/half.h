/* IEEE 754 half-precision arithmetic on raw bits (Zfh). Like emu/hart/fp.h it accumulates exceptions in the host's MXCSR.
 * `mode` is a rounding mode, RM_RMM included; RM_DYN stands for the host's current one. */
#ifndef EMU_HART_FP_HALF_H
#define EMU_HART_FP_HALF_H

#include "emu/hart/fp.h"

uint16_t half_add(uint16_t a, uint16_t b, unsigned mode);
uint16_t half_sub(uint16_t a, uint16_t b, unsigned mode);
uint16_t half_mul(uint16_t a, uint16_t b, unsigned mode);
uint16_t half_div(uint16_t a, uint16_t b, unsigned mode);
uint16_t half_fma(uint16_t a, uint16_t b, uint16_t c, unsigned mode); /* a * b + c, rounded once */
uint16_t half_sqrt(uint16_t a, unsigned mode);
uint16_t half_from_f32(uint32_t a, unsigned mode);
uint16_t half_from_f64(uint64_t a, unsigned mode);
uint16_t half_from_i64(int64_t v, unsigned mode);
uint16_t half_from_u64(uint64_t v, unsigned mode);
uint16_t half_min(uint16_t a, uint16_t b);
uint16_t half_max(uint16_t a, uint16_t b);
uint64_t half_class(uint16_t a);

uint32_t half_to_f32(uint16_t a);
uint64_t half_to_f64(uint16_t a);

/* Returns the same value as a float; a signalling NaN remains one. */
uint32_t half_widen(uint16_t a);

#endif
