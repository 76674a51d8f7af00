/* The fast handlers for any x86-64 host: data accesses through the TLB, leaving a trace. */
#define EXEC_TABLE exec_base_tlb_traced
#include "emu/hart/exec/leave_traced.h"
#include "emu/hart/exec/window_tlb.h"

#include "emu/hart/exec/handlers.h"
