#include "emu/debug/gdb/points.h"

enum { WIDEST_ACCESS = 8 };

static const unsigned watch_kinds[GDB_POINT_KINDS] = {
    [GDB_POINT_WRITE] = GDB_WATCH_WRITE,
    [GDB_POINT_READ] = GDB_WATCH_READ,
    [GDB_POINT_ACCESS] = GDB_WATCH_READ | GDB_WATCH_WRITE,
};

static bool is_watch(const struct gdb_point *point)
{
    return watch_kinds[point->kind] != 0;
}

static bool same(const struct gdb_point *a, const struct gdb_point *b)
{
    return a->kind == b->kind && a->address == b->address && (!is_watch(a) || a->length == b->length);
}

/* Returns true if another breakpoint at this address exists: the target does not distinguish hardware from
 * software breakpoints. */
static bool shared(const struct gdb_points *points, const struct gdb_point *point)
{
    for (unsigned i = 0; i < points->count && !is_watch(point); i++) {
        if (!is_watch(&points->points[i]) && points->points[i].address == point->address)
            return true;
    }
    return false;
}

static bool tell(const struct gdb_target *target, const struct gdb_point *point, bool insert)
{
    if (is_watch(point))
        return target->ops->watchpoint(target->target, insert, point->address, point->length,
                                       watch_kinds[point->kind]);
    return target->ops->breakpoint(target->target, insert, point->address);
}

bool gdb_points_insert(struct gdb_points *points, const struct gdb_target *target,
                       const struct gdb_point *point)
{
    for (unsigned i = 0; i < points->count; i++) {
        if (same(&points->points[i], point))
            return true;
    }
    if (points->count == GDB_POINTS)
        return false;
    if (is_watch(point) && (point->length == 0 || point->length > GDB_WATCH_LENGTH ||
                            point->address > UINT64_MAX - (point->length - 1)))
        return false;
    if (!is_watch(point) && point->address % 2 != 0)
        return false;
    if (!shared(points, point) && !tell(target, point, true))
        return false;
    points->points[points->count++] = *point;
    return true;
}

bool gdb_points_remove(struct gdb_points *points, const struct gdb_target *target,
                       const struct gdb_point *point)
{
    for (unsigned i = 0; i < points->count; i++) {
        if (!same(&points->points[i], point))
            continue;
        points->points[i] = points->points[--points->count];
        return shared(points, point) || tell(target, point, false);
    }
    return true;
}

void gdb_points_clear(struct gdb_points *points, const struct gdb_target *target)
{
    while (points->count > 0) {
        const struct gdb_point last = points->points[points->count - 1];
        (void)gdb_points_remove(points, target, &last);
    }
}

/* Returns true if the access at stop->address hits the watchpoint. The access width is unknown, so a
 * watchpoint less than WIDEST_ACCESS bytes above the address counts as hit. */
static bool watches(const struct gdb_point *point, const struct gdb_stop *stop)
{
    unsigned kind = stop->write ? GDB_WATCH_WRITE : GDB_WATCH_READ;
    if (!(watch_kinds[point->kind] & kind))
        return false;
    if (stop->address < point->address)
        return point->address - stop->address < WIDEST_ACCESS;
    return stop->address - point->address < point->length;
}

const struct gdb_point *gdb_points_find(const struct gdb_points *points, const struct gdb_stop *stop)
{
    const struct gdb_point *near = NULL;
    for (unsigned i = 0; i < points->count; i++) {
        const struct gdb_point *point = &points->points[i];
        if (stop->kind == GDB_STOP_BREAK && !is_watch(point) && point->address == stop->address)
            return point;
        if (stop->kind != GDB_STOP_WATCH || !watches(point, stop))
            continue;
        if (stop->address >= point->address)
            return point;
        near = point;
    }
    return near;
}
