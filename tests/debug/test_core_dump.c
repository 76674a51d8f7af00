/* Core files with more ranges than an ELF header can count: readelf finds them all. */
#include "emu/debug/core_dump.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#define BASE UINT64_C(0x80000000)

/* Every other page exists; each holds zeros. */
static bool every_other(void *context, uint64_t address, uint8_t bytes[CORE_DUMP_PAGE])
{
    (void)context;
    memset(bytes, 0, CORE_DUMP_PAGE);
    return address / CORE_DUMP_PAGE % 2 == 0;
}

/* Returns what a shell command prints, as a number. */
static uint64_t number(const char *format, const char *path)
{
    char command[256], line[64] = "";
    (void)snprintf(command, sizeof command, format, path);
    FILE *in = popen(command, "r");
    assert_non_null(in);
    (void)fgets(line, sizeof line, in);
    assert_int_equal(pclose(in), 0);
    return strtoull(line, NULL, 0);
}

static void ranges_are_counted(void **state)
{
    static const uint64_t counts[] = {1, 65533, 65534, 70000};
    static const uint64_t x[32], f[32];
    const struct core_thread thread = {1, BASE, x, f, 0};
    (void)state;
    for (size_t i = 0; i < sizeof counts / sizeof *counts; i++) {
        char path[] = "/tmp/test-core-XXXXXX";
        const uint64_t last = BASE + 2 * (counts[i] - 1) * CORE_DUMP_PAGE;
        const struct core_range range = {BASE, last + CORE_DUMP_PAGE};
        const struct core_dump core = {11, &thread, 1, &range, 1, every_other, NULL};
        int fd = mkstemp(path);
        FILE *out = fdopen(fd, "w");
        assert_non_null(out);
        assert_true(core_dump_write(out, &core));
        assert_int_equal(fclose(out), 0);
        assert_int_equal(number("LC_ALL=C readelf -lW %s | grep -c LOAD", path), counts[i]);
        assert_int_equal(number("LC_ALL=C readelf -lW %s | awk '/LOAD/ { at = $3 } END { print at }'", path),
                         last);
        assert_int_equal(number("LC_ALL=C readelf -nW %s 2>&1 | grep -c PRSTATUS", path), 1);
        (void)unlink(path);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(ranges_are_counted),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
