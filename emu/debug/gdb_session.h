/* One debugging session: packets of gdb in, replies out, the target moved between them. No input or output of
 * its own. */
#ifndef EMU_DEBUG_GDB_SESSION_H
#define EMU_DEBUG_GDB_SESSION_H

#include "emu/debug/gdb_packet.h"
#include "emu/debug/gdb_points.h"
#include "emu/debug/gdb_target.h"

/* Hands bytes to gdb. What cannot be delivered is dropped: the connection is then as good as lost. */
typedef void gdb_send(void *context, const void *bytes, size_t length);

enum gdb_state {
    GDB_STOPPED, /* waits for packets */
    GDB_RUNNING, /* gdb waits for the target to stop */
    GDB_FREE,    /* no gdb: the target runs by itself */
    GDB_ENDED,   /* the program has ended, as `last` says */
};

/* The numbers of error replies; those of errno that fit. */
enum gdb_error {
    GDB_NO_SUCH_THREAD = 3, /* ESRCH */
    GDB_IO = 5,
    GDB_NO_MEMORY = 12,  /* ENOMEM: no room for another break- or watchpoint, or it makes no sense */
    GDB_NOT_MAPPED = 14, /* EFAULT */
    GDB_BUSY = 16,       /* the target runs */
    GDB_MALFORMED = 22,  /* EINVAL: not what the protocol allows there, or an impossible value */
};

struct gdb_session {
    enum gdb_state state;
    bool attached;              /* a gdb is connected */
    bool acks;                  /* each packet is acknowledged */
    bool names_breaks;          /* gdb understands swbreak and hwbreak in stop replies */
    unsigned thread;            /* that registers and memory are accessed through */
    int64_t resume_thread;      /* that c and s move, from 0; -1: all */
    struct gdb_stop last;       /* why the target does not run */
    struct gdb_action *actions; /* by thread: what the target shall do while it runs */
    unsigned thread_count;

    struct gdb_target target;
    gdb_send *send;
    void *send_context;

    char *description; /* target.xml */
    size_t description_length;
    struct gdb_points points;
    struct gdb_reply reply; /* to the packet at hand */
    bool silent;            /* which gets no reply now */
    size_t frame_length;
    char frame[GDB_FRAME]; /* the last packet sent, in case gdb asks for it again */
    struct gdb_reader reader;
};

/* A session about target, which stands before its first instruction. Never NULL. */
struct gdb_session *gdb_session_new(const struct gdb_target *target);
void gdb_session_free(struct gdb_session *session);

/* A gdb has connected; the target stops if it was running by itself. */
void gdb_session_connect(struct gdb_session *session, gdb_send *send, void *context);

/* The connection is over: breakpoints go, and the target runs by itself. */
void gdb_session_disconnect(struct gdb_session *session);

/* Takes bytes from gdb and answers them. Stops as soon as the target is to run or the session is over;
 * returns how many bytes were taken. */
size_t gdb_session_receive(struct gdb_session *session, const void *bytes, size_t length);

/* Lets the target run for a slice, in the states GDB_RUNNING and GDB_FREE, and tells gdb when it has stopped.
 */
void gdb_session_advance(struct gdb_session *session);

/* For the handlers of packets (gdb_data.c, gdb_resume.c, gdb_query.c); `in` stands behind the packet's
 * letter. */
typedef void gdb_handler(struct gdb_session *session, struct gdb_cursor *in);
gdb_handler gdb_read_general, gdb_write_general, gdb_read_register, gdb_write_register, gdb_read_memory,
    gdb_write_memory, gdb_write_binary, gdb_insert_point, gdb_remove_point;
gdb_handler gdb_continue, gdb_continue_signal, gdb_step, gdb_step_signal, gdb_verbose, gdb_why_stopped,
    gdb_detach, gdb_kill;
gdb_handler gdb_query, gdb_set;

/* Makes the reply an error or OK. */
void gdb_fail(struct gdb_session *session, enum gdb_error error);
void gdb_ok(struct gdb_session *session);

/* Sends session->reply as a packet and empties it. */
void gdb_session_send(struct gdb_session *session);

/* The index of the thread that gdb calls by `thread`, its number from 1; 0 stands for any. False when there
 * is none. */
bool gdb_thread_find(const struct gdb_session *session, int64_t thread, unsigned *index);

/* Writes the stop reply for session->last to session->reply. */
void gdb_reply_stop(struct gdb_session *session);

#endif
