/* The table of candidates in an ELF file is read back, and refused if it is cut or wrong. */
#include <stdlib.h>

#include "emu/analysis/candidate_table.h"
#include "tests/analysis/candidates/rig.h"

static void tables_are_read_back(void **state)
{
    (void)state;
    struct rig rig;
    struct error err;
    struct candidate_entry entries[CANDIDATE_ENTRIES];
    size_t size, count;
    rig_init(&rig);
    uint64_t loop = write_loop(&rig, INSN_blt);
    struct candidates found = find(&rig, &ours, 40);
    uint8_t *bytes = candidate_table_write(&found, &size);
    assert_int_equal(size, CANDIDATE_HEADER + CANDIDATE_ENTRY);
    assert_true(candidate_table_read(bytes, size, entries, &count, &err));
    assert_int_equal(count, 1);
    assert_int_equal(entries[0].begin, loop);
    assert_int_equal(entries[0].flags, CANDIDATE_RX | CANDIDATE_CONDITION | CANDIDATE_FLOATS);
    assert_int_equal(entries[0].shift, 0);
    assert_int_equal(entries[0].threshold, 3 * 4 + 1); /* more than three steps */
    assert_int_equal(entries[0].rounds, 4);
    for (size_t cut = 0; cut < size; cut++)
        assert_false(candidate_table_read(bytes, cut, entries, &count, &err));
    bytes[12] = CANDIDATE_ENTRIES + 1;
    assert_false(candidate_table_read(bytes, size, entries, &count, &err));
    assert_string_equal(err.text, ".tom.candidates has 41 entries; at most 40 are allowed");
    bytes[12] = 1;
    bytes[CANDIDATE_HEADER] |= 1;
    assert_false(candidate_table_read(bytes, size, entries, &count, &err));
    bytes[CANDIDATE_HEADER] &= (uint8_t)~1u;
    bytes[CANDIDATE_HEADER + 37] = 32;
    assert_false(candidate_table_read(bytes, size, entries, &count, &err));
    free(bytes);
    candidates_free(&found);
    rig_free(&rig);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(tables_are_read_back),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
