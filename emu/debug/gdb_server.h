/* The gdb server: a loopback or Unix socket, and the loop that serves gdb and runs the program. */
#ifndef EMU_DEBUG_GDB_SERVER_H
#define EMU_DEBUG_GDB_SERVER_H

#include "emu/debug/gdb_target.h"
#include "emu/sim/error.h"

struct gdb_server;

/* Listens at `where`: a TCP port (1-65535, or 0 for a free one) on 127.0.0.1, or else the path of a Unix
 * socket that only this user can reach. An abandoned socket at the path is replaced, any other file is left
 * alone. NULL with err set when that cannot be done. gdb_server_close() removes the socket. */
struct gdb_server *gdb_server_open(const char *where, struct error *err);
void gdb_server_close(struct gdb_server *server); /* NULL is allowed */

/* What to type in gdb to connect: "target remote 127.0.0.1:1234". Valid as long as the server. */
const char *gdb_server_command(const struct gdb_server *server);

/* Waits for gdb, and then runs the target as gdb says until it has ended; *end tells how: GDB_STOP_EXIT, or
 * GDB_STOP_DIED with signal GDB_SIGNAL_KILL when gdb has killed it. When gdb detaches, or the connection is
 * lost, the target runs on by itself, and gdb may connect again. */
bool gdb_server_run(struct gdb_server *server, const struct gdb_target *target, struct gdb_stop *end,
                    struct error *err);

#endif
