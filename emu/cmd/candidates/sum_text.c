#include "emu/cmd/candidates/sum_text.h"
#include "isa/disasm.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "isa/csr.h"

enum { MOST_DEPTH = 4, FIRST_ADDRESS = 0x10000 };

struct writer {
    const struct sum_names *names;
    char *text;
    size_t size, length;
};

static void put(struct writer *w, const char *format, ...) __attribute__((format(printf, 2, 3)));
static void put(struct writer *w, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    const int length = vsnprintf(w->text + w->length, w->size - w->length, format, arguments);
    va_end(arguments);
    w->length += length > 0 ? (size_t)length : 0;
    w->length = w->length < w->size ? w->length : w->size - 1;
}

/* Objects. */

struct wanted {
    const char *name, *found;
    uint64_t address, begin;
};

static void match(struct program *p, const char *name, const GElf_Sym *symbol, void *context)
{
    struct wanted *wanted = context;
    (void)p;
    const bool named = wanted->name && strcmp(name, wanted->name) == 0,
               covers = !wanted->name && GELF_ST_TYPE(symbol->st_info) == STT_OBJECT &&
                        wanted->address >= symbol->st_value &&
                        wanted->address - symbol->st_value < symbol->st_size;
    if (!named && !covers)
        return;
    wanted->found = name;
    wanted->begin = symbol->st_value;
}

/* Writes a constant; one that is the address of an object as its name. */
static void put_constant(struct writer *w, int64_t value, const char *sign)
{
    struct wanted wanted = {.address = (uint64_t)value};
    if (value >= FIRST_ADDRESS)
        program_each_symbol(w->names->program, match, &wanted);
    if (!wanted.found) {
        put(w, value >= FIRST_ADDRESS ? "%s0x%" PRIx64 : "%s%" PRId64, sign, (uint64_t)value);
        return;
    }
    const uint64_t offset = (uint64_t)value - wanted.begin;
    put(w, offset ? "%s(char *)&%s + %" PRIu64 : "%s(char *)&%s", sign, wanted.found, offset);
}

/* Terms. */

static void put_sum(struct writer *w, int sum, unsigned depth);

static const char *spell_csr(int number)
{
    static const char *const names[] = {
        "thread_x()",   "thread_y()",    "thread_z()",        "block_x()",     "block_y()",
        "block_z()",    "block_dim_x()", "block_dim_y()",     "block_dim_z()", "grid_dim_x()",
        "grid_dim_y()", "grid_dim_z()",  "lane_id()",         "warp_id()",     "multiprocessor_id()",
        "thread_id()",  "simt_shared()", "simt_shared_size()"};
    const int at = number - CSR_sthread_x;
    return at >= 0 && at < (int)(sizeof names / sizeof *names) ? names[at] : "csr";
}

static void put_register(struct writer *w, unsigned reg)
{
    if (reg < 32)
        put(w, "%s", register_name[reg]);
    else
        put(w, "f%u", reg % 32);
}

static void put_place(struct writer *w, const char *what, int insn)
{
    char line[SYMBOLS_TEXT];
    const uint64_t pc = w->names->function->cfg->insns[insn].step.pc;
    if (symbols_line(w->names->program->symbols, pc, line, sizeof line))
        put(w, "%s(%s)", what, line);
    else
        put(w, "%s(0x%" PRIx64 ")", what, pc);
}

static void put_atom(struct writer *w, int number, unsigned depth)
{
    const struct atom *atom = sums_atom_at(w->names->sums, number);
    char loop[SYMBOLS_TEXT];
    switch (atom->kind) {
    case ATOM_ENTRY: put_register(w, (unsigned)atom->number); break;
    case ATOM_CSR: put(w, "%s", spell_csr(atom->number)); break;
    case ATOM_ROUND:
        sum_loop_text(w->names, atom->number, loop, sizeof loop);
        put(w, "round(%s)", loop);
        break;
    case ATOM_QUOTIENT:
        put(w, "((");
        put_sum(w, atom->operands[0], depth - 1);
        if (atom->divisor) {
            put(w, ") / %" PRId64 ")", atom->divisor);
            break;
        }
        put(w, ") / (");
        put_sum(w, atom->operands[1], depth - 1);
        put(w, "))");
        break;
    case ATOM_WORD:
        put(w, "[");
        put_sum(w, atom->operands[0], depth - 1);
        put(w, "]");
        break;
    case ATOM_LOADED: put_place(w, "loaded", atom->number); break;
    case ATOM_RESULT: put_place(w, "result", atom->number); break;
    case ATOM_HEADER:
    case ATOM_JOIN: put(w, "unknown"); break;
    }
}

static void put_term(struct writer *w, const struct sum_term *term, const char *between, unsigned depth)
{
    const int64_t factor = term->factor;
    put(w, "%s", factor < 0 ? (*between ? " - " : "-") : between);
    const uint64_t size = factor < 0 ? -(uint64_t)factor : (uint64_t)factor;
    if (size != 1)
        put(w, "%" PRIu64 " * ", size);
    for (unsigned i = 0; i < term->count; i++) {
        put(w, "%s", i ? " * " : "");
        put_atom(w, term->atoms[i], depth);
    }
}

static bool is_register(const struct writer *w, const struct sum_term *term, int reg)
{
    const struct atom *atom = term->count == 1 ? sums_atom_at(w->names->sums, term->atoms[0]) : NULL;
    return atom && term->factor == 1 && atom->kind == ATOM_ENTRY && atom->number == reg;
}

/* Writes bases first, then the terms with factors, then the constant. gp is a constant if the linker has named it. */
static void put_sum(struct writer *w, int number, unsigned depth)
{
    if (number == SUM_UNKNOWN || depth == 0) {
        put(w, "?");
        return;
    }
    const struct sum *sum = sums_at(w->names->sums, number);
    struct wanted gp = {.name = "__global_pointer$"};
    int64_t constant = sum_offset(w->names->sums, number);
    const size_t begin = w->length;
    program_each_symbol(w->names->program, match, &gp);
    for (unsigned pass = 0; pass < 2; pass++)
        for (unsigned i = 0; i < sum->count; i++) {
            const struct sum_term *term = &sum->terms[i];
            if (term->count == 0 || (term->factor == 1 && term->count == 1) != (pass == 0))
                continue;
            if (gp.found && is_register(w, term, 3))
                constant += (int64_t)gp.begin;
            else
                put_term(w, term, w->length > begin ? " + " : "", depth);
        }
    if (constant || w->length == begin)
        put_constant(w, w->length > begin && constant < 0 ? -constant : constant,
                     w->length == begin ? ""
                     : constant < 0     ? " - "
                                        : " + ");
}

void sum_text(const struct sum_names *names, int sum, char *text, size_t size)
{
    struct writer w = {.names = names, .text = text, .size = size};
    text[0] = 0;
    put_sum(&w, sum, MOST_DEPTH);
}

void sum_loop_text(const struct sum_names *names, int loop, char *text, size_t size)
{
    const struct function *f = names->function;
    const struct loop *l = &f->loops.list[loop];
    int last = function_first(f, l->header);
    for (unsigned i = 0; i < l->count; i++) {
        const unsigned node = f->loops.members[l->first + i];
        for (unsigned j = f->part->graph.first[node]; j < f->part->graph.first[node + 1]; j++)
            if (f->part->graph.to[j] == l->header && function_last(f, node) > last)
                last = function_last(f, node);
    }
    const uint64_t pc = f->cfg->insns[last].step.pc;
    if (!symbols_call_line(names->program->symbols, pc, text, size) &&
        !symbols_line(names->program->symbols, pc, text, size))
        (void)snprintf(text, size, "0x%" PRIx64, pc);
}
