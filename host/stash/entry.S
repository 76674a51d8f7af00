/* Entries of the runtime of <croft/stash.h> and <croft/dma.h>, called by threads with t0 as link register. */
#include "host/simt/leave.S"

    simt_leave_to croft_stash_software, stash_operate
    simt_leave_to croft_dma_software, stash_copy

    .section .note.GNU-stack, "", @progbits
