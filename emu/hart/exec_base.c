/* The fast handlers of harts without translation, for every x86-64 host. */
#define EXEC_TABLE  exec_base
#define EXEC_PAGED  &exec_base_tlb
#define EXEC_TRACED &exec_base_traced
#include "emu/hart/leave_plain.h"
#include "emu/hart/window.h"

#include "emu/hart/exec_fast.h"
