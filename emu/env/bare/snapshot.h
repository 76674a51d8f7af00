/* Files with the state of a machine in the environment `bare` (emu/sim/snapshot/snapshot.h). */
#ifndef EMU_ENV_BARE_SNAPSHOT_H
#define EMU_ENV_BARE_SNAPSHOT_H

#include "emu/env/semihosting.h"
#include "emu/machine/board/board.h"
#include "emu/machine/system.h"

/* Bytes that a semihosting call has read, in case it is repeated. */
struct call_input {
    uint8_t *bytes;
    size_t count, room, next;
};

/* What a snapshot holds. */
struct bare_state {
    const struct machine_config *machine;
    struct system *system;
    unsigned harts; /* without accelerators that take tasks, which begin out of reset */
    struct board *board;
    const struct phys *memory;
    struct semihosting *semihosting;
    struct call_input *input; /* of the call at which the run was left */
};

/* Writes the file. The system must be between two runs. */
bool bare_write_snapshot(const struct bare_state *state, const char *path, struct error *err);

/* Restores the state into a system that has not run. After a failure, state is in part restored. */
bool bare_read_snapshot(const struct bare_state *state, const char *path, struct error *err);

#endif
