/* Traces of the memory requests of threads (--trace memory), for placement policies: a trace tells which block of threads, on
 * which multiprocessor, touches which bytes.
 *
 * A trace is a zstd stream. Decompressed, it is a header of ACCESS_HEADER bytes, which begins with the line
 * "croft memory trace 2", and records of six little-endian 64-bit words:
 *
 *   0  time of the request in fs: the clock in which it leaves for the first-level cache, or would leave if the TLB held its
 *      page
 *   1  physical address of the first byte
 *   2  pc of the instruction
 *   3  [63:32] number of the launch, from 1; [31:0] number of the block in its grid, x fastest
 *   4  [15:0] multiprocessor, in the order of the machine's tree; [31:16] warp in its block; [47:32] bytes from the first to
 *      the last one touched; [55:48] kind: 0 load, 1 store, 2 atomic, 3 launch; [56] thread stacks; [63:57] threads that
 *      touch the line
 *   5  set of the 32-bit words touched: bit i for the word at 4 * i from the beginning of the line (simt.l1.line)
 *
 * A record is a request: what an instruction of a warp accesses in one line. Accesses to scratchpads have no records.
 * Times of one multiprocessor ascend; those of different multiprocessors need not. Before its first request, a launch has a
 * record of its own: its number, the pc of its kernel's first instruction, and the number of its blocks in place of a
 * block's number; the rest is 0. This prints the records of a trace:
 *
 *   zstd -dc trace.memory.zst | tail -c +65 | od -An -v -t x8 -w48 */
#ifndef EMU_SIMT_TRACE_ACCESS_TRACE_H
#define EMU_SIMT_TRACE_ACCESS_TRACE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "emu/sim/error.h"
#include "emu/sim/report/track.h"

enum { ACCESS_HEADER = 64, ACCESS_WORDS = 6 };

enum access_kind { ACCESS_IS_LOAD, ACCESS_IS_STORE, ACCESS_IS_ATOMIC, ACCESS_IS_LAUNCH };

struct access_record {
    uint64_t time, address, pc, words;
    uint32_t launch, block;
    uint16_t multiprocessor, warp, size;
    uint8_t threads;
    enum access_kind kind;
    bool stack;
};

/* Write records to a sink that takes TRACK_RECORDS. access_trace_begin() writes the header; call it once for a sink. */
struct track access_trace_open(struct track_sink *sink);
void access_trace_begin(struct track stream);
void access_trace_write(struct track stream, const struct access_record *record);

/* Reads a record from the bytes that access_trace_write() gives a sink. */
enum { ACCESS_RECORD = 8 * ACCESS_WORDS };
void access_record_read(const uint8_t bytes[ACCESS_RECORD], struct access_record *record);

/* Reads a trace. access_reader_open() returns NULL with err set if the file cannot be read or is no such trace.
 * access_reader_next() returns whether there was one more record; if not, err->text is empty at the end of the trace, and
 * otherwise says what is wrong with the file. */
struct access_reader;
struct access_reader *access_reader_open(const char *path, struct error *err);
bool access_reader_next(struct access_reader *reader, struct access_record *record, struct error *err);
void access_reader_close(struct access_reader *reader); /* accepts NULL */

#endif
