/* The tracing fast handlers of privileged harts, for every x86-64 host. */
#define EXEC_TABLE  exec_base_tlb_traced
#define EXEC_PAGED  NULL
#define EXEC_TRACED NULL
#include "emu/hart/leave_traced.h"
#include "emu/hart/window_tlb.h"

#include "emu/hart/exec_fast.h"
