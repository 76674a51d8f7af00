/* The fast handlers for hosts with AVX2, BMI and FMA (-march=x86-64-v3 in emu/emu.mk): data accesses through the TLB, leaving a trace. */
#define EXEC_TABLE exec_v3_tlb_traced
#include "emu/hart/leave_traced.h"
#include "emu/hart/window_tlb.h"

#include "emu/hart/exec_fast.h"
