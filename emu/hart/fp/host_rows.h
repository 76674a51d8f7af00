/* Floating-point accessors for rows that are evaluated in the host's environment, rounding to nearest even; conversions
 * to integers use the instruction's mode in `rm`. Included by files that expand rows, which define f32_fma() and
 * f64_fma(). For rows evaluated in any mode: emu/hart/fp/rows.h. */
#define f64_add       host_f64_add
#define f64_sub       host_f64_sub
#define f64_mul       host_f64_mul
#define f64_div       host_f64_div
#define f64_sqrt      host_f64_sqrt
#define f64_min       host_f64_min
#define f64_max       host_f64_max
#define f64_eq        host_f64_eq
#define f64_lt        host_f64_lt
#define f64_le        host_f64_le
#define f64_class     host_f64_class
#define f64_to_i32(a) host_f64_to_i32(a, rm)
#define f64_to_u32(a) host_f64_to_u32(a, rm)
#define f64_to_i64(a) host_f64_to_i64(a, rm)
#define f64_to_u64(a) host_f64_to_u64(a, rm)
#define f64_from_i32  host_f64_from_i32
#define f64_from_u32  host_f64_from_u32
#define f64_from_i64  host_f64_from_i64
#define f64_from_u64  host_f64_from_u64
#define f64_to_f32    host_f64_to_f32
#define f32_to_f64    host_f32_to_f64
#define f32_add       host_f32_add
#define f32_sub       host_f32_sub
#define f32_mul       host_f32_mul
#define f32_div       host_f32_div
#define f32_sqrt      host_f32_sqrt
#define f32_min       host_f32_min
#define f32_max       host_f32_max
#define f32_eq        host_f32_eq
#define f32_lt        host_f32_lt
#define f32_le        host_f32_le
#define f32_class     host_f32_class
#define f32_to_i32(a) host_f32_to_i32(a, rm)
#define f32_to_u32(a) host_f32_to_u32(a, rm)
#define f32_to_i64(a) host_f32_to_i64(a, rm)
#define f32_to_u64(a) host_f32_to_u64(a, rm)
#define f32_from_i32  host_f32_from_i32
#define f32_from_u32  host_f32_from_u32
#define f32_from_i64  host_f32_from_i64
#define f32_from_u64  host_f32_from_u64
#define HALF_MODE     RM_DYN
#define HALF_TOWARDS  rm
#include "emu/hart/fp/half_rows.h"
