/* The system calls with which a program runs threads on multiprocessors, shared by runtime (host/simt) and emulator:
 * isa/MANUAL.md, chapter SIMT. Programs use <croft/simt.h>. */
#ifndef CROFT_SIMT_CALL_H
#define CROFT_SIMT_CALL_H

#include <stdint.h>

/* System call numbers and their argument. */
enum simt_call {
    SIMT_CALL_LAUNCH = 464, /* address of a struct simt_launch_record */
    SIMT_CALL_WAIT = 465,   /* number of the launch, 0: all */
    SIMT_CALL_QUERY = 466,  /* an enum simt_query */
};

enum simt_query {
    SIMT_QUERY_COUNT = 0,      /* multiprocessors */
    SIMT_QUERY_WIDTH = 1,      /* threads of a warp */
    SIMT_QUERY_THREADS = 2,    /* threads of a block, at most */
    SIMT_QUERY_SCRATCHPAD = 3, /* bytes of a multiprocessor's scratchpad */
    SIMT_QUERY_STACK = 4,      /* bytes of a thread's stack */
    SIMT_QUERY_WARPS = 5,      /* warps that have stacks at the same time */
};

struct simt_launch_record {
    uint64_t entry, argument;
    uint32_t grid[3], block[3];
    uint32_t scratchpad; /* bytes */
    uint32_t registers;  /* 32-bit registers of a thread; 0: determined from the code */
    uint64_t queue;
};

#endif
