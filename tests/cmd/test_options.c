/* Command lines: which options and arguments are taken, in which order, and the exit statuses. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "emu/cmd/options.h"

enum { QUICK, FILE_NAME };

static const struct option_row rows[] = {
    [QUICK] = {"quick", 'q', NULL, "without a value"},
    [FILE_NAME] = {"file", 'f', "FILE", "with a value"},
};

static const struct option_set whole = {"croft test", "", "", "croft test", NULL, false, 2, rows, NULL};
static const struct option_set until_argument = {"croft test", "", "",   "croft test", NULL,
                                                 true,         2,  rows, NULL};

/* The options and arguments taken, as text: q, f=VALUE or VALUE, each after a space. */
struct taken {
    char text[256];
    int refuses; /* option (or OPTION_ARGUMENT) for which take() returns status 7; -9: none */
};

static int take(void *context, int option, const char *value)
{
    struct taken *taken = context;
    size_t used = strlen(taken->text);
    if (option == taken->refuses)
        return 7;
    (void)snprintf(taken->text + used, sizeof taken->text - used, " %s%s",
                   option == QUICK       ? "q"
                   : option == FILE_NAME ? "f="
                                         : "",
                   value ? value : "");
    return OPTIONS_TAKEN;
}

/* Parses words separated by spaces. What is printed to `stream` goes to a file, whose first bytes are
 * returned in printed[]. */
static int parse(const struct option_set *set, const char *words, struct taken *taken, int stream,
                 char printed[512])
{
    char copy[256], *argv[16] = {copy}, *rest = copy;
    int argc = 1;
    (void)snprintf(copy, sizeof copy, "command %s", words);
    (void)strtok_r(copy, " ", &rest);
    for (char *word; (word = strtok_r(NULL, " ", &rest)) != NULL;)
        argv[argc++] = word;
    FILE *file = tmpfile();
    assert_non_null(file);
    (void)fflush(NULL);
    int kept = dup(stream);
    (void)dup2(fileno(file), stream);
    int status = options_parse(set, argc, argv, take, taken);
    (void)fflush(NULL);
    (void)dup2(kept, stream);
    (void)close(kept);
    rewind(file);
    printed[fread(printed, 1, 511, file)] = '\0';
    (void)fclose(file);
    return status;
}

static void all_forms_are_taken_in_order(void **state)
{
    (void)state;
    static const struct {
        const struct option_set *set;
        const char *words, *taken;
    } cases[] = {
        {&whole, "", ""},
        {&whole, "a --quick b -q", " a q b q"},
        {&whole, "--file x --file=y -f z -fw", " f=x f=y f=z f=w"},
        {&whole, "--file= --file -q", " f= f=-q"},
        {&whole, "a -- --quick -", " a --quick -"},
        {&whole, "- -q", " - q"},
        {&until_argument, "-q a -q --help --", " q a -q --help --"},
        {&until_argument, "-- -q", " -q"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct taken taken = {.refuses = -9};
        char printed[512];
        assert_int_equal(parse(cases[i].set, cases[i].words, &taken, STDERR_FILENO, printed), OPTIONS_TAKEN);
        assert_string_equal(taken.text, cases[i].taken);
        assert_string_equal(printed, "");
    }
}

static void wrong_options_end_with_status_2(void **state)
{
    (void)state;
    static const struct {
        const char *words, *message;
    } cases[] = {
        {"a --quikc b", "croft test: unknown option '--quikc'; did you mean '--quick'?\n"},
        {"a --zzz", "croft test: unknown option '--zzz'; 'croft test --help' lists the options\n"},
        {"a -z", "croft test: unknown option '-z'; 'croft test --help' lists the options\n"},
        {"a --quick=1", "croft test: option '--quick' takes no value, but '1' was given\n"},
        {"a --file", "croft test: option '--file' needs a value: --file FILE\n"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct taken taken = {.refuses = -9};
        char printed[512];
        assert_int_equal(parse(&whole, cases[i].words, &taken, STDERR_FILENO, printed), 2);
        assert_string_equal(taken.text, " a");
        assert_string_equal(printed, cases[i].message);
    }
}

static void help_ends_with_status_0(void **state)
{
    (void)state;
    static const char *const cases[] = {"a --help b", "a -h b"};
    for (size_t i = 0; i < 2; i++) {
        struct taken taken = {.refuses = -9};
        char printed[512];
        assert_int_equal(parse(&whole, cases[i], &taken, STDOUT_FILENO, printed), 0);
        assert_string_equal(taken.text, " a");
        assert_non_null(strstr(printed, "usage: croft test"));
        assert_non_null(strstr(printed, "-f, --file FILE"));
    }
}

static void a_refusal_ends_with_its_status(void **state)
{
    (void)state;
    static const int refused[] = {QUICK, FILE_NAME, OPTION_ARGUMENT};
    static const char *const taken_before[] = {" f=x a", "", " f=x"};
    for (size_t i = 0; i < 3; i++) {
        struct taken taken = {.refuses = refused[i]};
        char printed[512];
        assert_int_equal(parse(&whole, "-fx a -q b", &taken, STDERR_FILENO, printed), 7);
        assert_string_equal(taken.text, taken_before[i]);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(all_forms_are_taken_in_order),
        cmocka_unit_test(wrong_options_end_with_status_2),
        cmocka_unit_test(help_ends_with_status_0),
        cmocka_unit_test(a_refusal_ends_with_its_status),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
