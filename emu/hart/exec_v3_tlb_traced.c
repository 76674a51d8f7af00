/* The tracing fast handlers of privileged harts, for hosts with AVX2, BMI and FMA: emu/emu.mk compiles this
 * file with -march=x86-64-v3. */
#define EXEC_TABLE  exec_v3_tlb_traced
#define EXEC_PAGED  NULL
#define EXEC_TRACED NULL
#include "emu/hart/leave_traced.h"
#include "emu/hart/window_tlb.h"

#include "emu/hart/exec_fast.h"
