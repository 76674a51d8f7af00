/* The fast handlers of privileged harts, for every x86-64 host. */
#define EXEC_TABLE  exec_base_tlb
#define EXEC_PAGED  NULL
#define EXEC_TRACED &exec_base_tlb_traced
#include "emu/hart/leave_plain.h"
#include "emu/hart/window_tlb.h"

#include "emu/hart/exec_fast.h"
