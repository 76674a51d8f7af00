/* Debugging a program of the `user` environment: one thread, with signals as Linux would send them. */
#ifndef EMU_ENV_GDB_USER_H
#define EMU_ENV_GDB_USER_H

#include "emu/debug/gdb_server.h"
#include "emu/env/gdb_hart.h"
#include "emu/env/user.h"

/* Like user_run(), as gdb says; *status is the exit status, 128 + SIGKILL when gdb has killed the program. A
 * trap that would end the program stops it first; it ends when gdb delivers the signal. False when no gdb can
 * connect. */
bool gdb_user_run(struct gdb_server *server, struct user *user, const struct gdb_facts *facts, int *status,
                  struct error *err);

#endif
