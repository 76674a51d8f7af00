/* The fast handlers for any x86-64 host: data accesses through the TLB, at full speed. */
#define EXEC_TABLE exec_base_tlb
#include "emu/hart/exec/leave_plain.h"
#include "emu/hart/exec/window_tlb.h"

#include "emu/hart/exec/handlers.h"
