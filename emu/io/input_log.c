#include "emu/io/input_log.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "emu/sim/alloc.h"

static const char heading[] = "croft input 1";

struct input_record {
    FILE *file;
    char *path;
};

struct entry {
    struct moment at;
    int what;
};

struct input_replay {
    struct entry *entries;
    size_t count, room, next;
};

struct input_record *input_record_open(const char *path, struct error *err)
{
    FILE *file = fopen(path, "we");
    if (!file) {
        (void)error_set(err, "%s: the record of the input cannot be written: %s", path, strerror(errno));
        return NULL;
    }
    struct input_record *record = alloc(1, sizeof *record);
    record->path = alloc_text(path);
    record->file = file;
    (void)fprintf(file, "%s\n", heading);
    return record;
}

void input_record_add(struct input_record *record, struct moment at, int what)
{
    (void)fprintf(record->file, "%" PRIu64 " %" PRIu64 " ", at.instructions, at.ticks);
    (void)fprintf(record->file, what == INPUT_END ? "end\n" : "%02x\n", (unsigned)what);
    (void)fflush(record->file); /* keeps the input if croft is killed; typing is slow enough */
}

bool input_record_close(struct input_record *record, struct error *err)
{
    if (!record)
        return true;
    bool written = !ferror(record->file);
    written = fclose(record->file) == 0 && written;
    if (!written)
        (void)error_set(err, "%s: the record of the input could not be written completely", record->path);
    free(record->path);
    free(record);
    return written;
}

/* Parses a decimal number at the start of *text and skips it and the space that must follow. */
static bool parse_number(const char **text, uint64_t *value)
{
    char *end;
    if (**text < '0' || **text > '9')
        return false;
    errno = 0;
    *value = strtoull(*text, &end, 10);
    if (errno || *end != ' ')
        return false;
    *text = end + 1;
    return true;
}

static bool parse_line(const char *line, struct entry *entry)
{
    static const char digits[] = "0123456789abcdef";
    if (!parse_number(&line, &entry->at.instructions) || !parse_number(&line, &entry->at.ticks))
        return false;
    entry->what = INPUT_END;
    if (strcmp(line, "end") == 0)
        return true;
    const char *high = *line ? strchr(digits, line[0]) : NULL;
    const char *low = high && line[1] ? strchr(digits, line[1]) : NULL;
    if (!low || line[2])
        return false;
    entry->what = (int)(16 * (high - digits) + (low - digits));
    return true;
}

static bool in_order(const struct input_replay *replay, const struct entry *entry)
{
    if (replay->count == 0)
        return true;
    const struct entry *last = &replay->entries[replay->count - 1];
    return last->what != INPUT_END && entry->at.instructions >= last->at.instructions &&
           entry->at.ticks >= last->at.ticks;
}

static void append(struct input_replay *replay, const struct entry *entry)
{
    if (replay->count == replay->room) {
        size_t room = replay->room ? 2 * replay->room : 256;
        replay->entries = alloc_resize(replay->entries, room * sizeof *replay->entries);
        replay->room = room;
    }
    replay->entries[replay->count++] = *entry;
}

static bool read_line(struct input_replay *replay, const char *line, unsigned number, struct error *err)
{
    struct entry entry;
    if (number == 1)
        return strcmp(line, heading) == 0 ||
               error_set(err, "not a record of console input: the first line must be `%s`", heading);
    if (!parse_line(line, &entry))
        return error_set(err,
                         "not `INSTRUCTIONS TICKS BYTE`: two decimal numbers, and two hexadecimal digits "
                         "or `end`");
    if (!in_order(replay, &entry))
        return error_set(err, "out of order: moments never decrease, and nothing follows `end`");
    append(replay, &entry);
    return true;
}

static bool read_file(struct input_replay *replay, FILE *file, struct error *err)
{
    char *line = NULL;
    size_t room = 0;
    ssize_t length;
    unsigned number = 0;
    bool good = true;
    while (good && (length = getline(&line, &room, file)) >= 0) {
        if (length > 0 && line[length - 1] == '\n')
            line[--length] = '\0';
        number++;
        good = (strlen(line) == (size_t)length || error_set(err, "holds a NUL character")) &&
               read_line(replay, line, number, err);
        if (!good)
            (void)error_prefix(err, "line %u", number);
    }
    free(line);
    if (good && ferror(file))
        return error_set(err, "cannot be read: %s", strerror(errno));
    return good && (number > 0 || error_set(err, "is empty; the first line must be `%s`", heading));
}

struct input_replay *input_replay_open(const char *path, struct error *err)
{
    FILE *file = fopen(path, "re");
    struct input_replay *replay = alloc(1, sizeof *replay);
    bool good = file;
    if (!good)
        (void)error_set(err, "cannot be opened: %s", strerror(errno));
    good = good && read_file(replay, file, err);
    if (file)
        (void)fclose(file);
    if (good)
        return replay;
    (void)error_prefix(err, "%s", path);
    input_replay_free(replay);
    return NULL;
}

void input_replay_free(struct input_replay *replay)
{
    if (replay)
        free(replay->entries);
    free(replay);
}

bool input_replay_peek(const struct input_replay *replay, struct moment *at, int *what)
{
    if (replay->next == replay->count)
        return false;
    *at = replay->entries[replay->next].at;
    *what = replay->entries[replay->next].what;
    return true;
}

void input_replay_next(struct input_replay *replay)
{
    if (replay->next < replay->count)
        replay->next++;
}
