/* The fast handlers for any x86-64 host: data accesses through the window on memory, leaving a trace. */
#define EXEC_TABLE exec_base_traced
#include "emu/hart/exec/leave_traced.h"
#include "emu/hart/exec/window.h"

#include "emu/hart/exec/handlers.h"
