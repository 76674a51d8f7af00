#include "emu/cmd/code/assembly.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "emu/sim/alloc.h"

static bool read_bytes(struct assembly *a, const char *path, struct error *err)
{
    FILE *file = fopen(path, "re");
    size_t size = 0, room = 1 << 16;
    if (!file)
        return error_set(err, "%s: %s", path, strerror(errno));
    a->bytes = alloc(room, 1);
    for (size_t got; (got = fread(a->bytes + size, 1, room - size - 1, file)) > 0;) {
        size += got;
        if (room - size < 2)
            a->bytes = alloc_resize(a->bytes, room *= 2);
    }
    a->bytes[size] = '\0';
    bool done = !ferror(file);
    (void)fclose(file);
    return done || error_set(err, "%s: cannot be read", path);
}

static bool begins(const char *text, const char *start)
{
    return strncmp(text, start, strlen(start)) == 0;
}

static const char *skip(const char *text)
{
    return text + strspn(text, " \t");
}

/* Takes the name of a file from: .file N "folder" "name", or .file N "name". */
static void note_file(struct assembly *a, const char *text)
{
    char *end;
    unsigned long number = strtoul(text, &end, 10);
    const char *last = strrchr(end, '"'), *name = last;
    if (end == text || !last || number > 10000)
        return;
    do
        name--;
    while (name > end && *name != '"');
    if (number >= a->file_count) {
        a->files = alloc_resize(a->files, (number + 1) * sizeof *a->files);
        for (; a->file_count <= number; a->file_count++)
            a->files[a->file_count] = NULL;
    }
    free(a->files[number]);
    a->files[number] = strndup(name + 1, (size_t)(last - name - 1));
}

static enum assembly_kind kind_of(const char *text, bool foreign)
{
    const char *word = skip(text);
    size_t name = strcspn(text, ": \t\"");
    if (name > 0 && text[name] == ':' && text[0] != '#')
        return foreign ? ASSEMBLY_FOREIGN : ASSEMBLY_LABEL;
    if (foreign && *word && *word != '#')
        return ASSEMBLY_FOREIGN;
    if (begins(word, ".insn"))
        return ASSEMBLY_FOREIGN;
    return word != text && islower((unsigned char)*word) ? ASSEMBLY_INSN : ASSEMBLY_OTHER;
}

/* Returns the registers that the comment names as used by a call, with bit 0; 0 if one of them is not a plain register. */
static uint64_t uses_in(const char *text)
{
    static const char *const modes[] = {"QI", "HI", "SI", "DI", "SF", "DF"};
    uint64_t set = 1;
    for (const char *at = text; (at = strstr(at, "(use (reg")); at++) {
        const char *mode = at + strcspn(at, ":");
        bool plain = false;
        for (size_t i = 0; i < sizeof modes / sizeof *modes; i++)
            plain |= *mode && begins(mode + 1, modes[i]) && mode[3] == ' ';
        unsigned long number = plain ? strtoul(mode + 4, NULL, 10) : 64;
        if (number >= 64)
            return 0;
        set |= UINT64_C(1) << number;
    }
    return set;
}

/* Returns whether the comment contains a volatile access: a mem with flag v, as in (mem/v:SI or (mem/u/v:DI. */
static bool has_volatile(const char *text)
{
    for (const char *at = text; (at = strstr(at, "(mem/")); at++)
        if (memchr(at, 'v', strcspn(at, ": ")))
            return true;
    return false;
}

/* Notes volatile accesses, and what calls read, from comments like #(call_insn ... (expr_list:DF (use (reg:DF 42 fa0)) ...) before an instruction. */
static void note_calls(struct assembly *a)
{
    uint64_t set = 0;
    bool call = false, is_volatile = false;
    for (size_t i = 0; i < a->count; i++) {
        const char *text = a->lines[i].text;
        if (text[0] == '#' && text[1] == '(') {
            call = begins(text, "#(call_insn");
            is_volatile = false;
            set = 1;
        }
        is_volatile |= text[0] == '#' && has_volatile(text);
        if (text[0] == '#' && call && set) {
            uint64_t uses = uses_in(text);
            set = uses ? set | uses : 0;
        }
        if (a->lines[i].kind == ASSEMBLY_INSN) {
            a->lines[i].arguments = call ? set : 0;
            a->lines[i].is_volatile = is_volatile;
            call = is_volatile = false;
        }
    }
}

static void classify(struct assembly *a)
{
    bool foreign = false;
    int file = 0, number = 0;
    for (size_t i = 0; i < a->count; i++) {
        struct assembly_line *line = &a->lines[i];
        const char *word = skip(line->text);
        if (begins(word, "#APP") || begins(word, "#NO_APP"))
            foreign = begins(word, "#APP");
        line->kind = kind_of(line->text, foreign);
        if (begins(word, ".file"))
            note_file(a, skip(word + 5));
        if (begins(word, ".loc\t") || begins(word, ".loc "))
            (void)sscanf(word + 4, "%d %d", &file, &number);
        line->file = file;
        line->line = number;
    }
}

bool assembly_read(struct assembly *a, const char *path, struct error *err)
{
    size_t room = 0;
    *a = (struct assembly){0};
    if (!read_bytes(a, path, err))
        return false;
    for (char *at = a->bytes; *at;) {
        size_t length = strcspn(at, "\n");
        if (a->count == room) {
            room = room ? 2 * room : 1024;
            a->lines = alloc_resize(a->lines, room * sizeof *a->lines);
        }
        a->lines[a->count++] = (struct assembly_line){.text = at};
        bool last = at[length] == '\0';
        at[length] = '\0';
        at += length + !last;
    }
    classify(a);
    note_calls(a);
    return true;
}

void assembly_free(struct assembly *a)
{
    for (size_t i = 0; i < a->file_count; i++)
        free(a->files[i]);
    free(a->files);
    free(a->lines);
    free(a->bytes);
    *a = (struct assembly){0};
}

bool assembly_write_numbered(const struct assembly *a, size_t unit, const char *path, struct error *err)
{
    FILE *out = fopen(path, "we");
    if (!out)
        return error_set(err, "%s: %s", path, strerror(errno));
    for (size_t i = 0; i < a->count; i++) {
        if (a->lines[i].kind == ASSEMBLY_INSN || a->lines[i].kind == ASSEMBLY_FOREIGN)
            (void)fprintf(out, "croft.line.%zu.%zu:\n", unit, i);
        (void)fprintf(out, "%s\n", a->lines[i].text);
    }
    bool done = !ferror(out);
    done = fclose(out) == 0 && done;
    return done || error_set(err, "%s: cannot be written", path);
}

const char *assembly_operand(const char *line, unsigned number, char operand[ASSEMBLY_OPERAND])
{
    const char *at = skip(line);
    at = skip(at + strcspn(at, " \t"));
    while (number-- && *at) {
        at += strcspn(at, ",");
        at = skip(at + (*at == ','));
    }
    size_t length = strcspn(at, ", \t");
    length = length < ASSEMBLY_OPERAND - 1 ? length : ASSEMBLY_OPERAND - 1;
    memcpy(operand, at, length);
    operand[length] = '\0';
    return operand;
}

static unsigned count_of(const char *line)
{
    unsigned count = 0;
    for (const char *at = line; (at = strchr(at, ',')); at++)
        count++;
    return count;
}

const char *assembly_last_operand(const char *line, char operand[ASSEMBLY_OPERAND])
{
    return assembly_operand(line, count_of(line), operand);
}

bool assembly_is_label(const struct assembly_line *line, const char *label)
{
    size_t length = strlen(label);
    return line->kind == ASSEMBLY_LABEL && strncmp(line->text, label, length) == 0 &&
           line->text[length] == ':';
}

void assembly_place(const struct assembly *a, size_t line, char *text, size_t size)
{
    const struct assembly_line *l = &a->lines[line];
    bool known = l->file > 0 && (size_t)l->file < a->file_count && a->files[l->file];
    if (known)
        (void)snprintf(text, size, "%s:%d", a->files[l->file], l->line);
    else
        (void)snprintf(text, size, "-");
}

static bool is_name(char c)
{
    return isalnum((unsigned char)c) || c == '_' || c == '.' || c == '$';
}

void assembly_write(const char *text, const char *(*suffix_of)(void *context, const char *name),
                    void *context, FILE *out)
{
    char name[ASSEMBLY_OPERAND];
    while (*text) {
        size_t length = 0;
        while (is_name(text[length]))
            length++;
        if (length == 0 || length >= sizeof name) {
            length += length == 0;
            (void)fwrite(text, 1, length, out);
        } else {
            memcpy(name, text, length);
            name[length] = '\0';
            (void)fprintf(out, "%s%s", name, suffix_of(context, name));
        }
        text += length;
    }
    (void)fputc('\n', out);
}
