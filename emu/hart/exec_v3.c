/* The fast handlers for hosts with AVX2, BMI and FMA (-march=x86-64-v3 in emu/emu.mk): data accesses through the window on memory, at full speed. */
#define EXEC_TABLE exec_v3
#include "emu/hart/leave_plain.h"
#include "emu/hart/window.h"

#include "emu/hart/exec_fast.h"
