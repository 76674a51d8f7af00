#include "emu/env/bare/snapshot.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "emu/io/output.h"
#include "emu/mem/phys/snapshot.h"
#include "emu/sim/alloc.h"

static void visit_input(struct call_input *input, struct snapshot *s)
{
    enum { INPUT_MOST = 1 << 24 };
    input->count = snapshot_number(s, "input", input->count, INPUT_MOST);
    if (s->failed || input->count == 0)
        return;
    if (input->room < input->count) {
        input->room = input->count;
        input->bytes = alloc_resize(input->bytes, input->room);
    }
    snapshot_block(s, input->bytes, input->count);
}

/* Whatever times depend on comes first: rounds, harts, devices. */
static void visit(const struct bare_state *state, struct snapshot *s)
{
    const struct machine_config *machine = state->machine;
    s->harts = state->harts;
    snapshot_section(s, "machine");
    snapshot_same(s, "harts", state->harts);
    if (snapshot_number(s, "isa", machine->isa, UINT64_MAX) != machine->isa)
        snapshot_fail(s,
                      "its harts have other extensions than the snapshot's; choose the same ones by --isa");
    system_snapshot(state->system, state->harts, machine_timed(machine), s);
    board_snapshot(state->board, s);
    semihosting_snapshot(state->semihosting, s);
    visit_input(state->input, s);
    snapshot_section(s, "memory");
    phys_snapshot(state->memory, s);
}

bool bare_write_snapshot(const struct bare_state *state, const char *path, struct error *err)
{
    struct snapshot s;
    if (system_in_call(state->system))
        return error_set(
            err,
            "--save: the program waits within a semihosting call; take the snapshot before or behind it");
    struct output *out = output_open(path, err);
    if (!out)
        return error_prefix(err, "--save");
    snapshot_begin(&s, output_stream(out), path, true, err);
    visit(state, &s);
    if (snapshot_end(&s))
        return output_keep(out, err) || error_prefix(err, "--save");
    output_drop(out);
    return error_prefix(err, "--save");
}

bool bare_read_snapshot(const struct bare_state *state, const char *path, struct error *err)
{
    struct snapshot s;
    FILE *file = fopen(path, "rb");
    if (!file)
        return error_set(err, "--restore: cannot read '%s': %s", path, strerror(errno));
    snapshot_begin(&s, file, path, false, err);
    visit(state, &s);
    bool whole = snapshot_end(&s);
    (void)fclose(file);
    return whole || error_prefix(err, "--restore");
}
