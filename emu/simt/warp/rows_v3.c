/* The lane loops of warps for hosts with AVX2, BMI and FMA: emu/emu.mk compiles this file with
 * -march=x86-64-v3. */
#define WARP_TABLE warp_rows_v3
#include "emu/simt/warp/rows.h"
