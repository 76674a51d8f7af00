/* A target for the gdb session without an emulator: registers, one page of memory, and a script of stops. */
#ifndef TESTS_DEBUG_GDB_FAKE_H
#define TESTS_DEBUG_GDB_FAKE_H

#include "emu/debug/gdb_session.h"

enum {
    FAKE_THREADS = 2,
    FAKE_BASE = 0x1000,
    FAKE_SIZE = 0x2800, /* two pages and a half: more than a packet holds */
    FAKE_MSTATUS = GDB_REGISTER_CSR + 0x300,
    FAKE_POINTS = 100, /* that the target has room for */
};

struct fake {
    uint64_t registers[FAKE_THREADS][GDB_REGISTER_GENERAL];
    uint64_t mstatus;
    uint8_t memory[FAKE_SIZE];
    unsigned breakpoints, watchpoints; /* inserted now */
    unsigned runs;
    struct gdb_action actions[FAKE_THREADS]; /* of the last run */
    struct gdb_stop next;                    /* what the next run ends with */
};

extern const struct gdb_target_ops fake_ops;

#endif
