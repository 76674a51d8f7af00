/* One debugging session: takes gdb's packets, produces replies, and moves the target. Does no input or output
 * itself. */
#ifndef EMU_DEBUG_GDB_STATE_H
#define EMU_DEBUG_GDB_STATE_H

#include "emu/debug/gdb/packet.h"
#include "emu/debug/gdb/points.h"
#include "emu/debug/gdb_target.h"

/* Sends bytes to gdb. Drops what cannot be delivered; the connection then counts as lost. */
typedef void gdb_send(void *context, const void *bytes, size_t length);

enum gdb_state {
    GDB_STOPPED, /* waits for packets */
    GDB_RUNNING, /* gdb waits for the target to stop */
    GDB_FREE,    /* no gdb is connected; the target runs by itself */
    GDB_ENDED,   /* the program has ended; `last` tells how */
};

/* Error numbers in replies, taken from errno where they fit. */
enum gdb_error {
    GDB_NO_SUCH_THREAD = 3, /* ESRCH */
    GDB_IO = 5,
    GDB_NO_MEMORY = 12,  /* ENOMEM: no room for another point, or the point is invalid */
    GDB_NOT_MAPPED = 14, /* EFAULT */
    GDB_BUSY = 16,       /* EBUSY: the target is running */
    GDB_MALFORMED = 22,  /* EINVAL: a malformed packet or an impossible value */
};

struct gdb_session {
    enum gdb_state state;
    bool attached;              /* gdb is connected */
    bool acks;                  /* packets are acknowledged */
    bool names_breaks;          /* gdb understands swbreak and hwbreak in stop replies */
    unsigned thread;            /* the thread whose registers and memory are accessed */
    unsigned selected;          /* the user's thread, for monitor commands */
    unsigned to_list;           /* next thread of a list that takes several packets */
    int64_t resume_thread;      /* thread that c and s move, from 0; -1: all */
    struct gdb_stop last;       /* why the target stopped */
    struct gdb_action *actions; /* actions[thread]: what the thread does while the target runs */
    unsigned thread_count;

    struct gdb_target target;
    gdb_send *send;
    void *send_context;

    char *description; /* target.xml */
    size_t description_length;
    char *memory_map; /* NULL: the target has no regions() */
    size_t memory_map_length;
    struct gdb_points points;
    struct gdb_reply reply; /* reply to the current packet */
    bool silent;            /* the current packet gets no reply now */
    bool detaches;          /* gdb leaves after the reply to the current packet */
    size_t frame_length;
    char frame[GDB_FRAME]; /* the last packet sent; gdb may ask for it again */
    struct gdb_reader reader;
};

/* Creates a session for a target that has not executed an instruction yet. Copies *target. Never NULL. */
struct gdb_session *gdb_session_new(const struct gdb_target *target);
void gdb_session_free(struct gdb_session *session);

/* Attaches gdb, which receives replies through send(). Stops the target if it was running by itself. */
void gdb_session_connect(struct gdb_session *session, gdb_send *send, void *context);

/* Detaches gdb: removes its breakpoints and watchpoints and lets the target run by itself. */
void gdb_session_disconnect(struct gdb_session *session);

/* Takes bytes from gdb and answers them. Stops when the session's state changes or gdb detaches, and returns
 * the number of bytes taken. */
size_t gdb_session_receive(struct gdb_session *session, const void *bytes, size_t length);

/* Runs the target for one time slice, in the states GDB_RUNNING and GDB_FREE. Tells gdb if the target has
 * stopped. */
void gdb_session_advance(struct gdb_session *session);

/* Packet handlers, of emu/debug/gdb/data.c, emu/debug/gdb/resume.c and emu/debug/gdb/query.c. `in` begins after the
 * packet's letter. */
typedef void gdb_handler(struct gdb_session *session, struct gdb_cursor *in);
gdb_handler gdb_read_general, gdb_write_general, gdb_read_register, gdb_write_register, gdb_read_memory,
    gdb_write_memory, gdb_write_binary, gdb_insert_point, gdb_remove_point;
gdb_handler gdb_continue, gdb_continue_signal, gdb_step, gdb_step_signal, gdb_verbose, gdb_why_stopped,
    gdb_detach, gdb_kill;
gdb_handler gdb_query, gdb_set;

/* Set the reply to an error or to OK (emu/debug/gdb/answer.c). */
void gdb_fail(struct gdb_session *session, enum gdb_error error);
void gdb_ok(struct gdb_session *session);

/* Sends session->reply as a packet and empties it. */
void gdb_session_send(struct gdb_session *session);

/* Returns the thread that stopped last, or thread 0 if that one no longer exists. */
unsigned gdb_thread_last(const struct gdb_session *session);

/* Finds the index of gdb's thread number `thread` (from 1; 0 stands for any thread). False when there is
 * none. */
bool gdb_thread_find(const struct gdb_session *session, int64_t thread, unsigned *index);

/* Writes the stop reply for session->last to session->reply. */
void gdb_reply_stop(struct gdb_session *session);

#endif
