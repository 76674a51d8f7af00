#include <errno.h>
#include <fcntl.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/hart/oracle/oracle.h"

extern char **environ;

static bool write_input(const char *path, const struct batch *batch, struct error *err)
{
    FILE *file = fopen(path, "we");
    if (!file)
        return error_set(err, "cannot write '%s': %s", path, strerror(errno));
    bool ok = fwrite(&batch->count, sizeof batch->count, 1, file) == 1 &&
              fwrite(batch->code, BATCH_CODE_BYTES, batch->count, file) == batch->count &&
              fwrite(batch->states, sizeof batch->states[0], batch->count, file) == batch->count;
    return (fclose(file) == 0 && ok) || error_set(err, "writing '%s' failed", path);
}

static bool run(const char *runner, const char *input, const char *output, struct error *err)
{
    char *const arguments[] = {(char[]){"qemu-riscv64"}, (char[]){"-cpu"}, (char[]){"rv64,Zfh=true"},
                               strdup(runner), NULL};
    posix_spawn_file_actions_t actions;
    pid_t pid;
    int status = -1;
    (void)posix_spawn_file_actions_init(&actions);
    (void)posix_spawn_file_actions_addopen(&actions, 0, input, O_RDONLY, 0);
    (void)posix_spawn_file_actions_addopen(&actions, 1, output, O_WRONLY | O_CREAT | O_TRUNC, 0644);
    int failed = posix_spawnp(&pid, arguments[0], &actions, NULL, arguments, environ);
    (void)posix_spawn_file_actions_destroy(&actions);
    free(arguments[3]);
    if (failed)
        return error_set(err, "cannot start qemu-riscv64: %s", strerror(failed));
    while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
        continue;
    return (WIFEXITED(status) && WEXITSTATUS(status) == 0) ||
           error_set(err, "qemu-riscv64 %s ended with status 0x%x", runner, (unsigned)status);
}

static bool read_output(const char *path, uint64_t count, struct state *after, struct error *err)
{
    FILE *file = fopen(path, "re");
    if (!file)
        return error_set(err, "cannot read '%s': %s", path, strerror(errno));
    size_t got = fread(after, sizeof *after, count, file);
    (void)fclose(file);
    return got == count || error_set(err, "'%s' holds %zu states of %zu", path, got, (size_t)count);
}

bool oracle_qemu(const char *runner, const char *folder, const struct batch *batch, struct state *after,
                 struct error *err)
{
    char input[4096], output[4096];
    (void)snprintf(input, sizeof input, "%s/batch.in", folder);
    (void)snprintf(output, sizeof output, "%s/batch.out", folder);
    return write_input(input, batch, err) && run(runner, input, output, err) &&
           read_output(output, batch->count, after, err);
}
