/* The fast handlers of privileged harts, for hosts with AVX2, BMI and FMA: emu/emu.mk compiles this file with
 * -march=x86-64-v3. */
#define EXEC_TABLE  exec_v3_tlb
#define EXEC_PAGED  NULL
#define EXEC_TRACED &exec_v3_tlb_traced
#include "emu/hart/leave_plain.h"
#include "emu/hart/window_tlb.h"

#include "emu/hart/exec_fast.h"
