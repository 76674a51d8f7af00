/* The breakpoints and watchpoints that gdb has inserted. */
#ifndef EMU_DEBUG_GDB_POINTS_H
#define EMU_DEBUG_GDB_POINTS_H

#include "emu/debug/gdb_target.h"

enum { GDB_POINTS = 256, GDB_WATCH_LENGTH = 4096 /* bytes of the longest watchpoint */ };

/* The digit after Z and z. */
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
    uint64_t address, length; /* length: watched bytes; of a breakpoint it does not matter */
};

struct gdb_points {
    unsigned count;
    struct gdb_point points[GDB_POINTS];
};

/* Inserting what is there already, and removing what is not, succeed and do nothing. Inserting fails when the
 * table or the target is full or the point makes no sense. */
bool gdb_points_insert(struct gdb_points *points, const struct gdb_target *target,
                       const struct gdb_point *point);
bool gdb_points_remove(struct gdb_points *points, const struct gdb_target *target,
                       const struct gdb_point *point);
void gdb_points_clear(struct gdb_points *points, const struct gdb_target *target);

/* The point that explains the stop (GDB_STOP_BREAK or GDB_STOP_WATCH), or NULL. */
const struct gdb_point *gdb_points_find(const struct gdb_points *points, const struct gdb_stop *stop);

#endif
