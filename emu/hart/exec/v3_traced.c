/* The fast handlers for hosts of x86-64-v3 (AVX2, BMI, FMA): data accesses through the window on memory, leaving a trace. */
#define EXEC_TABLE exec_v3_traced
#include "emu/hart/exec/leave_traced.h"
#include "emu/hart/exec/window.h"

#include "emu/hart/exec/handlers.h"
