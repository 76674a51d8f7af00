/* The fast handlers of harts without translation, for hosts with AVX2, BMI and FMA: emu/emu.mk compiles this
 * file with -march=x86-64-v3. */
#define EXEC_TABLE  exec_v3
#define EXEC_PAGED  &exec_v3_tlb
#define EXEC_TRACED &exec_v3_traced
#include "emu/hart/leave_plain.h"
#include "emu/hart/window.h"

#include "emu/hart/exec_fast.h"
