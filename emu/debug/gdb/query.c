/* gdb's q and Q packets: queries about the target and settings of the connection. */
#include <stdlib.h>
#include <string.h>

#include "emu/debug/gdb/monitor.h"
#include "emu/debug/gdb/state.h"

enum {
    COMMAND_MAX = 256,                   /* longest monitor command in bytes, including the final zero */
    CONSOLE_PART = (GDB_PACKET - 1) / 2, /* bytes of text in one O packet */
    DESCRIPTION = 128,
};

static void query_supported(struct gdb_session *session, struct gdb_cursor *in)
{
    static const char feature[] = "swbreak+";
    const char *at = in->at;
    while (at < in->end && !session->names_breaks) {
        session->names_breaks =
            (size_t)(in->end - at) >= strlen(feature) && memcmp(at, feature, strlen(feature)) == 0;
        at++;
    }
    gdb_reply_text(&session->reply, "PacketSize=");
    gdb_reply_number(&session->reply, GDB_PACKET);
    gdb_reply_text(&session->reply,
                   ";QStartNoAckMode+;qXfer:features:read+;vContSupported+;swbreak+;hwbreak+");
    if (session->memory_map)
        gdb_reply_text(&session->reply, ";qXfer:memory-map:read+");
}

/* Parses `annex:offset,length`, and replies with that part of the text. */
static void reply_part(struct gdb_session *session, struct gdb_cursor *in, const char *annex,
                       const char *text, size_t size)
{
    uint64_t offset, length;
    if (!gdb_take_text(in, annex) || !gdb_take_number(in, &offset) || !gdb_take_text(in, ",") ||
        !gdb_take_number(in, &length) || !gdb_at_end(in) || offset > size) {
        gdb_fail(session, GDB_MALFORMED);
        return;
    }
    uint64_t left = size - offset;
    if (length > GDB_PACKET / 2) /* leave room for escapes */
        length = GDB_PACKET / 2;
    gdb_reply_text(&session->reply, left > length ? "m" : "l");
    gdb_reply_bytes(&session->reply, text + offset, (size_t)(left < length ? left : length));
}

static void query_features(struct gdb_session *session, struct gdb_cursor *in)
{
    reply_part(session, in, "target.xml:", session->description, session->description_length);
}

/* Replies with a part of the memory map. An empty reply means that the packet is not supported. */
static void query_memory_map(struct gdb_session *session, struct gdb_cursor *in)
{
    if (session->memory_map)
        reply_part(session, in, ":", session->memory_map, session->memory_map_length);
}

static void query_current(struct gdb_session *session, struct gdb_cursor *in)
{
    (void)in;
    gdb_reply_text(&session->reply, "QC");
    gdb_reply_number(&session->reply, session->thread + 1);
}

/* Lists as many threads as fit in one packet. */
static void query_more_threads(struct gdb_session *session, struct gdb_cursor *in)
{
    enum { NUMBER = 9 }; /* bytes of a separator and a number */
    const struct gdb_target *target = &session->target;
    (void)in;
    for (; session->to_list < session->thread_count && session->reply.length + NUMBER < GDB_PACKET;
         session->to_list++) {
        if (target->ops->listed && !target->ops->listed(target->target, session->to_list))
            continue;
        gdb_reply_text(&session->reply, session->reply.length == 0 ? "m" : ",");
        gdb_reply_number(&session->reply, session->to_list + 1);
    }
    if (session->reply.length == 0)
        gdb_reply_text(&session->reply, "l");
}

static void query_threads(struct gdb_session *session, struct gdb_cursor *in)
{
    session->to_list = 0;
    query_more_threads(session, in);
}

static void query_thread_text(struct gdb_session *session, struct gdb_cursor *in)
{
    char text[DESCRIPTION] = "";
    int64_t thread;
    unsigned index;
    if (!gdb_take_thread(in, &thread) || !gdb_at_end(in)) {
        gdb_fail(session, GDB_MALFORMED);
    } else if (thread < 1 || !gdb_thread_find(session, thread, &index)) {
        gdb_fail(session, GDB_NO_SUCH_THREAD);
    } else {
        session->target.ops->thread_describe(session->target.target, index, text, sizeof text);
        gdb_reply_hex(&session->reply, text, strlen(text));
    }
}

/* Replies "attached", so that gdb leaves the program running when the user quits. */
static void query_attached(struct gdb_session *session, struct gdb_cursor *in)
{
    (void)in;
    gdb_reply_text(&session->reply, "1");
}

static void query_symbol(struct gdb_session *session, struct gdb_cursor *in)
{
    (void)in;
    gdb_ok(session); /* OK means that no symbol is requested */
}

static void query_command(struct gdb_session *session, struct gdb_cursor *in)
{
    char line[COMMAND_MAX] = "";
    size_t size = gdb_left(in) / 2, length;
    if (size >= sizeof line || gdb_left(in) % 2 != 0 || !gdb_take_hex(in, line, size)) {
        gdb_fail(session, GDB_MALFORMED);
        return;
    }
    char *text = gdb_monitor(&session->target, session->selected, line, &length);
    for (size_t done = 0; done < length;) {
        size_t part = length - done < CONSOLE_PART ? length - done : CONSOLE_PART;
        gdb_reply_text(&session->reply, "O");
        gdb_reply_hex(&session->reply, text + done, part);
        gdb_session_send(session);
        done += part;
    }
    free(text);
    gdb_ok(session);
}

struct query {
    const char *name; /* includes the separator if arguments follow */
    gdb_handler *run;
};

static const struct query queries[] = {
    {"Supported", query_supported},
    {"Xfer:features:read:", query_features},
    {"Xfer:memory-map:read:", query_memory_map},
    {"C", query_current},
    {"fThreadInfo", query_threads},
    {"sThreadInfo", query_more_threads},
    {"ThreadExtraInfo,", query_thread_text},
    {"Attached", query_attached},
    {"Symbol:", query_symbol},
    {"Rcmd,", query_command},
};

static bool separates(char c)
{
    return c == ':' || c == ';' || c == ',';
}

/* A name ends at the end of the packet or at a separator, so that `qC` does not match `qCRC`. */
static bool matches(const struct query *query, struct gdb_cursor in)
{
    if (!gdb_take_text(&in, query->name))
        return false;
    return gdb_at_end(&in) || separates(in.at[-1]) || separates(*in.at);
}

void gdb_query(struct gdb_session *session, struct gdb_cursor *in)
{
    for (size_t i = 0; i < sizeof queries / sizeof queries[0]; i++) {
        if (!matches(&queries[i], *in))
            continue;
        in->at += strlen(queries[i].name);
        queries[i].run(session, in);
        return;
    }
}

void gdb_set(struct gdb_session *session, struct gdb_cursor *in)
{
    if (!gdb_take_text(in, "StartNoAckMode") || !gdb_at_end(in))
        return;
    gdb_ok(session);
    gdb_session_send(session); /* gdb still acknowledges this reply */
    session->silent = true;
    session->acks = false;
}
