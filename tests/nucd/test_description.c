/* What NUCD reads from a machine's description: the accelerators that take tasks, the firmware's memory, and
 * warnings. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "emu/machine/machine.h"
#include "emu/nucd/description.h"
#include "emu/nucd/engine/engines.h"

enum { SETS = 4, TEXT = 1024 };

/* Loads machine nucd with these settings; the list ends with NULL. */
static void load(struct machine_config *machine, const char *const sets[SETS])
{
    struct error err;
    size_t count = 0;
    while (count < SETS && sets[count])
        count++;
    if (!machine_load(machine, "nucd", "emu/machine/shipped", sets, count, &err))
        fail_msg("%s", err.text);
}

/* Returns what nucd_warn_hosts() writes to standard error. */
static void warnings_of(const char *const sets[SETS], char text[TEXT])
{
    struct machine_config machine;
    FILE *file = tmpfile();
    int kept = dup(STDERR_FILENO);
    assert_true(file && kept >= 0);
    load(&machine, sets);
    fflush(stderr);
    assert_true(dup2(fileno(file), STDERR_FILENO) >= 0);
    nucd_warn_hosts(machine.tree);
    fflush(stderr);
    assert_true(dup2(kept, STDERR_FILENO) >= 0);
    close(kept);
    rewind(file);
    text[fread(text, 1, TEXT - 1, file)] = '\0';
    fclose(file);
    machine_free(&machine);
}

static void hosts_that_do_not_offload_are_named(void **state)
{
    static const struct {
        const char *sets[SETS], *text;
    } cases[] = {
        {{"host.count=1"}, ""},
        {{"host.count=4", "nucd.hosts=4"}, ""},
        {{"host.count=4", "nucd.hosts=8"}, ""},
        {{"host.count=4", "nucd.mode=none"}, ""},
        {{"host.count=4", "nucd.mode=driver"}, ""},
        {{"host.count=4", "accel.count=0"}, ""},
        {{"host.count=2"}, ""},
        {{"host.count=4", "accel.count=1"}, ""},
        {{"host.count=2", "nucd.hosts=1"},
         "croft run: warning: nucd.hosts is 1: host.1 does not offload, but runs all regions; to let it "
         "offload, "
         "set nucd.hosts to 2\n"},
        {{"host.count=6", "nucd.hosts=2", "nucd.mode=ideal"},
         "croft run: warning: nucd.hosts is 2: host.2 to host.5 do not offload, but run all regions; to let "
         "them "
         "offload, set nucd.hosts to 6\n"},
        {{"host.count=4", "nucd.arbitration=partition", "accel.count=3"},
         "croft run: warning: accel.count is 3: host.3 does not offload, but runs all regions; to let it "
         "offload, "
         "set accel.count to 4 or more\n"},
        {{"host.count=4", "nucd.hosts=2", "accel.count=3"},
         "croft run: warning: nucd.hosts is 2: host.2 to host.3 do not offload, but run all regions; to let "
         "them "
         "offload, set nucd.hosts to 4\n"},
        {{"host.count=4", "nucd.hosts=2", "nucd.arbitration=partition", "accel.count=3"},
         "croft run: warning: nucd.hosts is 2: host.2 to host.3 do not offload, but run all regions; to let "
         "them "
         "offload, set nucd.hosts to 4 and accel.count to 4 or more\n"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char text[TEXT];
        warnings_of(cases[i].sets, text);
        assert_string_equal(text, cases[i].text);
    }
}

/* The number of hosts that offload is the lesser of nucd.hosts and hosts; if they do not share accelerators, there
 * is one at least for each. */
static void engines_are_of_the_first_hosts(void **state)
{
    struct nucd_config config = {.mode = NUCD_MODE_NUCD, .hosts = 2};
    (void)state;
    assert_int_equal(engines_hosts(&config, 4, 16), 2);
    assert_int_equal(engines_hosts(&config, 1, 16), 1);
    assert_int_equal(engines_hosts(&config, 4, 1), 2);
    config.arbitration = NUCD_PARTITION;
    assert_int_equal(engines_hosts(&config, 4, 1), 1);
    assert_int_equal(engines_hosts(&config, 4, 16), 2);
    config.mode = NUCD_MODE_IDEAL;
    assert_int_equal(engines_hosts(&config, 4, 16), 2);
    config.mode = NUCD_MODE_NONE;
    assert_int_equal(engines_hosts(&config, 4, 16), 0);
    config.mode = NUCD_MODE_DRIVER;
    assert_int_equal(engines_hosts(&config, 4, 16), 0);
}

static void accelerators_take_tasks_with_a_clock_and_firmware(void **state)
{
    static const struct {
        const char *sets[SETS];
        bool wanted;
        unsigned count;
    } cases[] = {
        {{NULL}, true, 16},        {{"accel.count=3"}, true, 3},   {{"accel.count=0"}, false, 0},
        {{"nucd=none"}, false, 0}, {{"nucd.mode=none"}, true, 16}, /* the program may have a driver */
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct machine_config machine;
        load(&machine, cases[i].sets);
        assert_int_equal(nucd_wanted(machine.tree), cases[i].wanted);
        assert_int_equal(nucd_count(machine.tree, "firmware.elf"), cases[i].count);
        assert_int_equal(nucd_count(machine.tree, NULL), 0);
        machine_free(&machine);
    }
}

/* The last nucd.memory bytes are the firmware's if accelerators take tasks. */
static void memory_is_divided(void **state)
{
    static const char *const sets[SETS] = {"memory.size=64 MiB", "nucd.memory=4 MiB",
                                           "user_stack.size=1 MiB"};
    struct phys memory = {.base = 0x80000000, .size = 64 << 20};
    struct machine_config machine;
    (void)state;
    load(&machine, sets);
    assert_int_equal(nucd_program_memory(machine.tree, "firmware.elf", &memory).size, 60 << 20);
    assert_int_equal(nucd_program_memory(machine.tree, NULL, &memory).size, 64 << 20);
    struct phys firmware = nucd_firmware_memory(machine.tree, &memory);
    assert_int_equal(firmware.base, 0x80000000 + (60 << 20));
    assert_int_equal(firmware.size, 4 << 20);
    machine_free(&machine);
}

static void firmware_must_fit_into_memory(void **state)
{
    static const struct {
        const char *sets[SETS];
        bool fits;
    } cases[] = {
        {{"memory.size=64 MiB", "nucd.memory=32 MiB"}, true},
        {{"memory.size=64 MiB", "nucd.memory=64 MiB"}, false},
        {{"memory.size=65 MiB", "nucd.memory=2 MiB"}, false},
        {{"memory.size=65 MiB", "nucd.memory=2 MiB", "accel.count=0"}, true},
        {{"memory.size=64 MiB", "nucd.memory=32 MiB", "user_stack.size=31 MiB"}, true},
        {{"memory.size=64 MiB", "nucd.memory=32 MiB", "user_stack.size=32 MiB"}, false},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct machine_config machine;
        struct error err = {""};
        size_t count = cases[i].sets[2] ? 3 : 2;
        bool loaded = machine_load(&machine, "nucd", "emu/machine/shipped", cases[i].sets, count, &err);
        if (loaded)
            machine_free(&machine);
        assert_int_equal(loaded, cases[i].fits);
        if (!loaded && !strstr(err.text, "nucd.memory: "))
            fail_msg("%s", err.text);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(hosts_that_do_not_offload_are_named),
        cmocka_unit_test(engines_are_of_the_first_hosts),
        cmocka_unit_test(accelerators_take_tasks_with_a_clock_and_firmware),
        cmocka_unit_test(memory_is_divided),
        cmocka_unit_test(firmware_must_fit_into_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
