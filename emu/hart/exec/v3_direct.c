/* The fast handlers for hosts of x86-64-v3: data accesses through the mirror of the address space, at full speed. */
#include "emu/hart/mmu/mirror.h"

#define EXEC_TABLE              exec_v3_direct
#define NOTE_COMPILER(compiler) mirror_note_compiler(compiler)
#include "emu/hart/exec/leave_plain.h"
#include "emu/hart/exec/window_direct.h"

#include "emu/hart/exec/handlers.h"
