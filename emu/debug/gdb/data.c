/* gdb packets that read and write registers and memory and that insert and remove breakpoints and
 * watchpoints. */
#include "emu/debug/gdb/state.h"

enum {
    READ_MAX = GDB_PACKET / 2, /* largest memory read in one reply, in bytes */
    PAGE = 4096,
};

static bool read_register(struct gdb_session *session, unsigned number, uint64_t *value)
{
    const struct gdb_target *target = &session->target;
    return target->ops->register_read(target->target, session->thread, number, value);
}

static bool write_register(struct gdb_session *session, unsigned number, uint64_t value)
{
    const struct gdb_target *target = &session->target;
    return target->ops->register_write(target->target, session->thread, number, value);
}

/* Replies `x` digits, which mean "unavailable" to gdb, for a register that the target lacks. */
static void reply_register(struct gdb_session *session, unsigned number)
{
    uint64_t value;
    if (read_register(session, number, &value))
        gdb_reply_register(&session->reply, value);
    else
        gdb_reply_text(&session->reply, "xxxxxxxxxxxxxxxx");
}

void gdb_read_general(struct gdb_session *session, struct gdb_cursor *in)
{
    if (!gdb_at_end(in)) {
        gdb_fail(session, GDB_MALFORMED);
        return;
    }
    for (unsigned i = 0; i < GDB_REGISTER_GENERAL; i++)
        reply_register(session, i);
}

void gdb_write_general(struct gdb_session *session, struct gdb_cursor *in)
{
    uint64_t values[GDB_REGISTER_GENERAL];
    unsigned count = 0;
    while (!gdb_at_end(in) && count < GDB_REGISTER_GENERAL && gdb_take_register(in, &values[count]))
        count++;
    if (count == 0 || !gdb_at_end(in)) {
        gdb_fail(session, GDB_MALFORMED);
        return;
    }
    gdb_ok(session);
    for (unsigned i = 0; i < count; i++) {
        if (!write_register(session, i, values[i]))
            gdb_fail(session, GDB_MALFORMED);
    }
}

void gdb_read_register(struct gdb_session *session, struct gdb_cursor *in)
{
    uint64_t number;
    if (!gdb_take_number(in, &number) || !gdb_at_end(in) || number > GDB_REGISTER_PRIV)
        gdb_fail(session, GDB_MALFORMED);
    else
        reply_register(session, (unsigned)number);
}

void gdb_write_register(struct gdb_session *session, struct gdb_cursor *in)
{
    uint64_t number, value;
    if (gdb_take_number(in, &number) && number <= GDB_REGISTER_PRIV && gdb_take_text(in, "=") &&
        gdb_take_register(in, &value) && gdb_at_end(in) && write_register(session, (unsigned)number, value))
        gdb_ok(session);
    else
        gdb_fail(session, GDB_MALFORMED);
}

/* Parses `address,length`. */
static bool take_range(struct gdb_cursor *in, uint64_t *address, uint64_t *length)
{
    return gdb_take_number(in, address) && gdb_take_text(in, ",") && gdb_take_number(in, length);
}

/* Reads page by page, so that the bytes before an unmapped page are returned. Returns the number of bytes
 * read. */
static size_t read_memory(struct gdb_session *session, uint64_t address, uint8_t *to, size_t length)
{
    const struct gdb_target *target = &session->target;
    size_t done = 0;
    while (done < length) {
        size_t part = PAGE - (size_t)((address + done) % PAGE);
        if (part > length - done)
            part = length - done;
        if (!target->ops->memory_read(target->target, session->thread, address + done, to + done, part))
            break;
        done += part;
    }
    return done;
}

void gdb_read_memory(struct gdb_session *session, struct gdb_cursor *in)
{
    uint8_t bytes[READ_MAX];
    uint64_t address, length;
    if (!take_range(in, &address, &length) || !gdb_at_end(in)) {
        gdb_fail(session, GDB_MALFORMED);
        return;
    }
    if (length > READ_MAX)
        length = READ_MAX;
    size_t done = read_memory(session, address, bytes, (size_t)length);
    if (done == 0 && length > 0)
        gdb_fail(session, GDB_NOT_MAPPED);
    else
        gdb_reply_hex(&session->reply, bytes, done);
}

static void write_memory(struct gdb_session *session, uint64_t address, const void *bytes, size_t length)
{
    const struct gdb_target *target = &session->target;
    if (length == 0 || target->ops->memory_write(target->target, session->thread, address, bytes, length))
        gdb_ok(session);
    else
        gdb_fail(session, GDB_NOT_MAPPED);
}

void gdb_write_memory(struct gdb_session *session, struct gdb_cursor *in)
{
    uint8_t bytes[GDB_PACKET / 2];
    uint64_t address, length;
    if (take_range(in, &address, &length) && gdb_take_text(in, ":") && length <= sizeof bytes &&
        gdb_left(in) == 2 * length && gdb_take_hex(in, bytes, (size_t)length))
        write_memory(session, address, bytes, (size_t)length);
    else
        gdb_fail(session, GDB_MALFORMED);
}

void gdb_write_binary(struct gdb_session *session, struct gdb_cursor *in)
{
    uint64_t address, length;
    if (take_range(in, &address, &length) && gdb_take_text(in, ":") && gdb_left(in) == length)
        write_memory(session, address, in->at, (size_t)length);
    else
        gdb_fail(session, GDB_MALFORMED);
}

/* Parses `kind,address,length`. gdb appends conditions and commands only if the server advertises them; this
 * one does not. */
static bool take_point(struct gdb_cursor *in, struct gdb_point *point)
{
    uint64_t kind;
    if (!gdb_take_number(in, &kind) || kind >= GDB_POINT_KINDS || !gdb_take_text(in, ","))
        return false;
    point->kind = (enum gdb_point_kind)kind;
    return take_range(in, &point->address, &point->length) && gdb_at_end(in);
}

void gdb_insert_point(struct gdb_session *session, struct gdb_cursor *in)
{
    struct gdb_point point;
    if (!take_point(in, &point))
        gdb_fail(session, GDB_MALFORMED);
    else if (!gdb_points_insert(&session->points, &session->target, &point))
        gdb_fail(session, GDB_NO_MEMORY);
    else
        gdb_ok(session);
}

void gdb_remove_point(struct gdb_session *session, struct gdb_cursor *in)
{
    struct gdb_point point;
    if (!take_point(in, &point))
        gdb_fail(session, GDB_MALFORMED);
    else if (!gdb_points_remove(&session->points, &session->target, &point))
        gdb_fail(session, GDB_IO);
    else
        gdb_ok(session);
}
