/* The fast handlers for every x86-64 host. */
#define EXEC_TABLE exec_base
#include "emu/hart/exec_fast.h"
