/* The rows' functions for the host, which the quick compiler's code calls where it has no micro-operations. */
#define ROWS_NATIVE
#include "emu/jit/rows.c"
