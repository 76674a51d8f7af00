/* Files that appear whole. */
#include <dirent.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "emu/io/output.h"

struct folder {
    char path[64], file[96];
};

static int set_up(void **state)
{
    struct folder *folder = calloc(1, sizeof *folder);
    strcpy(folder->path, "/tmp/croft-output-XXXXXX");
    assert_non_null(mkdtemp(folder->path));
    (void)snprintf(folder->file, sizeof folder->file, "%s/result", folder->path);
    *state = folder;
    return 0;
}

static unsigned count_files(const struct folder *folder, bool remove_them)
{
    unsigned count = 0;
    DIR *dir = opendir(folder->path);
    for (struct dirent *entry; (entry = readdir(dir));) {
        count += entry->d_name[0] != '.';
        if (remove_them)
            (void)unlinkat(dirfd(dir), entry->d_name, 0);
    }
    (void)closedir(dir);
    return count;
}

static int tear_down(void **state)
{
    struct folder *folder = *state;
    (void)count_files(folder, true);
    assert_int_equal(rmdir(folder->path), 0);
    free(folder);
    return 0;
}

static void put(const char *path, const char *text)
{
    FILE *file = fopen(path, "w");
    (void)fputs(text, file);
    assert_int_equal(fclose(file), 0);
}

static void holds(const char *path, const char *text)
{
    char found[64] = "";
    FILE *file = fopen(path, "r");
    assert_non_null(file);
    (void)fread(found, 1, sizeof found - 1, file);
    (void)fclose(file);
    assert_string_equal(found, text);
}

static struct output *begin(const struct folder *folder)
{
    struct error err;
    struct output *output = output_open(folder->file, &err);
    assert_non_null(output);
    (void)fputs("new", output_stream(output));
    assert_int_equal(fflush(output_stream(output)), 0);
    return output;
}

static void test_place(void **state)
{
    const struct folder *folder = *state;
    struct error err;
    struct stat st;
    struct output *output = begin(folder);
    assert_int_equal(access(folder->file, F_OK), -1);
    assert_true(output_keep(output, &err));
    holds(folder->file, "new");

    put(folder->file, "older");
    assert_int_equal(chmod(folder->file, 0640), 0);
    output = begin(folder);
    holds(folder->file, "older");
    output_drop(output);
    holds(folder->file, "older");
    assert_int_equal(count_files(folder, false), 1);

    assert_true(output_keep(begin(folder), &err));
    holds(folder->file, "new");
    assert_int_equal(stat(folder->file, &st), 0);
    assert_int_equal(st.st_mode & 07777, 0640);
    assert_int_equal(count_files(folder, false), 1);
}

static void test_link(void **state)
{
    struct folder *folder = *state;
    struct error err;
    struct stat st;
    char target[112];
    (void)snprintf(target, sizeof target, "%s/target", folder->path);
    put(target, "older");
    assert_int_equal(symlink("target", folder->file), 0);
    assert_true(output_keep(begin(folder), &err));
    holds(target, "new");
    assert_int_equal(lstat(folder->file, &st), 0);
    assert_true(S_ISLNK(st.st_mode));
}

/* Other names of the file keep seeing it, and links to nothing make what they name. */
static void test_names(void **state)
{
    const struct folder *folder = *state;
    struct error err;
    bool created = true;
    char other[112];
    (void)snprintf(other, sizeof other, "%s/other", folder->path);
    put(folder->file, "older text");
    assert_int_equal(link(folder->file, other), 0);
    assert_true(output_keep(begin(folder), &err));
    holds(other, "new");
    assert_int_equal(unlink(folder->file), 0);
    assert_int_equal(unlink(other), 0);
    assert_int_equal(symlink("other", folder->file), 0);
    assert_true(output_keep(begin(folder), &err));
    holds(other, "new");

    assert_true(output_try(folder->file, &created, &err));
    assert_false(created);
    holds(other, "new");
    assert_int_equal(unlink(other), 0);
    assert_true(output_try(other, &created, &err));
    assert_true(created);
    assert_false(output_try(folder->path, &created, &err));
}

static void test_failures(void **state)
{
    const struct folder *folder = *state;
    struct error err;
    assert_null(output_open(folder->path, &err));
    assert_non_null(strstr(err.text, "cannot write '/tmp/croft-output-"));
    assert_non_null(strstr(err.text, ": Is a directory"));
    assert_null(output_open("/nowhere/at/all", &err));
    if (access("/dev/full", W_OK) != 0)
        return;
    struct output *full = output_open("/dev/full", &err);
    assert_non_null(full);
    (void)fputs("new", output_stream(full));
    assert_false(output_keep(full, &err));
    assert_string_equal(err.text, "writing '/dev/full' failed: No space left on device");
    assert_int_equal(access("/dev/full", W_OK), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_place, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_link, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_names, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_failures, set_up, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
