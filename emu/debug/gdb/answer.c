/* What the handlers of packets share: replies, and gdb's numbers of threads. */
#include "emu/debug/gdb/state.h"

void gdb_fail(struct gdb_session *session, enum gdb_error error)
{
    const uint8_t number = (uint8_t)error;
    session->reply.length = 0;
    gdb_reply_text(&session->reply, "E");
    gdb_reply_hex(&session->reply, &number, 1);
}

void gdb_ok(struct gdb_session *session)
{
    session->reply.length = 0;
    gdb_reply_text(&session->reply, "OK");
}

void gdb_session_send(struct gdb_session *session)
{
    session->frame_length = gdb_frame(&session->reply, session->frame);
    session->reply.length = 0;
    session->reply.full = false;
    if (session->attached)
        session->send(session->send_context, session->frame, session->frame_length);
}

static bool exists(const struct gdb_session *session, unsigned thread)
{
    const struct gdb_target *target = &session->target;
    return !target->ops->exists || target->ops->exists(target->target, thread);
}

unsigned gdb_thread_last(const struct gdb_session *session)
{
    return exists(session, session->last.thread) ? session->last.thread : 0;
}

bool gdb_thread_find(const struct gdb_session *session, int64_t thread, unsigned *index)
{
    if (thread == 0) {
        *index = gdb_thread_last(session);
        return true;
    }
    if (thread < 1 || thread > session->thread_count)
        return false;
    *index = (unsigned)(thread - 1);
    return exists(session, *index);
}
