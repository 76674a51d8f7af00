#include "emu/cmd/dram/trace.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "emu/sim/text/text.h"

static const char *const formats[] = {[TRACE_RAMULATOR] = "Ramulator 2's 'LD ADDRESS' or 'ST ADDRESS'",
                                      [TRACE_DRAMSIM] =
                                          "DRAMsim3's 'ADDRESS READ CLOCK' or 'ADDRESS WRITE CLOCK'"};

static const char spaces[] = " \t\r\n";

bool access_file_open(struct access_file *file, const char *path, struct error *err)
{
    const bool standard = strcmp(path, "-") == 0;
    *file = (struct access_file){.file = standard ? stdin : fopen(path, "re"),
                                 .path = standard ? "standard input" : path};
    return file->file || error_set(err, "%s: cannot be opened: %s", path, strerror(errno));
}

void access_file_close(struct access_file *file)
{
    if (file->file && file->file != stdin)
        (void)fclose(file->file);
    free(file->text);
    *file = (struct access_file){0};
}

bool access_file_at(const struct access_file *file, struct error *err)
{
    return error_prefix(err, "%s:%" PRIu64, file->path, file->line);
}

/* Reads a whole word as a number. */
static bool read_number(const char *word, int base, uint64_t *value)
{
    char *end;
    errno = 0;
    if (base == 10 && word[0] == '0' && (word[1] == 'x' || word[1] == 'X'))
        base = 16;
    if (*word == '-' || *word == '+')
        return false;
    *value = strtoull(word, &end, base);
    return end != word && *end == '\0' && errno == 0;
}

/* Reads the words of a line of the file's format. */
static bool read_words(const struct access_file *file, char *const words[3], unsigned count,
                       struct access_line *access)
{
    static const char *const operations[][2] = {
        [TRACE_RAMULATOR] = {"LD", "ST"}, [TRACE_DRAMSIM] = {"READ", "WRITE"}};
    const bool ramulator = file->format == TRACE_RAMULATOR;
    if (count != (ramulator ? 2 : 3))
        return false;
    const char *operation = words[ramulator ? 0 : 1];
    access->write = strcmp(operation, operations[file->format][1]) == 0;
    access->clock = 0;
    return (access->write || strcmp(operation, operations[file->format][0]) == 0) &&
           read_number(words[ramulator ? 1 : 0], ramulator ? 10 : 16, &access->address) &&
           (ramulator || read_number(words[2], 10, &access->clock));
}

/* Reads a line that is neither empty nor a comment. */
static bool read_line(struct access_file *file, struct access_line *access, struct error *err)
{
    char shown[64], *words[3] = {NULL}, *rest = NULL;
    unsigned count = 0;
    (void)snprintf(shown, sizeof shown, "%.*s", (int)strcspn(file->text, "\r\n"), file->text);
    for (char *word = strtok_r(file->text, spaces, &rest); word; word = strtok_r(NULL, spaces, &rest))
        if (count < 3)
            words[count++] = word;
        else
            count = 4;
    const bool first = file->format == TRACE_UNKNOWN;
    if (first)
        file->format = count == 2 ? TRACE_RAMULATOR : TRACE_DRAMSIM;
    if (!read_words(file, words, count, access))
        return first ? error_set(err, "%s is neither %s nor %s", text_quote(shown).text,
                                 formats[TRACE_RAMULATOR], formats[TRACE_DRAMSIM])
                     : error_set(err, "%s is not %s, as the lines before", text_quote(shown).text,
                                 formats[file->format]);
    if (access->clock < file->clock)
        return error_set(err, "clock %" PRIu64 " is before that of the line before, %" PRIu64, access->clock,
                         file->clock);
    file->clock = access->clock;
    return true;
}

int access_file_next(struct access_file *file, struct access_line *access, struct error *err)
{
    for (;;) {
        errno = 0;
        const ssize_t length = getline(&file->text, &file->room, file->file);
        if (length < 0 && (ferror(file->file) || errno))
            return (void)error_set(err, "%s: cannot be read: %s", file->path, strerror(errno)), -1;
        if (length < 0)
            return 0;
        file->line++;
        const char *text = file->text + strspn(file->text, spaces);
        if (*text != '\0' && *text != '#')
            break;
    }
    if (read_line(file, access, err))
        return 1;
    (void)access_file_at(file, err);
    return -1;
}
