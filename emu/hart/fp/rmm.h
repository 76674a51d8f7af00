/* Arithmetic that rounds to nearest, ties to max magnitude (RMM), which the host's SSE unit cannot do.
 *
 * Operands and results are raw bits; NaN results are canonical; flags are raised as by the functions of fp.h. Square
 * roots are never ties, so RMM equals RNE and no function is needed. */
#ifndef EMU_HART_FP_RMM_H
#define EMU_HART_FP_RMM_H

#include <stdint.h>

uint64_t rmm_f64_add(uint64_t a, uint64_t b);
uint64_t rmm_f64_sub(uint64_t a, uint64_t b);
uint64_t rmm_f64_mul(uint64_t a, uint64_t b);
uint64_t rmm_f64_div(uint64_t a, uint64_t b);
uint64_t rmm_f64_fma(uint64_t a, uint64_t b, uint64_t c);
uint64_t rmm_f64_from_i64(int64_t v);
uint64_t rmm_f64_from_u64(uint64_t v);

uint32_t rmm_f32_add(uint32_t a, uint32_t b);
uint32_t rmm_f32_sub(uint32_t a, uint32_t b);
uint32_t rmm_f32_mul(uint32_t a, uint32_t b);
uint32_t rmm_f32_div(uint32_t a, uint32_t b);
uint32_t rmm_f32_fma(uint32_t a, uint32_t b, uint32_t c);
uint32_t rmm_f32_from_i32(int32_t v);
uint32_t rmm_f32_from_u32(uint32_t v);
uint32_t rmm_f32_from_i64(int64_t v);
uint32_t rmm_f32_from_u64(uint64_t v);
uint32_t rmm_f64_to_f32(uint64_t a);

#endif
