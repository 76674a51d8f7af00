#include "emu/experiment/engines/outcome.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "emu/sim/alloc.h"

static const char gap[] = "\n[croft experiment: the middle is left out]\n";

/* Reads `size` bytes at offset `from`, fewer if the file ends. */
static bool read_part(int file, char *to, size_t size, off_t from, size_t *got)
{
    ssize_t now = 1;
    for (*got = 0; *got < size && now > 0; *got += now > 0 ? (size_t)now : 0)
        now = pread(file, to + *got, size - *got, from + (off_t)*got);
    return now >= 0;
}

bool outcome_read(int file, size_t most, struct outcome_text *text, struct error *err)
{
    struct stat status;
    size_t got = 0, more = 0;
    if (fstat(file, &status) != 0)
        return error_set(err, "the output of a run: %s", strerror(errno));
    size_t size = (size_t)status.st_size, first = size > most ? most / 2 : size;
    text->bytes = malloc(first + (size > most ? sizeof gap + most / 2 : 1));
    if (!text->bytes)
        return error_set(err, "the output of a run has %zu bytes, too many for this machine's memory", size);
    bool good = read_part(file, text->bytes, first, 0, &got);
    if (good && size > most) {
        memcpy(text->bytes + got, gap, sizeof gap - 1);
        got += sizeof gap - 1;
        good = read_part(file, text->bytes + got, most / 2, (off_t)(size - most / 2), &more);
    }
    text->size = got + more;
    text->bytes[text->size] = '\0';
    return good || error_set(err, "the output of a run: %s", strerror(errno));
}

/* Returns the last line that is not empty, and its length. */
static const char *last_line(const struct outcome_text *text, int *length)
{
    size_t end = text->size, begin;
    while (end > 0 && strchr("\r\n", text->bytes[end - 1]))
        end--;
    for (begin = end; begin > 0 && text->bytes[begin - 1] != '\n';)
        begin--;
    *length = end - begin > 400 ? 400 : (int)(end - begin);
    return text->bytes + begin;
}

char *outcome_failure(const struct outcome *outcome)
{
    char how[64], *line = NULL;
    const struct outcome_text *messages = &outcome->streams[OUTCOME_MESSAGES];
    int length = 0;
    if (outcome->status == 0)
        return NULL;
    if (outcome->status < 0)
        (void)snprintf(how, sizeof how, "could not be started");
    else if (WIFSIGNALED(outcome->status))
        (void)snprintf(how, sizeof how, "ended by signal %d (%s)", WTERMSIG(outcome->status),
                       strsignal(WTERMSIG(outcome->status)));
    else
        (void)snprintf(how, sizeof how, "status %d", WEXITSTATUS(outcome->status));
    const char *last = messages->size ? last_line(messages, &length) : "";
    if (asprintf(&line, "%s%s%.*s", how, length ? ": " : "", length, last) < 0)
        alloc_failed();
    for (char *c = line; *c; c++) /* one line for tables */
        if ((unsigned char)*c < ' ')
            *c = ' ';
    return line;
}

void outcome_free(struct outcome *outcome)
{
    for (int i = 0; i < OUTCOME_STREAMS; i++) {
        free(outcome->streams[i].bytes);
        outcome->streams[i] = (struct outcome_text){NULL, 0};
    }
}
