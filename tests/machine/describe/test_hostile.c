/* Invalid descriptions: none may crash or hang; each gives one line of message. */
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

#include <cmocka.h>

#include "emu/machine/machine.h"
#include "tests/machine/folder.h"

static bool load(const struct folder *folder, const char *name, struct error *err)
{
    char path[256];
    struct machine_config config;
    (void)snprintf(path, sizeof path, "%s/%s", folder->path, name);
    err->text[0] = '\0';
    bool loaded = machine_load(&config, path, folder->shipped, NULL, 0, err);
    if (loaded)
        machine_free(&config);
    return loaded;
}

/* The bytes must be refused, with one printable line that names the file. */
static void assert_refused(const struct folder *folder, const void *bytes, size_t size)
{
    struct error err;
    folder_write(folder, "m.yaml", bytes, size);
    assert_false(load(folder, "m.yaml", &err));
    assert_non_null(strstr(err.text, "/m.yaml:"));
    for (const char *c = err.text; *c; c++)
        assert_true(*c >= ' ' && *c <= '~');
}

struct input {
    size_t size;
    const char *bytes;
};

#define BYTES(literal)                                                                                       \
    {                                                                                                        \
        sizeof(literal) - 1, literal                                                                         \
    }

static const struct input samples[] = {
    BYTES("\0"),
    BYTES("\0\0\0\0\0\0\0\0"),
    BYTES("\xff\xfe"),
    BYTES("\xff\xfeh\0a\0r\0t\0s\0:\0 \0\x32\0"), /* UTF-16, and 2 harts */
    BYTES("\xef\xbb\xbf"),
    BYTES("\x7f"
          "ELF\x02\x01\x01\0\0\0"),
    BYTES("\x80\x81\x82"),
    BYTES("harts: \xc3\x28"),
    BYTES("{"),
    BYTES("[[[[[[[["),
    BYTES("{{{{{{{{"),
    BYTES("{? {? {? {"),
    BYTES("- - - - - -"),
    BYTES("? ? ? ?"),
    BYTES(": : :"),
    BYTES("\t\tharts: 1"),
    BYTES("harts: 'open"),
    BYTES("harts: \"\\"),
    BYTES("harts: \"\\x"),
    BYTES("harts: \"\\U00110000\""),
    BYTES("harts: |9\n x"),
    BYTES("%YAML 9.9\n---\nharts: 1"),
    BYTES("%TAG ! tag:\n---\n!x harts: 1"),
    BYTES("%%%%"),
    BYTES("--- --- ---"),
    BYTES("...\n...\n"),
    BYTES("&a [*a, *a]"),
    BYTES("&a {*a : *a}"),
    BYTES("*a"),
    BYTES("a: &a [x,x]\nb: &b [*a,*a]\nc: [*b,*b]"),
    BYTES("<<: {harts: 1}"),
    BYTES("\"har\\0ts\": 1"),
    BYTES("\"harts\\n\\e[2J\": 1"),
    BYTES("harts: \"\\e]0;title\\a\""),
    BYTES("\"\": 1"),
    BYTES("'.': 1"),
    BYTES("memory: {'': 1}"),
    BYTES("memory: {memory: {memory: {memory: 1}}}"),
    BYTES("harts: 99999999999999999999999999999999999999999999999999"),
    BYTES("memory: {size: 1e9 B}"),
    BYTES("memory: {size: %s%s%n B}"),
    BYTES("host: {core: 0}"),
    BYTES("name: \xf4\x8f\xbf\xbf"),
    BYTES("name: \"\\u2028\""),
    BYTES("name: \"\\uFEFF\""),
};

static void samples_are_refused(void **state)
{
    for (size_t i = 0; i < sizeof samples / sizeof samples[0]; i++)
        assert_refused(*state, samples[i].bytes, samples[i].size);
}

/* Repeats a piece up to a total of `size` bytes. */
static void repeated_is_refused(const struct folder *folder, const char *piece, size_t size)
{
    size_t length = strlen(piece);
    char *bytes = test_malloc(size);
    for (size_t i = 0; i < size; i++)
        bytes[i] = piece[i % length];
    assert_refused(folder, bytes, size);
    test_free(bytes);
}

static void big_inputs_end_quickly(void **state)
{
    static const char *const pieces[] = {
        "[", "{",         "- ", "? ",      "a", "a: {", "\n",   "harts: 1\n", "&a [*a,",         "\"\\",
        "#", "memory:\n", "'",  "name: x", "%", "| \n", "--- ", "a: b\n",     "\xf0\x9f\x98\x80"};
    clock_t begin = clock();
    for (size_t i = 0; i < sizeof pieces / sizeof pieces[0]; i++) {
        repeated_is_refused(*state, pieces[i], 1 << 20);
        repeated_is_refused(*state, pieces[i], (1 << 20) + 1);
    }
    assert_true(clock() - begin < 30 * CLOCKS_PER_SEC);
}

static void too_large_a_file_is_named_so(void **state)
{
    const struct folder *folder = *state;
    char path[256];
    struct error err;
    folder_write(folder, "m.yaml", "{}", 2);
    (void)snprintf(path, sizeof path, "%s/m.yaml", folder->path);
    assert_int_equal(truncate(path, (off_t)1 << 40), 0); /* a file with a hole, which uses no disk */
    assert_false(load(folder, "m.yaml", &err));
    assert_non_null(strstr(err.text, "larger than 1 MiB"));
}

static void what_is_no_file_is_refused(void **state)
{
    const struct folder *folder = *state;
    char path[256];
    struct error err;
    (void)snprintf(path, sizeof path, "%s/fifo.yaml", folder->path);
    assert_int_equal(mkfifo(path, 0600), 0);
    assert_false(load(folder, "fifo.yaml", &err)); /* must not wait for a writer */
    assert_non_null(strstr(err.text, "not a regular file"));
    assert_false(load(folder, "shipped", &err));
    assert_non_null(strstr(err.text, "not a regular file"));
    (void)snprintf(path, sizeof path, "%s/loop.yaml", folder->path);
    assert_int_equal(symlink("loop.yaml", path), 0);
    assert_false(load(folder, "loop.yaml", &err));
    assert_non_null(strstr(err.text, "cannot be opened"));
}

/* Every single-byte change and every truncation of a good file, of a machine with timing, loads or is refused; neither crashes. */
static void mutations_of_a_good_file_are_survived(void **state)
{
    static const char good[] =
        "name: a\nmemory:\n  base: 0x1000\n  size: \"64 MiB\"\nhost: {core: ooo, rob: 64}\n"
        "x: {kind: link, from: 'crossbar.out[1]', to: dram}\ncrossbar: {}\n"
        "l2.memory: 'crossbar.in[0]'\n";
    static const char bytes[] = {0,    '\n', ' ', ':', '{', '}', '[', '"',
                                 '\'', '&',  '*', '!', '|', '#', '-', '\x80'};
    const struct folder *folder = *state;
    size_t loaded = 0, refused = 0;
    for (size_t at = 0; at < sizeof good - 1; at++) {
        char changed[sizeof good];
        struct error err;
        folder_write(folder, "m.yaml", good, at);
        *(load(folder, "m.yaml", &err) ? &loaded : &refused) += 1;
        for (size_t i = 0; i < sizeof bytes; i++) {
            memcpy(changed, good, sizeof good);
            changed[at] = bytes[i];
            folder_write(folder, "m.yaml", changed, sizeof good - 1);
            bool fine = load(folder, "m.yaml", &err);
            *(fine ? &loaded : &refused) += 1;
            if (!fine &&
                (strncmp(err.text, folder->path, strlen(folder->path)) != 0 || !strstr(err.text, "m.yaml:")))
                fail_msg("%s", err.text);
        }
    }
    assert_true(loaded > 50 && refused > 300); /* both must occur */
}

#define FOLDER_TEST(test) cmocka_unit_test_setup_teardown(test, folder_make, folder_remove)

int main(void)
{
    const struct CMUnitTest tests[] = {
        FOLDER_TEST(samples_are_refused),
        FOLDER_TEST(big_inputs_end_quickly),
        FOLDER_TEST(too_large_a_file_is_named_so),
        FOLDER_TEST(what_is_no_file_is_refused),
        FOLDER_TEST(mutations_of_a_good_file_are_survived),
    };
    return cmocka_run_group_tests_name("hostile machine descriptions", tests, NULL, NULL);
}
