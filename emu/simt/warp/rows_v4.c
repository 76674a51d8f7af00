/* The lane loops of warps for hosts with AVX-512 (F, BW, CD, DQ, VL): emu/emu.mk compiles this file with -march=x86-64-v4 and
 * vectors of 512 bits. */
#define WARP_TABLE warp_rows_v4
#include "emu/simt/warp/rows.h"
