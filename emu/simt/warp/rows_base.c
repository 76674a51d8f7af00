/* The lane loops of warps for every x86-64 host. */
#define WARP_TABLE warp_rows_base
#include "emu/simt/warp/rows.h"
