/* The trace of accesses: what is written is read, and broken files are noticed. */
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

#include "emu/debug/trace.h"
#include "emu/simt/trace/access_trace.h"

enum { RECORDS = 20000 };

static char path[] = "/tmp/croft-access-XXXXXX";

static struct access_record record_of(uint64_t i)
{
    return (struct access_record){.time = i * UINT64_C(714285714),
                                  .address = UINT64_C(0x80000000) + 4 * i,
                                  .pc = 0x80001000 + i % 64,
                                  .words = UINT64_MAX >> i % 64,
                                  .launch = (uint32_t)(i * 77777),
                                  .block = UINT32_MAX - (uint32_t)i,
                                  .multiprocessor = (uint16_t)(65535 - i),
                                  .warp = (uint16_t)i,
                                  .size = (uint16_t)(4 + i % 253),
                                  .threads = (uint8_t)(1 + i % 32),
                                  .kind = (enum access_kind)(i % 4),
                                  .stack = i % 5 == 0};
}

static void write_trace(uint64_t records)
{
    struct error err;
    struct trace *trace = trace_open("memory", path, &err);
    assert_non_null(trace);
    struct track stream = access_trace_open(trace_tracks(trace));
    access_trace_begin(stream);
    for (uint64_t i = 0; i < records; i++) {
        const struct access_record record = record_of(i);
        access_trace_write(stream, &record);
    }
    assert_true(trace_close(trace, 0, &err));
}

/* Returns the number of records up to the end or an error. */
static uint64_t read_trace(struct error *err)
{
    struct access_reader *reader = access_reader_open(path, err);
    struct access_record record;
    uint64_t count = 0;
    assert_non_null(reader);
    while (access_reader_next(reader, &record, err)) {
        const struct access_record wanted = record_of(count++);
        assert_int_equal(record.time, wanted.time);
        assert_int_equal(record.address, wanted.address);
        assert_int_equal(record.pc, wanted.pc);
        assert_int_equal(record.words, wanted.words);
        assert_int_equal(record.launch, wanted.launch);
        assert_int_equal(record.block, wanted.block);
        assert_int_equal(record.multiprocessor, wanted.multiprocessor);
        assert_int_equal(record.warp, wanted.warp);
        assert_int_equal(record.size, wanted.size);
        assert_int_equal(record.threads, wanted.threads);
        assert_int_equal(record.kind, wanted.kind);
        assert_int_equal(record.stack, wanted.stack);
    }
    access_reader_close(reader);
    return count;
}

static void records_are_read_back(void **state)
{
    struct error err;
    (void)state;
    write_trace(0);
    assert_int_equal(read_trace(&err), 0);
    assert_string_equal(err.text, "");
    write_trace(RECORDS);
    assert_int_equal(read_trace(&err), RECORDS);
    assert_string_equal(err.text, "");
}

static void broken_files_are_noticed(void **state)
{
    struct error err;
    (void)state;
    write_trace(RECORDS);
    struct stat file_state;
    assert_int_equal(stat(path, &file_state), 0);
    assert_int_equal(truncate(path, file_state.st_size - 100), 0);
    assert_true(read_trace(&err) < RECORDS);
    assert_non_null(strstr(err.text, "cut off"));
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    fputs("no trace at all, but some text that is long enough to be read as a header of it\n", file);
    assert_int_equal(fclose(file), 0);
    assert_null(access_reader_open(path, &err));
    assert_non_null(strstr(err.text, "no zstd stream"));
    assert_null(access_reader_open("/no/such/trace", &err));
    assert_non_null(strstr(err.text, "cannot be opened"));
}

static int make_file(void **state)
{
    (void)state;
    int file = mkstemp(path);
    return file < 0 || close(file);
}

static int remove_file(void **state)
{
    (void)state;
    return unlink(path);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(records_are_read_back),
        cmocka_unit_test(broken_files_are_noticed),
    };
    return cmocka_run_group_tests_name("the trace of accesses", tests, make_file, remove_file);
}
