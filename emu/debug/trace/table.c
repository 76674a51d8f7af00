/* The trace kind "nucd": tables as comma-separated values (RFC 4180), a file for each table, whose first line names
 * the columns. */
#include <stdlib.h>

#include "emu/debug/trace/state.h"
#include "emu/sim/alloc.h"

struct tables {
    struct trace base;
    struct trace_file **files; /* by table; NULL: the file could not be created */
    uint32_t count;
};

/* Quotes a text that contains a comma, a quote or a line end. */
static void write_text(struct line_writer *out, const char *text)
{
    bool quoted = text[strcspn(text, ",\"\r\n")] != '\0';
    if (quoted)
        line_char(out, '"');
    for (; *text; text++) {
        if (*text == '"')
            line_char(out, '"');
        line_char(out, *text);
    }
    if (quoted)
        line_char(out, '"');
}

/* Writes a time in ns, without trailing zeros. */
static void write_time(struct line_writer *out, uint64_t femtoseconds)
{
    const uint64_t nanosecond = 1000000;
    uint64_t rest = femtoseconds % nanosecond;
    line_decimal(out, femtoseconds / nanosecond);
    if (rest > 0)
        line_char(out, '.');
    for (uint64_t digit = nanosecond / 10; rest > 0; digit /= 10) {
        line_char(out, (char)('0' + rest / digit));
        rest %= digit;
    }
}

static void write_address(struct line_writer *out, uint64_t address)
{
    unsigned digits = 1;
    while (digits < 16 && address >> 4 * digits)
        digits++;
    line_text(out, "0x");
    line_hex(out, address, digits);
}

static void write_cell(struct line_writer *out, const struct track_cell *cell)
{
    switch (cell->type) {
    case TRACK_CELL_EMPTY: break;
    case TRACK_CELL_NUMBER: line_decimal(out, cell->number); break;
    case TRACK_CELL_ADDRESS: write_address(out, cell->number); break;
    case TRACK_CELL_TIME: write_time(out, cell->number); break;
    case TRACK_CELL_TEXT: write_text(out, cell->text); break;
    }
}

static struct track open_table(struct track_sink *sink, const char *name, const char *const *columns,
                               size_t count)
{
    struct tables *tables = (struct tables *)trace_of(sink);
    struct trace_file *file = trace_stream_file(&tables->base, name);
    tables->files = alloc_resize(tables->files, (tables->count + 1) * sizeof *tables->files);
    tables->files[tables->count] = file;
    for (size_t i = 0; file && i < count; i++) {
        write_text(&file->out, columns[i]);
        line_char(&file->out, i + 1 < count ? ',' : '\n');
    }
    return (struct track){.sink = sink, .line = tables->count++};
}

static bool write_row(struct track table, const struct track_cell *cells, size_t count)
{
    const struct tables *tables = (const struct tables *)trace_of(table.sink);
    struct trace_file *file = tables->files[table.line];
    for (size_t i = 0; file && i < count; i++) {
        write_cell(&file->out, &cells[i]);
        line_char(&file->out, i + 1 < count ? ',' : '\n');
    }
    return file;
}

static struct trace *create(void)
{
    static const struct track_sink_ops ops = {.group = trace_no_group,
                                              .line = trace_no_line,
                                              .id = trace_no_id,
                                              .write = trace_no_record,
                                              .table = open_table,
                                              .row = write_row};
    struct tables *tables = alloc(1, sizeof *tables);
    tables->base.sink = (struct track_sink){.ops = &ops, .forms = TRACK_TABLE};
    return &tables->base;
}

static void release(struct trace *trace)
{
    struct tables *tables = (struct tables *)trace;
    free(tables->files);
    free(tables);
}

const struct trace_ops trace_nucd_ops = {
    .kind = "nucd",
    .path = "trace.csv",
    .event = "tasks",
    .unlimited = true,
    .create = create,
    .free = release,
};
