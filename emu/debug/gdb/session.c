#include "emu/debug/gdb/state.h"

#include <stdlib.h>
#include <string.h>

#include "emu/debug/gdb/description.h"
#include "emu/sim/alloc.h"

enum { RANGE_STEPS = 1000 }; /* steps within a range between two checks for gdb's packets */

/* Handles H: `g` chooses the thread for registers and memory, `c` the thread for c and s. */
static void choose_thread(struct gdb_session *session, struct gdb_cursor *in)
{
    int64_t thread;
    unsigned index = 0;
    bool general = gdb_take_text(in, "g");
    if ((!general && !gdb_take_text(in, "c")) || !gdb_take_thread(in, &thread) || !gdb_at_end(in))
        gdb_fail(session, GDB_MALFORMED);
    else if (thread > 0 && !gdb_thread_find(session, thread, &index))
        gdb_fail(session, GDB_NO_SUCH_THREAD);
    else {
        if (thread == 0)
            index = gdb_thread_last(session);
        if (!general)
            session->resume_thread = thread > 0 ? (int64_t)index : -1;
        else if (thread >= 0)
            session->thread = index;
        gdb_ok(session);
    }
}

/* Handles T, which gdb sends for the thread that the user selects. Hg may choose another thread: the last one listed, for
 * example. */
static void thread_alive(struct gdb_session *session, struct gdb_cursor *in)
{
    int64_t thread;
    unsigned index;
    if (!gdb_take_thread(in, &thread) || !gdb_at_end(in))
        gdb_fail(session, GDB_MALFORMED);
    else if (thread < 1 || !gdb_thread_find(session, thread, &index))
        gdb_fail(session, GDB_NO_SUCH_THREAD);
    else {
        session->selected = index;
        gdb_ok(session);
    }
}

/* Handlers by the packet's first letter. Other packets are unknown and get an empty reply. */
static gdb_handler *const handlers[] = {
    ['?'] = gdb_why_stopped,    ['C'] = gdb_continue_signal,
    ['D'] = gdb_detach,         ['G'] = gdb_write_general,
    ['H'] = choose_thread,      ['M'] = gdb_write_memory,
    ['P'] = gdb_write_register, ['Q'] = gdb_set,
    ['S'] = gdb_step_signal,    ['T'] = thread_alive,
    ['X'] = gdb_write_binary,   ['Z'] = gdb_insert_point,
    ['c'] = gdb_continue,       ['g'] = gdb_read_general,
    ['k'] = gdb_kill,           ['m'] = gdb_read_memory,
    ['p'] = gdb_read_register,  ['q'] = gdb_query,
    ['s'] = gdb_step,           ['v'] = gdb_verbose,
    ['z'] = gdb_remove_point,
};

static void answer(struct gdb_session *session)
{
    const struct gdb_reader *reader = &session->reader;
    struct gdb_cursor in = {reader->payload, reader->payload + reader->length};
    size_t letter = gdb_at_end(&in) ? 0 : (uint8_t)*in.at++;
    session->silent = false;
    if (session->state == GDB_RUNNING && letter != 'D' && letter != 'k')
        gdb_fail(session, GDB_BUSY);
    else if (letter < sizeof handlers / sizeof handlers[0] && handlers[letter])
        handlers[letter](session, &in);
    if (!session->silent)
        gdb_session_send(session);
    if (session->detaches)
        gdb_session_disconnect(session);
}

static void acknowledge(struct gdb_session *session, char sign)
{
    if (session->acks && session->attached)
        session->send(session->send_context, &sign, 1);
}

static void interrupt(struct gdb_session *session)
{
    if (session->state != GDB_RUNNING)
        return;
    session->state = GDB_STOPPED;
    session->last = (struct gdb_stop){
        .kind = GDB_STOP_SIGNAL, .thread = gdb_thread_last(session), .signal = GDB_SIGNAL_INT};
    gdb_reply_stop(session);
    gdb_session_send(session);
}

static void take(struct gdb_session *session, enum gdb_input input)
{
    switch (input) {
    case GDB_INPUT_PACKET:
        acknowledge(session, '+');
        answer(session);
        break;
    case GDB_INPUT_CORRUPT:
        /* Without acknowledgements, gdb cannot be asked to send the packet again. */
        acknowledge(session, '-');
        if (!session->acks) {
            gdb_fail(session, GDB_MALFORMED);
            gdb_session_send(session);
        }
        break;
    case GDB_INPUT_TOO_LONG:
        acknowledge(session, '+');
        gdb_fail(session, GDB_MALFORMED);
        gdb_session_send(session);
        break;
    case GDB_INPUT_NAK:
        if (session->acks)
            session->send(session->send_context, session->frame, session->frame_length);
        break;
    case GDB_INPUT_INTERRUPT: interrupt(session); break;
    default: break;
    }
}

size_t gdb_session_receive(struct gdb_session *session, const void *bytes, size_t length)
{
    const uint8_t *from = bytes;
    size_t taken = 0;
    enum gdb_state before = session->state;
    while (taken < length && session->attached && session->state == before)
        take(session, gdb_reader_take(&session->reader, from[taken++]));
    return taken;
}

struct gdb_session *gdb_session_new(const struct gdb_target *target)
{
    struct gdb_session *session = alloc(1, sizeof *session);
    session->target = *target;
    session->thread_count = target->ops->thread_count(target->target);
    session->actions = alloc(session->thread_count, sizeof *session->actions);
    session->description = gdb_description_new(&session->description_length);
    if (target->ops->regions)
        session->memory_map = gdb_memory_map_new(target, &session->memory_map_length);
    session->last = (struct gdb_stop){.kind = GDB_STOP_SIGNAL, .signal = GDB_SIGNAL_TRAP};
    return session;
}

void gdb_session_free(struct gdb_session *session)
{
    if (!session)
        return;
    free(session->actions);
    free(session->description);
    free(session->memory_map);
    free(session);
}

void gdb_session_connect(struct gdb_session *session, gdb_send *send, void *context)
{
    session->attached = true;
    session->acks = true;
    session->names_breaks = false;
    session->last.thread = gdb_thread_last(session);
    session->thread = session->selected = session->last.thread;
    session->resume_thread = -1;
    session->send = send;
    session->send_context = context;
    session->frame_length = 0;
    session->reply.length = 0;
    session->reply.full = false;
    session->reader = (struct gdb_reader){.state = GDB_READ_IDLE};
    if (session->state == GDB_FREE)
        session->state = GDB_STOPPED;
}

void gdb_session_disconnect(struct gdb_session *session)
{
    session->attached = session->detaches = false;
    gdb_points_clear(&session->points, &session->target);
    if (session->state == GDB_ENDED)
        return;
    session->state = GDB_FREE;
    for (unsigned i = 0; i < session->thread_count; i++)
        session->actions[i] = (struct gdb_action){.motion = GDB_CONTINUE};
    /* Deliver the signal that gdb has seen but that the program has not received. */
    if (session->last.kind == GDB_STOP_SIGNAL && session->last.signal != GDB_SIGNAL_TRAP &&
        session->last.signal != GDB_SIGNAL_INT)
        session->actions[session->last.thread].signal = session->last.signal;
}

/* Runs the target once. */
static struct gdb_stop run_once(struct gdb_session *session)
{
    struct gdb_stop stop = {.kind = GDB_STOP_NONE, .thread = session->last.thread};
    session->target.ops->run(session->target.target, session->actions, &stop);
    for (unsigned i = 0; i < session->thread_count; i++)
        session->actions[i].signal = GDB_SIGNAL_NONE; /* delivered */
    return stop;
}

/* Returns true if the thread has made a step within its range and must step again. If a breakpoint is at the thread's pc,
 * turns *stop into a stop at that breakpoint, and returns false. */
static bool is_in_range(const struct gdb_session *session, struct gdb_stop *stop)
{
    const struct gdb_action *action = &session->actions[stop->thread];
    const struct gdb_target *target = &session->target;
    uint64_t pc;
    if (session->state != GDB_RUNNING || stop->kind != GDB_STOP_SIGNAL || stop->signal != GDB_SIGNAL_TRAP ||
        action->motion != GDB_STEP ||
        !target->ops->register_read(target->target, stop->thread, GDB_REGISTER_PC, &pc) ||
        pc < action->from || pc >= action->to)
        return false;
    const struct gdb_stop there = {.kind = GDB_STOP_BREAK, .thread = stop->thread, .address = pc};
    if (!gdb_points_find(&session->points, &there))
        return true;
    *stop = there;
    return false;
}

void gdb_session_advance(struct gdb_session *session)
{
    struct gdb_stop stop = run_once(session);
    for (unsigned steps = 1; is_in_range(session, &stop); steps++) {
        if (steps == RANGE_STEPS)
            return;
        stop = run_once(session);
    }
    if (stop.kind == GDB_STOP_NONE)
        return;
    session->last = stop;
    if (stop.kind == GDB_STOP_EXIT || stop.kind == GDB_STOP_DIED)
        session->state = GDB_ENDED;
    else if (session->state == GDB_FREE)
        session->actions[stop.thread].signal = stop.signal;
    else
        session->state = GDB_STOPPED;
    if (session->attached) {
        session->thread = session->selected = stop.thread;
        gdb_reply_stop(session);
        gdb_session_send(session);
    }
}
