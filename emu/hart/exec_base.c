/* The fast handlers for any x86-64 host: data accesses through the window on memory, at full speed. */
#define EXEC_TABLE exec_base
#include "emu/hart/leave_plain.h"
#include "emu/hart/window.h"

#include "emu/hart/exec_fast.h"
