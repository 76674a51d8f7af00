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

/* A line of a text, without its end. */
struct line {
    const char *begin;
    size_t length;
};

/* Returns the next line that is not empty; its length is 0 at the end. */
static struct line next_line(const struct outcome_text *text, struct line before)
{
    const char *end = text->bytes + text->size,
               *at = before.begin ? before.begin + before.length : text->bytes;
    while (at < end && strchr("\r\n", *at))
        at++;
    struct line line = {at, 0};
    while (at + line.length < end && !strchr("\r\n", at[line.length]))
        line.length++;
    return line;
}

static bool begins(struct line line, const char *word)
{
    return line.length >= strlen(word) && memcmp(line.begin, word, strlen(word)) == 0;
}

static bool has(struct line line, const char *words)
{
    return memmem(line.begin, line.length, words, strlen(words)) != NULL;
}

/* Returns whether the line is croft's message about what ended the run. */
static bool is_end(struct line line)
{
    bool ours = begins(line, "croft: ") || begins(line, "croft run: ") || begins(line, "croft cc: ");
    return ours && !has(line, ": warning: ");
}

/* Returns whether the line is a compiler's, an assembler's or a linker's message about an error. */
static bool is_error(struct line line)
{
    static const char *const signs[] = {": error: ",
                                        ": fatal error: ",
                                        ": Error: ",
                                        ": undefined reference to ",
                                        ": multiple definition of ",
                                        ": cannot find "};
    for (size_t i = 0; i < sizeof signs / sizeof *signs; i++)
        if (has(line, signs[i]))
            return true;
    return false;
}

/* Returns the line that says why a run failed: the first error of a compiler, or croft's message, behind which a backtrace can
 * follow. A program that ends itself by a signal has said why before. Without such a line, returns the last one. */
static struct line cause(const struct outcome_text *text, bool compiler)
{
    struct line last = {NULL, 0};
    for (struct line line; (line = next_line(text, last)).length > 0; last = line) {
        if (is_end(line))
            return last.length && has(line, ": ended itself by signal ") ? last : line;
        if (compiler && is_error(line))
            return line;
    }
    return last;
}

char *outcome_failure(const struct outcome *outcome, bool compiler)
{
    enum { MOST = 400 }; /* bytes of the line in tables */
    char how[64], *text = NULL;
    const struct outcome_text *messages = &outcome->streams[OUTCOME_MESSAGES];
    if (outcome->status == 0)
        return NULL;
    if (outcome->status < 0)
        (void)snprintf(how, sizeof how, "could not be started");
    else if (WIFSIGNALED(outcome->status))
        (void)snprintf(how, sizeof how, "ended by signal %d (%s)", WTERMSIG(outcome->status),
                       strsignal(WTERMSIG(outcome->status)));
    else
        (void)snprintf(how, sizeof how, "status %d", WEXITSTATUS(outcome->status));
    struct line line = messages->size ? cause(messages, compiler) : (struct line){"", 0};
    int length = line.length > MOST ? MOST : (int)line.length;
    if (asprintf(&text, "%s%s%.*s", how, length ? ": " : "", length, line.begin) < 0)
        alloc_failed();
    for (char *c = text; *c; c++) /* one line for tables */
        if ((unsigned char)*c < ' ')
            *c = ' ';
    return text;
}

void outcome_free(struct outcome *outcome)
{
    for (int i = 0; i < OUTCOME_STREAMS; i++) {
        free(outcome->streams[i].bytes);
        outcome->streams[i] = (struct outcome_text){NULL, 0};
    }
}
