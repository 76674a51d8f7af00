#include "emu/experiment/runs/identity.h"

#include <errno.h>
#include <fcntl.h>
#include <gelf.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "emu/machine/machine.h"
#include "emu/sim/alloc.h"

enum { MACHINES = 1024 }; /* resolved machines that are remembered */

struct known_file {
    char *path;
    struct digest digest;
    struct known_file *next;
};

struct known_machine {
    struct digest request, resolved; /* of name and settings; of the text */
    char *text;                      /* NULL: none */
    char **files;                    /* names of the files that its keys name, then NULL; or NULL */
};

struct identity {
    const struct experiment_where *where;
    struct digest croft;
    struct known_file *files;
    struct known_machine machines[MACHINES];
    struct machine_config latest; /* the machine that was loaded last, for latest_request */
    struct digest latest_request;
    bool loaded; /* `latest` is valid */
    char *inputs;
};

/* Erases the names of source files in a symbol table. */
static void erase_names(char *bytes, size_t size, Elf *elf, Elf_Scn *section, const GElf_Shdr *header)
{
    GElf_Shdr strings;
    GElf_Sym symbol;
    Elf_Data *data = elf_getdata(section, NULL);
    Elf_Scn *names = elf_getscn(elf, header->sh_link);
    if (!data || !names || !gelf_getshdr(names, &strings) || header->sh_entsize == 0)
        return;
    for (int i = 0; gelf_getsym(data, i, &symbol); i++) {
        uint64_t name = strings.sh_offset + symbol.st_name;
        if (GELF_ST_TYPE(symbol.st_info) != STT_FILE || strings.sh_offset >= size || symbol.st_name >= size)
            continue;
        for (; name < size && bytes[name]; name++)
            bytes[name] = '?';
    }
}

bool identity_program(const char *path, struct digest *digest, struct error *err)
{
    struct outcome_text text = {NULL, 0};
    GElf_Shdr header;
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    bool good =
        fd >= 0 ? outcome_read(fd, SIZE_MAX, &text, err) : error_set(err, "%s: %s", path, strerror(errno));
    if (fd >= 0)
        (void)close(fd);
    if (!good)
        return false;
    char *copy = alloc(text.size + 1, 1); /* libelf may change the bytes that it reads */
    memcpy(copy, text.bytes, text.size);
    (void)elf_version(EV_CURRENT);
    Elf *elf = elf_memory(copy, text.size);
    for (Elf_Scn *section = NULL; elf && (section = elf_nextscn(elf, section)) != NULL;)
        if (gelf_getshdr(section, &header) && header.sh_type == SHT_SYMTAB)
            erase_names(text.bytes, text.size, elf, section, &header);
    (void)elf_end(elf);
    *digest = digest_bytes(text.bytes, text.size);
    free(text.bytes);
    free(copy);
    return true;
}

static const struct digest *
known_digest(struct identity *identity, const char *path,
             bool (*make)(const char *path, struct digest *digest, struct error *err), struct error *err)
{
    for (struct known_file *file = identity->files; file; file = file->next)
        if (strcmp(file->path, path) == 0)
            return &file->digest;
    struct known_file *file = alloc(1, sizeof *file);
    if (!make(path, &file->digest, err)) {
        free(file);
        return NULL;
    }
    file->path = alloc_text(path);
    file->next = identity->files;
    identity->files = file;
    return &file->digest;
}

/* Finds the number that the linker has made of a program's bytes (--build-id). Returns false if it has none. */
static bool build_id(Elf *elf, char *text, size_t room)
{
    GElf_Shdr header;
    GElf_Nhdr note;
    size_t name, bytes;
    for (Elf_Scn *section = NULL; elf && (section = elf_nextscn(elf, section)) != NULL;) {
        if (!gelf_getshdr(section, &header) || header.sh_type != SHT_NOTE)
            continue;
        Elf_Data *data = elf_getdata(section, NULL);
        if (!data || gelf_getnote(data, 0, &note, &name, &bytes) == 0 || note.n_type != NT_GNU_BUILD_ID ||
            note.n_namesz != sizeof ELF_NOTE_GNU || 2 * (size_t)note.n_descsz >= room ||
            memcmp((const char *)data->d_buf + name, ELF_NOTE_GNU, sizeof ELF_NOTE_GNU) != 0)
            continue;
        for (size_t i = 0; i < note.n_descsz; i++)
            (void)snprintf(text + 2 * i, 3, "%02x", ((const unsigned char *)data->d_buf + bytes)[i]);
        return note.n_descsz > 0;
    }
    return false;
}

bool identity_executable(const char *path, struct digest *digest, struct error *err)
{
    struct stat status;
    char text[256] = "";
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0 || fstat(fd, &status) != 0) {
        int failure = errno;
        if (fd >= 0)
            (void)close(fd);
        return error_set(err, "%s: %s", path, strerror(failure));
    }
    (void)elf_version(EV_CURRENT);
    Elf *elf = elf_begin(fd, ELF_C_READ, NULL);
    bool found = build_id(elf, text, sizeof text - 32);
    (void)elf_end(elf);
    (void)close(fd);
    if (!found)
        return digest_file(path, digest, err);
    (void)snprintf(text + strlen(text), 32, " %lld", (long long)status.st_size);
    *digest = digest_bytes(text, strlen(text));
    return true;
}

/* Digests the executable and the files that belong to it: another build may compute other results. */
static bool digest_croft(struct identity *identity, struct error *err)
{
    char text[8 * DIGEST_TEXT] = "";
    struct digest digest;
    if (!identity_executable(identity->where->croft, &digest, err))
        return false;
    digest_text(&digest, text);
    for (size_t i = 0; identity->where->parts[i]; i++)
        if (access(identity->where->parts[i], R_OK) == 0) {
            if (!digest_file(identity->where->parts[i], &digest, err))
                return false;
            digest_text(&digest, text + strlen(text));
        }
    identity->croft = digest_bytes(text, strlen(text));
    return true;
}

struct identity *identity_new(const struct experiment_where *where, struct error *err)
{
    struct identity *identity = alloc(1, sizeof *identity);
    identity->where = where;
    if (digest_croft(identity, err))
        return identity;
    identity_free(identity);
    return NULL;
}

static void forget(struct known_machine *known)
{
    for (size_t i = 0; known->files && known->files[i]; i++)
        free(known->files[i]);
    free(known->files);
    free(known->text);
    known->files = NULL;
    known->text = NULL;
}

void identity_free(struct identity *identity)
{
    if (!identity)
        return;
    while (identity->files) {
        struct known_file *file = identity->files;
        identity->files = file->next;
        free(file->path);
        free(file);
    }
    for (size_t i = 0; i < MACHINES; i++)
        forget(&identity->machines[i]);
    if (identity->loaded)
        machine_free(&identity->latest);
    free(identity->inputs);
    free(identity);
}

/* Removes empty lines and comments from a description that machine_show() has written. The comments tell where values come
 * from, which does not change the run. */
static void strip(char *text)
{
    char *to = text;
    for (char *line = text, *next; *line; line = next) {
        size_t length = strcspn(line, "\n");
        next = line + length + (line[length] == '\n');
        size_t indent = strspn(line, " ");
        if (indent == length || line[indent] == '#')
            continue;
        line[length] = '\0';
        for (char *comment = line; (comment = strstr(comment, "  # ")) != NULL; comment++) {
            char *later = strstr(comment + 1, "  # ");
            if (!later) { /* the last "  # ": values may contain it, comments do not */
                *comment = '\0';
                break;
            }
        }
        length = strlen(line);
        memmove(to, line, length);
        to[length] = '\n';
        to += length + 1;
    }
    *to = '\0';
}

/* Loads a machine and returns its resolved description as text; NULL with err set if there is none. */
static char *resolve(struct identity *identity, const struct experiment_task *task, struct error *err)
{
    size_t count = 0, size;
    char *text = NULL;
    while (task->sets[count])
        count++;
    if (identity->loaded)
        machine_free(&identity->latest);
    identity->loaded = machine_load(&identity->latest, task->machine, identity->where->machines,
                                    (const char *const *)task->sets, count, err);
    if (!identity->loaded)
        return NULL;
    FILE *out = open_memstream(&text, &size);
    if (!out)
        alloc_failed();
    machine_show(&identity->latest, out);
    if (fclose(out) != 0)
        alloc_failed();
    strip(text);
    return text;
}

static bool is_file(const char *path)
{
    struct stat status;
    return stat(path, &status) == 0 && S_ISREG(status.st_mode);
}

/* Returns the names of the files that a machine's keys name, such as the table of its pages. */
static char **files_of(const struct tree *tree)
{
    size_t count = 0;
    char **files = alloc(1, sizeof *files), value[FIELD_VALUE];
    for (const struct instance *part = tree_next(tree, NULL); part; part = tree_next(tree, part))
        for (size_t i = 0; i < part->kind->field_count; i++) {
            const struct part_field *field = &part->kind->fields[i];
            if (field->type != FIELD_TEXT)
                continue;
            (void)snprintf(value, sizeof value, "%.*s", (int)field->size,
                           (const char *)part->config + field->offset);
            if (!is_file(value))
                continue;
            files = alloc_resize(files, (count + 2) * sizeof *files);
            files[count++] = alloc_text(value);
            files[count] = NULL;
        }
    return files;
}

/* Returns the machine of a task; NULL with err set if it is wrong. */
static const struct known_machine *machine_of(struct identity *identity, const struct experiment_task *task,
                                              struct error *err)
{
    char *request = NULL;
    size_t size;
    FILE *out = open_memstream(&request, &size);
    if (!out)
        alloc_failed();
    (void)fprintf(out, "%s", task->machine);
    for (char **set = task->sets; *set; set++)
        (void)fprintf(out, "%c%s", '\0', *set);
    if (fclose(out) != 0)
        alloc_failed();
    struct digest digest = digest_bytes(request, size);
    struct known_machine *known =
        &identity->machines[(digest.bytes[0] | (unsigned)digest.bytes[1] << 8) % MACHINES];
    free(request);
    if (known->text && memcmp(&known->request, &digest, sizeof digest) == 0)
        return known;
    forget(known);
    known->request = digest;
    if (!(known->text = resolve(identity, task, err)))
        return NULL;
    known->files = files_of(identity->latest.tree);
    identity->latest_request = digest;
    known->resolved = digest_bytes(known->text, strlen(known->text));
    return known;
}

static void note(FILE *out, const char *what, const char *word, const struct digest *digest)
{
    char text[DIGEST_TEXT] = "";
    if (digest)
        digest_text(digest, text);
    (void)fprintf(out, "%s %zu:%s%s%s\n", what, strlen(word), word, digest ? " " : "", text);
}

/* Notes words, and the digests of files that a word, or the part after its first '=', names. */
static bool note_words(struct identity *identity, FILE *out, const char *what, char *const *words,
                       struct error *err)
{
    for (; words && *words; words++) {
        const struct digest *digest = NULL;
        const char *value = strchr(*words, '='), *path = is_file(*words) ? *words : value ? value + 1 : "";
        if (is_file(path) && !(digest = known_digest(identity, path, digest_file, err)))
            return false;
        note(out, what, *words, digest);
    }
    return true;
}

bool identity_find(struct identity *identity, const struct experiment_task *task, struct identity_run *run,
                   struct error *err)
{
    size_t size;
    const struct digest *program = known_digest(identity, task->program, identity_program, err);
    const struct known_machine *machine = program && !task->croft ? machine_of(identity, task, err) : NULL;
    const struct digest *other =
        program && task->croft ? known_digest(identity, task->croft, digest_file, err) : NULL;
    if (!machine && !other)
        return false;
    const char *slash = strrchr(task->program, '/');
    free(identity->inputs);
    FILE *out = open_memstream(&identity->inputs, &size);
    if (!out)
        alloc_failed();
    note(out, "croft", "", machine ? &identity->croft : other);
    note(out, "program", slash ? slash + 1 : task->program, program);
    if (machine)
        note(out, "machine", "", &machine->resolved);
    bool good = !machine || note_words(identity, out, "machine's file", machine->files, err);
    /* How another croft resolves a description is unknown, so note the description's own text. */
    good = good &&
           (machine || (note_words(identity, out, "machine", (char *const[]){task->machine, NULL}, err) &&
                        note_words(identity, out, "set", task->sets, err))) &&
           note_words(identity, out, "option", task->options, err) &&
           note_words(identity, out, "argument", task->arguments, err) &&
           note_words(identity, out, "file", task->files, err);
    if (fclose(out) != 0)
        alloc_failed();
    bool latest = machine && identity->loaded &&
                  memcmp(&machine->request, &identity->latest_request, sizeof machine->request) == 0;
    *run = (struct identity_run){digest_bytes(identity->inputs, size), identity->inputs,
                                 machine ? machine->text : NULL, latest ? &identity->latest : NULL};
    return good;
}
