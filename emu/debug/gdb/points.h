/* The breakpoints and watchpoints that gdb has inserted. */
#ifndef EMU_DEBUG_GDB_POINTS_H
#define EMU_DEBUG_GDB_POINTS_H

#include "emu/debug/gdb_target.h"

enum { GDB_POINTS = 256, GDB_WATCH_LENGTH = 4096 /* longest watchpoint in bytes */ };

/* The digit after Z and z in the packet. */
enum gdb_point_kind {
    GDB_POINT_SOFT,
    GDB_POINT_HARD,
    GDB_POINT_WRITE,
    GDB_POINT_READ,
    GDB_POINT_ACCESS,
    GDB_POINT_KINDS
};

struct gdb_point {
    enum gdb_point_kind kind;
    uint64_t address, length; /* length: bytes watched; ignored for a breakpoint */
};

struct gdb_points {
    unsigned count;
    struct gdb_point points[GDB_POINTS];
};

/* Inserting an existing point and removing a missing one succeed and do nothing. Inserting fails when the
 * table or the target is full or the point is invalid: a watchpoint of 0 or more than GDB_WATCH_LENGTH bytes
 * or past the end of the address space, or a breakpoint at an odd address. */
bool gdb_points_insert(struct gdb_points *points, const struct gdb_target *target,
                       const struct gdb_point *point);
bool gdb_points_remove(struct gdb_points *points, const struct gdb_target *target,
                       const struct gdb_point *point);
void gdb_points_clear(struct gdb_points *points, const struct gdb_target *target);

/* Returns the point that caused the stop (GDB_STOP_BREAK or GDB_STOP_WATCH), or NULL. */
const struct gdb_point *gdb_points_find(const struct gdb_points *points, const struct gdb_stop *stop);

#endif
