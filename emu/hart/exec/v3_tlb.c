/* The fast handlers for hosts of x86-64-v3 (AVX2, BMI, FMA): data accesses through the TLB, at full speed. */
#define EXEC_TABLE exec_v3_tlb
#include "emu/hart/exec/leave_plain.h"
#include "emu/hart/exec/window_tlb.h"

#include "emu/hart/exec/handlers.h"
