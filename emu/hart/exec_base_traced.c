/* The tracing fast handlers of harts without translation, for every x86-64 host. */
#define EXEC_TABLE  exec_base_traced
#define EXEC_PAGED  &exec_base_tlb_traced
#define EXEC_TRACED NULL
#include "emu/hart/leave_traced.h"
#include "emu/hart/window.h"

#include "emu/hart/exec_fast.h"
