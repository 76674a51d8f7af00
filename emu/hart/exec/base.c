/* The fast handlers for any x86-64 host: data accesses through the window on memory, at full speed. */
#define EXEC_TABLE exec_base
#include "emu/hart/exec/leave_plain.h"
#include "emu/hart/exec/window.h"

#include "emu/hart/exec/handlers.h"
