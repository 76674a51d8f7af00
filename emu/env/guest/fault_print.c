#include "emu/env/guest/fault_print.h"

#include <inttypes.h>
#include <stdio.h>

#include "emu/debug/backtrace.h"
#include "emu/hart/probe.h"
#include "emu/sim/text/say.h"
#include "isa/decoder/flow.h"
#include "isa/disasm.h"

enum { RA = 1, SP = 2, GP = 3 };

struct fault_place fault_look_at(const struct hart *hart, uint64_t pc)
{
    struct fault_place place = {.text = ""};
    uint32_t bits = 0;
    if (!hart_memory_read(hart, pc, &bits, 4) && !hart_memory_read(hart, pc, &bits, 2))
        return place;
    place.readable = true;
    place.insn = decode(hart->decoder, bits);
    disasm(&place.insn, pc, place.text, sizeof place.text);
    for (char *c = place.text; *c; c++) {
        if (*c == '\t')
            *c = ' ';
    }
    return place;
}

unsigned fault_access_size(const struct fault_place *place)
{
    return insn_table[place->insn.id].size;
}

void fault_print_access(const struct fault_place *place, const char *what, const char *way, uint64_t address)
{
    unsigned size = fault_access_size(place);
    fprintf(say_stream(), "%s", what);
    if (size)
        fprintf(say_stream(), " of %u bytes", size);
    fprintf(say_stream(), " %s 0x%" PRIx64, way, address);
}

void fault_print_place(struct symbols *symbols, const struct fault_place *place, uint64_t pc)
{
    char text[SYMBOLS_TEXT];
    fprintf(say_stream(), "  at 0x%" PRIx64 ", %s", pc, symbols_describe(symbols, pc, text, sizeof text));
    if (symbols_call_line(symbols, pc, text,
                          sizeof text)) /* of a macro or function of a header, such as croft/stash.h */
        fprintf(say_stream(), ", inlined at %s", text);
    if (place->readable)
        fprintf(say_stream(), ": %s", place->text);
    fprintf(say_stream(), "\n");
}

void fault_print_registers(const uint64_t x[32], const struct fault_place *place)
{
    bool shown[32] = {[0] = true};
    const struct insn_registers named = insn_registers(&place->insn); /* floating-point ones from 32 on */
    const unsigned wanted[] = {named.rs1, named.rs2, RA, SP, GP};
    fprintf(say_stream(), "  registers:");
    for (size_t i = 0; i < sizeof wanted / sizeof wanted[0]; i++) {
        unsigned n = wanted[i];
        if (n >= 32 || shown[n])
            continue;
        fprintf(say_stream(), " %s=0x%" PRIx64, register_name[n], x[n]);
        shown[n] = true;
    }
    fprintf(say_stream(), "\n");
}

void fault_print_frames(struct symbols *symbols, const uint64_t *frames, size_t count)
{
    char text[SYMBOLS_TEXT];
    for (size_t i = 0, end; i < count; i = end) {
        for (end = i + 1; end < count && frames[end] == frames[i]; end++)
            continue;
        if (i == 0)
            (void)symbols_describe(symbols, frames[i], text, sizeof text);
        else
            (void)symbols_describe_return(symbols, frames[i], text, sizeof text);
        fprintf(say_stream(), "    #%zu 0x%" PRIx64 " %s\n", i, frames[i], text);
        if (end > i + 1)
            fprintf(say_stream(), "    ... to #%zu: the same\n", end - 1);
    }
    if (count == BACKTRACE_MAX)
        fprintf(say_stream(), "    (deeper frames are left out)\n");
}

static bool read_memory(const void *context, uint64_t address, void *to, uint64_t length)
{
    return hart_memory_read(context, address, to, length);
}

void fault_print_backtrace(struct symbols *symbols, const struct hart *hart)
{
    uint64_t frames[BACKTRACE_MAX];
    const struct backtrace_memory memory = {read_memory, hart};
    size_t count = backtrace_walk_through(symbols, hart->x, hart->pc, &memory, frames, BACKTRACE_MAX);
    fprintf(say_stream(), "  backtrace:\n");
    fault_print_frames(symbols, frames, count);
}
