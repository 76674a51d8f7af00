#include "emu/experiment/results/results.h"

#include <errno.h>
#include <sqlite3.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <zstd.h>

#include "emu/sim/alloc.h"

enum {
    APPLICATION = 0x63726674, /* "crft": application_id in the file's header */
    FORMAT = 1,               /* user_version */
    RECENT = 16,              /* texts whose numbers are remembered */
    WAIT = 60000,             /* ms to wait for another croft that writes to the file */
    REMEMBERED = 1 << 20,     /* bytes of the longest such text */
    LEVEL = 1,                /* of zstd: runs are added while others wait for a core */
    LARGEST = 1 << 28,        /* bytes of a text when it is read */
};

static const char schema[] =
    "CREATE TABLE text(id INTEGER PRIMARY KEY, digest BLOB NOT NULL UNIQUE, bytes BLOB NOT NULL);"
    "CREATE TABLE run(key BLOB PRIMARY KEY, status INTEGER NOT NULL, failure TEXT, seconds REAL NOT NULL,"
    " memory INTEGER NOT NULL, inputs INTEGER REFERENCES text, command TEXT, machine INTEGER REFERENCES text,"
    " output INTEGER REFERENCES text, messages INTEGER REFERENCES text, names INTEGER REFERENCES text,"
    " statistics BLOB);"
    "CREATE TABLE experiment(name TEXT PRIMARY KEY, number INTEGER NOT NULL, description TEXT NOT NULL,"
    " tables BLOB NOT NULL);";

enum statement { FIND, ADD, FIND_TEXT, ADD_TEXT, STATISTICS, TEXT, STATEMENTS };

static const char *const statements[STATEMENTS] = {
    [FIND] = "SELECT failure, seconds, memory FROM run WHERE key = ?1",
    [ADD] = "INSERT OR REPLACE INTO run VALUES(?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12)",
    [FIND_TEXT] = "SELECT id FROM text WHERE digest = ?1",
    [ADD_TEXT] = "INSERT INTO text(digest, bytes) VALUES(?1, ?2)",
    [STATISTICS] = "SELECT names, statistics FROM run WHERE key = ?1",
    [TEXT] = "SELECT bytes FROM text WHERE id = ?1",
};

struct known_names {
    sqlite3_int64 id;
    struct statistics_names names;
    struct known_names *next;
};

struct results {
    sqlite3 *base;
    char *path;
    sqlite3_stmt *statements[STATEMENTS];
    ZSTD_CCtx *compressor;
    bool open; /* a transaction is open */
    struct recent {
        sqlite3_int64 id; /* 0: none */
        char *text;
        size_t size;
    } recent[RECENT];
    unsigned next; /* element of recent that is replaced next */
    struct known_names *names;
    struct statistics_latest latest;
};

/* Sets err to SQLite's message. Returns false. */
static bool failed(struct results *results, const char *what, struct error *err)
{
    int code = sqlite3_extended_errcode(results->base);
    bool full = (code & 0xff) == SQLITE_FULL || (code & 0xff) == SQLITE_IOERR;
    int cause = (code & 0xff) == SQLITE_CANTOPEN ? sqlite3_system_errno(results->base) : 0;
    return error_set(err, "%s: %s: %s%s", results->path, what,
                     cause ? strerror(cause) : sqlite3_errmsg(results->base),
                     full ? "; is the disk full? What was committed is kept: make room and start again" : "");
}

static bool execute(struct results *results, const char *sql, const char *what, struct error *err)
{
    return sqlite3_exec(results->base, sql, NULL, NULL, NULL) == SQLITE_OK || failed(results, what, err);
}

/* Returns a statement that is ready for values; NULL with err set on failure. */
static sqlite3_stmt *prepared(struct results *results, enum statement which, struct error *err)
{
    sqlite3_stmt **statement = &results->statements[which];
    if (!*statement && sqlite3_prepare_v3(results->base, statements[which], -1, SQLITE_PREPARE_PERSISTENT,
                                          statement, NULL) != SQLITE_OK) {
        (void)failed(results, "reading failed", err);
        return NULL;
    }
    (void)sqlite3_reset(*statement);
    (void)sqlite3_clear_bindings(*statement);
    return *statement;
}

static bool number(struct results *results, const char *sql, int *value, struct error *err)
{
    sqlite3_stmt *statement = NULL;
    bool good = sqlite3_prepare_v2(results->base, sql, -1, &statement, NULL) == SQLITE_OK &&
                sqlite3_step(statement) == SQLITE_ROW;
    *value = good ? sqlite3_column_int(statement, 0) : 0;
    if (!good)
        (void)failed(results, "cannot be read", err);
    (void)sqlite3_finalize(statement);
    return good;
}

/* Makes the tables if the file is new. */
static bool make_tables(struct results *results, struct error *err)
{
    char sql[sizeof schema + 128];
    int tables;
    (void)snprintf(sql, sizeof sql, "PRAGMA application_id = %d; PRAGMA user_version = %d; %s", APPLICATION,
                   FORMAT, schema);
    if (!execute(results, "BEGIN IMMEDIATE", "cannot be written", err))
        return false;
    bool good = number(results, "SELECT count(*) FROM sqlite_schema", &tables, err) &&
                (tables || execute(results, sql, "cannot be written", err));
    return execute(results, good ? "COMMIT" : "ROLLBACK", "cannot be written",
                   good ? err : &(struct error){""}) &&
           good;
}

static bool check_format(struct results *results, struct error *err)
{
    int application, format;
    if (!number(results, "PRAGMA application_id", &application, err) ||
        !number(results, "PRAGMA user_version", &format, err))
        return false;
    if (application != APPLICATION)
        return error_set(err, "%s: not a file of croft's results", results->path);
    return format == FORMAT ||
           error_set(
               err,
               "%s: its results have format %d, of another version of croft; this one has format %d. Name "
               "another file with --results, or remove it to run everything again",
               results->path, format, FORMAT);
}

static bool set_up(struct results *results, bool make, struct error *err)
{
    (void)sqlite3_busy_timeout(results->base, WAIT);
    if (make && (!execute(results, "PRAGMA journal_mode = WAL", "cannot be written", err) ||
                 !execute(results, "PRAGMA synchronous = NORMAL", "cannot be written", err) ||
                 !make_tables(results, err)))
        return false;
    return check_format(results, err);
}

struct results *results_open(const char *path, bool make, struct error *err)
{
    struct results *results = alloc(1, sizeof *results);
    struct stat status;
    results->path = alloc_text(path);
    results->compressor = alloc_checked(ZSTD_createCCtx());
    bool good = make || stat(path, &status) == 0 || error_set(err, "%s: %s", path, strerror(errno));
    if (good && sqlite3_open_v2(path, &results->base,
                                make ? SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE : SQLITE_OPEN_READWRITE,
                                NULL) != SQLITE_OK)
        good = results->base ? failed(results, "cannot be opened", err)
                             : error_set(err, "%s: out of memory", path);
    if (good && set_up(results, make, err))
        return results;
    (void)results_close(results, &(struct error){""});
    return NULL;
}

/* Forgets the numbers of texts, which a transaction that failed takes back. */
static void forget(struct results *results)
{
    for (unsigned i = 0; i < RECENT; i++)
        free(results->recent[i].text);
    memset(results->recent, 0, sizeof results->recent);
}

bool results_close(struct results *results, struct error *err)
{
    if (!results)
        return true;
    bool good = results_commit(results, err);
    for (int i = 0; i < STATEMENTS; i++)
        (void)sqlite3_finalize(results->statements[i]);
    (void)sqlite3_close(results->base);
    (void)ZSTD_freeCCtx(results->compressor);
    forget(results);
    statistics_forget(&results->latest);
    while (results->names) {
        struct known_names *names = results->names;
        results->names = names->next;
        statistics_names_free(&names->names);
        free(names);
    }
    free(results->path);
    free(results);
    return good;
}

static bool begin(struct results *results, struct error *err)
{
    if (!results->open)
        results->open = execute(results, "BEGIN IMMEDIATE", "cannot be written", err);
    return results->open;
}

bool results_commit(struct results *results, struct error *err)
{
    if (!results->open)
        return true;
    results->open = false;
    if (execute(results, "COMMIT", "writing failed", err))
        return true;
    (void)sqlite3_exec(results->base, "ROLLBACK", NULL, NULL, NULL);
    forget(results);
    return false;
}

static void text_column(sqlite3_stmt *statement, int column, char **text)
{
    const unsigned char *value = sqlite3_column_text(statement, column);
    *text = value ? alloc_text((const char *)value) : NULL;
}

int results_find(struct results *results, const struct digest *key, struct results_run *run,
                 struct error *err)
{
    sqlite3_stmt *statement = prepared(results, FIND, err);
    if (!statement)
        return -1;
    (void)sqlite3_bind_blob(statement, 1, key->bytes, DIGEST_BYTES, SQLITE_STATIC);
    int code = sqlite3_step(statement);
    if (code == SQLITE_ROW) {
        text_column(statement, 0, &run->failure);
        run->seconds = sqlite3_column_double(statement, 1);
        run->memory = (long)sqlite3_column_int64(statement, 2);
    } else if (code != SQLITE_DONE)
        (void)failed(results, "cannot be read", err);
    (void)sqlite3_reset(statement);
    return code == SQLITE_ROW ? 1 : code == SQLITE_DONE ? 0 : -1;
}

/* Returns a new buffer with the compressed bytes. */
static void *compressed(struct results *results, const char *bytes, size_t size, size_t *packed)
{
    size_t room = ZSTD_compressBound(size);
    void *buffer = alloc(room, 1);
    *packed = ZSTD_compressCCtx(results->compressor, buffer, room, bytes, size, LEVEL);
    if (ZSTD_isError(*packed))
        alloc_failed(); /* the only error that room enough leaves */
    return buffer;
}

static bool decompressed(const void *packed, int size, struct outcome_text *text)
{
    unsigned long long length = ZSTD_getFrameContentSize(packed, (size_t)size);
    if (length > LARGEST) /* or one of the two codes for errors */
        return false;
    text->bytes = alloc((size_t)length + 1, 1);
    text->size = ZSTD_decompress(text->bytes, (size_t)length, packed, (size_t)size);
    if (text->size == length)
        return true;
    free(text->bytes);
    *text = (struct outcome_text){NULL, 0};
    return false;
}

static sqlite3_int64 find_text(struct results *results, const struct digest *digest, struct error *err)
{
    sqlite3_stmt *statement = prepared(results, FIND_TEXT, err);
    if (!statement)
        return -1;
    (void)sqlite3_bind_blob(statement, 1, digest->bytes, DIGEST_BYTES, SQLITE_STATIC);
    int code = sqlite3_step(statement);
    sqlite3_int64 id = code == SQLITE_ROW ? sqlite3_column_int64(statement, 0) : 0;
    if (code != SQLITE_ROW && code != SQLITE_DONE) {
        (void)failed(results, "cannot be read", err);
        id = -1;
    }
    (void)sqlite3_reset(statement);
    return id;
}

static sqlite3_int64 add_text(struct results *results, const struct digest *digest, const char *bytes,
                              size_t size, struct error *err)
{
    size_t packed;
    sqlite3_stmt *statement = prepared(results, ADD_TEXT, err);
    if (!statement)
        return -1;
    void *buffer = compressed(results, bytes, size, &packed);
    (void)sqlite3_bind_blob(statement, 1, digest->bytes, DIGEST_BYTES, SQLITE_STATIC);
    (void)sqlite3_bind_blob64(statement, 2, buffer, packed, free);
    bool good = sqlite3_step(statement) == SQLITE_DONE || failed(results, "writing failed", err);
    (void)sqlite3_reset(statement);
    return good ? sqlite3_last_insert_rowid(results->base) : -1;
}

/* Stores a text unless it is stored, and returns its number; -1 with err set on failure. */
static sqlite3_int64 keep_text(struct results *results, const char *bytes, size_t size, struct error *err)
{
    for (unsigned i = 0; i < RECENT; i++)
        if (results->recent[i].id > 0 && results->recent[i].size == size &&
            memcmp(bytes, results->recent[i].text, size) == 0)
            return results->recent[i].id;
    struct digest digest = digest_bytes(bytes, size);
    sqlite3_int64 id = find_text(results, &digest, err);
    if (id == 0)
        id = add_text(results, &digest, bytes, size, err);
    if (id > 0 && size <= REMEMBERED) {
        struct recent *recent = &results->recent[results->next++ % RECENT];
        free(recent->text);
        *recent = (struct recent){id, alloc(size, 1), size};
        memcpy(recent->text, bytes, size);
    }
    return id;
}

/* Binds the number of a text to a parameter; NULL and empty texts are none. */
static bool bind_text(struct results *results, sqlite3_stmt *statement, int parameter, const char *bytes,
                      size_t size, struct error *err)
{
    sqlite3_int64 id = bytes && size ? keep_text(results, bytes, size, err) : 0;
    if (id > 0)
        (void)sqlite3_bind_int64(statement, parameter, id);
    return id >= 0;
}

static bool bind_statistics(struct results *results, sqlite3_stmt *statement, const char *names,
                            const char *values, struct error *err)
{
    size_t packed;
    if (!names)
        return true;
    void *buffer = compressed(results, values, strlen(values), &packed);
    (void)sqlite3_bind_blob64(statement, 12, buffer, packed, free);
    return bind_text(results, statement, 11, names, strlen(names), err);
}

static bool add_run(struct results *results, const struct digest *key, const struct outcome *outcome,
                    const struct results_note *note, const char *names, const char *values, struct error *err)
{
    const struct outcome_text *output = &outcome->streams[OUTCOME_OUTPUT],
                              *messages = &outcome->streams[OUTCOME_MESSAGES];
    sqlite3_stmt *statement = begin(results, err) ? prepared(results, ADD, err) : NULL;
    if (!statement)
        return false;
    (void)sqlite3_bind_blob(statement, 1, key->bytes, DIGEST_BYTES, SQLITE_STATIC);
    (void)sqlite3_bind_int(statement, 2, outcome->status);
    (void)sqlite3_bind_text(statement, 3, note->failure, -1, SQLITE_STATIC);
    (void)sqlite3_bind_double(statement, 4, outcome->seconds);
    (void)sqlite3_bind_int64(statement, 5, outcome->memory);
    (void)sqlite3_bind_text(statement, 7, note->command, -1, SQLITE_STATIC);
    bool good =
        bind_text(results, statement, 6, note->inputs, strlen(note->inputs), err) &&
        bind_text(results, statement, 8, note->machine, note->machine ? strlen(note->machine) : 0, err) &&
        bind_text(results, statement, 9, output->bytes, output->size, err) &&
        bind_text(results, statement, 10, messages->bytes, messages->size, err) &&
        bind_statistics(results, statement, names, values, err) &&
        (sqlite3_step(statement) == SQLITE_DONE || failed(results, "writing failed", err));
    (void)sqlite3_reset(statement);
    (void)sqlite3_clear_bindings(statement); /* they borrow the caller's texts */
    return good;
}

bool results_add(struct results *results, const struct digest *key, const struct outcome *outcome,
                 const struct results_note *note, char **failure, struct error *err)
{
    const struct outcome_text *statistics = &outcome->streams[OUTCOME_STATISTICS];
    struct results_note own = *note;
    struct error problem = {""};
    char *names = NULL, *values = NULL;
    *failure = NULL;
    if (statistics->size ? !statistics_pack(&results->latest, statistics->bytes, statistics->size, &names,
                                            &values, &problem)
                         : !note->failure && !error_set(&problem, "it has left no statistics"))
        own.failure = *failure = alloc_text(note->failure ? note->failure : problem.text);
    bool good = add_run(results, key, outcome, &own, names, values, err);
    free(names);
    free(values);
    return good;
}

/* Reads a text by its number. */
static bool load_text(struct results *results, sqlite3_int64 id, struct outcome_text *text, struct error *err)
{
    sqlite3_stmt *statement = prepared(results, TEXT, err);
    if (!statement)
        return false;
    (void)sqlite3_bind_int64(statement, 1, id);
    bool good = sqlite3_step(statement) == SQLITE_ROW &&
                decompressed(sqlite3_column_blob(statement, 0), sqlite3_column_bytes(statement, 0), text);
    (void)sqlite3_reset(statement);
    return good || error_set(err, "%s: text %lld is damaged", results->path, (long long)id);
}

static const struct statistics_names *names_of(struct results *results, sqlite3_int64 id, struct error *err)
{
    struct outcome_text text = {NULL, 0};
    for (struct known_names *known = results->names; known; known = known->next)
        if (known->id == id)
            return &known->names;
    struct known_names *made = alloc(1, sizeof *made);
    made->id = id;
    bool good = load_text(results, id, &text, err);
    if (good && !statistics_names_load(&made->names, text.bytes, text.size))
        good = error_set(err, "%s: text %lld is damaged", results->path, (long long)id);
    else if (good) {
        made->next = results->names;
        results->names = made;
    }
    free(text.bytes);
    if (!good)
        free(made);
    return good ? &made->names : NULL;
}

bool results_statistics(struct results *results, const struct digest *key, struct statistics *statistics,
                        struct error *err)
{
    sqlite3_stmt *statement = prepared(results, STATISTICS, err);
    struct outcome_text text = {NULL, 0};
    if (!statement)
        return false;
    (void)sqlite3_bind_blob(statement, 1, key->bytes, DIGEST_BYTES, SQLITE_STATIC);
    bool found = sqlite3_step(statement) == SQLITE_ROW && sqlite3_column_type(statement, 0) == SQLITE_INTEGER;
    sqlite3_int64 id = found ? sqlite3_column_int64(statement, 0) : 0;
    bool good =
        found && decompressed(sqlite3_column_blob(statement, 1), sqlite3_column_bytes(statement, 1), &text);
    (void)sqlite3_reset(statement);
    if (!good)
        return error_set(err, found ? "its statistics in %s are damaged" : "%s has no statistics of it",
                         results->path);
    const struct statistics_names *names = names_of(results, id, err);
    good = names && (statistics_load(statistics, names, text.bytes, text.size) ||
                     error_set(err, "its statistics in %s are damaged", results->path));
    free(text.bytes);
    return good;
}

const struct statistics_names *results_names(const struct results *results, size_t i)
{
    const struct known_names *known = results->names;
    for (; known && i > 0; i--)
        known = known->next;
    return known ? &known->names : NULL;
}

bool results_read(struct results *results, const struct digest *key, enum results_text which,
                  struct outcome_text *text, struct error *err)
{
    static const char *const columns[] = {"output", "messages", "machine", "command", "inputs"};
    char sql[128];
    sqlite3_stmt *statement = NULL;
    *text = (struct outcome_text){NULL, 0};
    (void)snprintf(sql, sizeof sql, "SELECT %s FROM run WHERE key = ?1", columns[which]);
    if (sqlite3_prepare_v2(results->base, sql, -1, &statement, NULL) != SQLITE_OK)
        return failed(results, "cannot be read", err);
    (void)sqlite3_bind_blob(statement, 1, key->bytes, DIGEST_BYTES, SQLITE_STATIC);
    bool good = true;
    int type = sqlite3_step(statement) == SQLITE_ROW ? sqlite3_column_type(statement, 0) : SQLITE_NULL;
    if (type == SQLITE_TEXT) {
        text->bytes = alloc_text((const char *)sqlite3_column_text(statement, 0));
        text->size = strlen(text->bytes);
    } else if (type == SQLITE_INTEGER)
        good = load_text(results, sqlite3_column_int64(statement, 0), text, err);
    (void)sqlite3_finalize(statement);
    return good;
}

bool results_describe(struct results *results, const char *name, const char *description, const char *tables,
                      struct error *err)
{
    sqlite3_stmt *statement = NULL;
    size_t packed;
    if (!begin(results, err))
        return false;
    if (sqlite3_prepare_v2(
            results->base,
            "INSERT OR REPLACE INTO experiment VALUES(?1, (SELECT 1 + coalesce(max(number), 0) FROM "
            "experiment), ?2, ?3)",
            -1, &statement, NULL) != SQLITE_OK)
        return failed(results, "writing failed", err);
    void *buffer = compressed(results, tables, strlen(tables), &packed);
    (void)sqlite3_bind_text(statement, 1, name, -1, SQLITE_STATIC);
    (void)sqlite3_bind_text(statement, 2, description, -1, SQLITE_STATIC);
    (void)sqlite3_bind_blob64(statement, 3, buffer, packed, free);
    bool good = sqlite3_step(statement) == SQLITE_DONE || failed(results, "writing failed", err);
    (void)sqlite3_finalize(statement);
    return good;
}

char *results_experiment(struct results *results, const char *name, struct error *err)
{
    sqlite3_stmt *statement = NULL;
    struct outcome_text text = {NULL, 0};
    if (sqlite3_prepare_v2(
            results->base,
            "SELECT tables FROM experiment WHERE ?1 IS NULL OR name = ?1 ORDER BY number DESC LIMIT 1", -1,
            &statement, NULL) != SQLITE_OK) {
        (void)failed(results, "cannot be read", err);
        return NULL;
    }
    (void)sqlite3_bind_text(statement, 1, name, -1, SQLITE_STATIC);
    bool found = sqlite3_step(statement) == SQLITE_ROW;
    bool good =
        found && decompressed(sqlite3_column_blob(statement, 0), sqlite3_column_bytes(statement, 0), &text);
    (void)sqlite3_finalize(statement);
    if (!good)
        (void)error_set(err,
                        found ? "%s: the tables of experiment '%s' are damaged" : "%s: no experiment '%s'",
                        results->path, name ? name : "");
    return text.bytes;
}
