/* The gdb server: a TCP or Unix socket, and the loop that serves gdb and runs the program. */
#ifndef EMU_DEBUG_GDB_SERVER_H
#define EMU_DEBUG_GDB_SERVER_H

#include "emu/debug/gdb_target.h"
#include "emu/sim/error.h"

struct gdb_server;

/* Listens at `where`: a TCP port (1 to 65535, or 0 for a free one) on 127.0.0.1, or the path of a Unix socket
 * that only this user can connect to. Replaces an abandoned socket at the path, but no other file. Returns
 * NULL with err set on failure. gdb_server_close() frees the server and removes the socket. */
struct gdb_server *gdb_server_open(const char *where, struct error *err);
void gdb_server_close(struct gdb_server *server); /* NULL is allowed */

/* Returns the gdb command that connects, for example "target remote 127.0.0.1:1234". Valid until
 * gdb_server_close(). */
const char *gdb_server_command(const struct gdb_server *server);

/* Waits for gdb, then runs the target as gdb commands until it ends. *end tells how: GDB_STOP_EXIT, or
 * GDB_STOP_DIED with signal GDB_SIGNAL_KILL if gdb killed it. If gdb detaches or the connection is lost, the
 * target runs on, and gdb may connect again. False with err set when accepting a connection fails. */
bool gdb_server_run(struct gdb_server *server, const struct gdb_target *target, struct gdb_stop *end,
                    struct error *err);

#endif
