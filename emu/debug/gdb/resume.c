/* gdb packets that resume the target or end a session, and the stop replies. */
#include "emu/debug/gdb/state.h"

static void reply_register(struct gdb_session *session, unsigned thread, unsigned number)
{
    uint64_t value;
    if (!session->target.ops->register_read(session->target.target, thread, number, &value))
        return;
    gdb_reply_number(&session->reply, number);
    gdb_reply_text(&session->reply, ":");
    gdb_reply_register(&session->reply, value);
    gdb_reply_text(&session->reply, ";");
}

static void reply_reason(struct gdb_session *session)
{
    static const char *const watches[GDB_POINT_KINDS] = {
        [GDB_POINT_WRITE] = "watch:", [GDB_POINT_READ] = "rwatch:", [GDB_POINT_ACCESS] = "awatch:"};
    const struct gdb_stop *stop = &session->last;
    const struct gdb_point *point = gdb_points_find(&session->points, stop);
    if (!point)
        return;
    if (stop->kind == GDB_STOP_WATCH) {
        gdb_reply_text(&session->reply, watches[point->kind]);
        gdb_reply_number(&session->reply, stop->address > point->address ? stop->address : point->address);
        gdb_reply_text(&session->reply, ";");
    } else if (session->names_breaks) {
        gdb_reply_text(&session->reply, point->kind == GDB_POINT_SOFT ? "swbreak:;" : "hwbreak:;");
    }
}

void gdb_reply_stop(struct gdb_session *session)
{
    const struct gdb_stop *stop = &session->last;
    struct gdb_reply *reply = &session->reply;
    reply->length = 0;
    if (stop->kind == GDB_STOP_EXIT || stop->kind == GDB_STOP_DIED) {
        const uint8_t value = (uint8_t)(stop->kind == GDB_STOP_EXIT ? (unsigned)stop->status : stop->signal);
        gdb_reply_text(reply, stop->kind == GDB_STOP_EXIT ? "W" : "X");
        gdb_reply_hex(reply, &value, 1);
        return;
    }
    const uint8_t signal = (uint8_t)(stop->kind == GDB_STOP_SIGNAL ? stop->signal : GDB_SIGNAL_TRAP);
    gdb_reply_text(reply, "T");
    gdb_reply_hex(reply, &signal, 1);
    gdb_reply_text(reply, "thread:");
    gdb_reply_number(reply, stop->thread + 1);
    gdb_reply_text(reply, ";");
    reply_reason(session);
    reply_register(session, stop->thread, GDB_REGISTER_SP);
    reply_register(session, stop->thread, GDB_REGISTER_PC);
}

void gdb_why_stopped(struct gdb_session *session, struct gdb_cursor *in)
{
    if (gdb_at_end(in))
        gdb_reply_stop(session);
    else
        gdb_fail(session, GDB_MALFORMED);
}

/* Starts the target with the actions already set. The reply is sent when the target stops. */
static void start(struct gdb_session *session)
{
    if (session->state == GDB_ENDED) {
        gdb_reply_stop(session);
        return;
    }
    session->state = GDB_RUNNING;
    session->silent = true;
}

/* Handles c, C, s and S: moves the thread chosen by Hc, or all threads. Of all threads, only the current one
 * steps. */
static void resume(struct gdb_session *session, enum gdb_motion motion, unsigned signal)
{
    unsigned mover = session->resume_thread >= 0 ? (unsigned)session->resume_thread : session->last.thread;
    for (unsigned i = 0; i < session->thread_count; i++) {
        bool moves = session->resume_thread < 0 || i == mover;
        session->actions[i] = (struct gdb_action){.motion = moves ? GDB_CONTINUE : GDB_STAY};
    }
    session->actions[mover] = (struct gdb_action){.motion = motion, .signal = signal};
    start(session);
}

/* Parses `[signal][;][address]`. */
static void resume_packet(struct gdb_session *session, struct gdb_cursor *in, enum gdb_motion motion,
                          bool with_signal)
{
    const struct gdb_target *target = &session->target;
    unsigned mover = session->resume_thread >= 0 ? (unsigned)session->resume_thread : session->last.thread;
    uint64_t signal = GDB_SIGNAL_NONE, address;
    bool good = !with_signal || (gdb_take_number(in, &signal) && signal <= UINT8_MAX);
    if (good && !gdb_at_end(in)) {
        good = (!with_signal || gdb_take_text(in, ";")) && gdb_take_number(in, &address) && gdb_at_end(in) &&
               target->ops->register_write(target->target, mover, GDB_REGISTER_PC, address);
    }
    if (good)
        resume(session, motion, (unsigned)signal);
    else
        gdb_fail(session, GDB_MALFORMED);
}

void gdb_continue(struct gdb_session *session, struct gdb_cursor *in)
{
    resume_packet(session, in, GDB_CONTINUE, false);
}

void gdb_continue_signal(struct gdb_session *session, struct gdb_cursor *in)
{
    resume_packet(session, in, GDB_CONTINUE, true);
}

void gdb_step(struct gdb_session *session, struct gdb_cursor *in)
{
    resume_packet(session, in, GDB_STEP, false);
}

void gdb_step_signal(struct gdb_session *session, struct gdb_cursor *in)
{
    resume_packet(session, in, GDB_STEP, true);
}

/* Parses one action of vCont: c, s, Cnn, Snn or rFROM,TO. */
static bool take_action(struct gdb_cursor *in, struct gdb_action *action)
{
    uint64_t signal = GDB_SIGNAL_NONE;
    *action = (struct gdb_action){.motion = GDB_STEP};
    if (gdb_take_text(in, "r"))
        return gdb_take_number(in, &action->from) && gdb_take_text(in, ",") &&
               gdb_take_number(in, &action->to);
    if (gdb_take_text(in, "c") || gdb_take_text(in, "s")) {
        action->motion = in->at[-1] == 'c' ? GDB_CONTINUE : GDB_STEP;
    } else {
        if (!gdb_take_text(in, "C") && !gdb_take_text(in, "S"))
            return false;
        action->motion = in->at[-1] == 'C' ? GDB_CONTINUE : GDB_STEP;
        if (!gdb_take_number(in, &signal) || signal > UINT8_MAX)
            return false;
    }
    action->signal = (unsigned)signal;
    return true;
}

/* Assigns the action to the thread, or to all threads if `thread` is -1. Keeps actions that were assigned
 * earlier: the leftmost match wins. */
static bool assign(struct gdb_session *session, const struct gdb_action *action, int64_t thread)
{
    unsigned first = 0, last = session->thread_count - 1;
    if (thread >= 0) {
        if (!gdb_thread_find(session, thread, &first))
            return false;
        last = first;
    }
    for (unsigned i = first; i <= last; i++) {
        if (session->actions[i].motion == GDB_STAY)
            session->actions[i] = *action;
    }
    return true;
}

/* Parses `;action[:thread]...`. */
static bool take_actions(struct gdb_session *session, struct gdb_cursor *in)
{
    for (unsigned i = 0; i < session->thread_count; i++)
        session->actions[i] = (struct gdb_action){.motion = GDB_STAY};
    if (gdb_at_end(in))
        return false;
    while (!gdb_at_end(in)) {
        struct gdb_action action;
        int64_t thread = -1;
        if (!gdb_take_text(in, ";") || !take_action(in, &action) ||
            (gdb_take_text(in, ":") && !gdb_take_thread(in, &thread)) || !assign(session, &action, thread))
            return false;
    }
    return true;
}

void gdb_verbose(struct gdb_session *session, struct gdb_cursor *in)
{
    if (gdb_take_text(in, "Cont?") && gdb_at_end(in))
        gdb_reply_text(&session->reply, "vCont;c;C;s;S;r");
    else if (gdb_take_text(in, "Cont;")) {
        in->at--;
        if (take_actions(session, in))
            start(session);
        else
            gdb_fail(session, GDB_MALFORMED);
    } else if (gdb_take_text(in, "Kill;")) {
        gdb_kill(session, in);
        session->silent = false;
        gdb_ok(session);
    }
}

void gdb_detach(struct gdb_session *session, struct gdb_cursor *in)
{
    (void)in; /* there is only one process */
    gdb_ok(session);
    session->detaches = true;
}

void gdb_kill(struct gdb_session *session, struct gdb_cursor *in)
{
    (void)in;
    session->silent = true;
    if (session->state == GDB_ENDED)
        return;
    session->last =
        (struct gdb_stop){.kind = GDB_STOP_DIED, .thread = session->last.thread, .signal = GDB_SIGNAL_KILL};
    session->state = GDB_ENDED;
}
