/* Fuzzes the compiler of hot code: instructions with any operands, in any order, also such that trap, jump anywhere in the code, or store
 * to it. One hart compiles them while it runs, the other one steps; they stop at the same instruction for the same reason, with the same
 * registers, flags, counts and memory. The input's first bytes choose the compiler, where stores may go, and the lengths of runs; a
 * record of 6 bytes is an instruction. Behind a trap, both go on. */
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "emu/jit/jit.h"
#include "tests/hart/fixture.h"

enum {
    SIZE = 0x10000,
    CODE = 0x1000,
    RECORD = 6,
    HEAD = 4,
    MOST = 20000,
    RUNS = 300,
    CHECKED_RUNS = 50,
    ANY = 254
};

/* The first byte's lowest bits. */
enum way { QUICK, IN_TURN, CHECKED, THOROUGH, WAYS };

struct fuzz {
    struct fixture run, step;
    struct jit *jit;
    enum way way;
};

static void check(bool good, const char *what)
{
    if (good)
        return;
    (void)fprintf(stderr, "jit: %s\n", what);
    abort();
}

static void differs(void *context, const char *text)
{
    (void)context;
    check(false, text);
}

static bool is_access(unsigned class)
{
    return class == CLASS_LOAD || class == CLASS_STORE || class == CLASS_FLOAD || class == CLASS_FSTORE ||
           class == CLASS_AMO;
}

/* Writes the row's instruction. Most accesses are near an address of set_registers(), most jumps are short, and most rounding modes are frm. */
static void write_row(struct fixture *f, enum insn_id row, uint8_t choice, uint32_t bits)
{
    const unsigned class = insn_table[row].iclass;
    const int32_t imm = (int16_t)(bits >> 16);
    struct operands o = {.rd = bits & 31,
                         .rs1 = bits >> 5 & 31,
                         .rs2 = bits >> 10 & 31,
                         .rs3 = choice >> 3,
                         .rm = 7,
                         .imm = imm};
    if (choice >> 5 == 0)
        o.rm = choice >> 2 & 7;
    else if (class == CLASS_BRANCH || row == INSN_jal)
        o.imm = imm % 64 * 2;
    else if (is_access(class) && choice >> 6)
        o.rs1 &= 28;
    if (is_access(class) && class != CLASS_AMO && choice >> 7)
        o.imm = imm % 64 * 8;
    if (o.rd % 4 == 0 && choice % 8)
        o.rd++; /* the addresses last */
    fixture_row(f, row, o);
}

/* Writes the record's instruction: one of a row, a compressed one, or any bits. */
static void write_record(struct fixture *f, const uint8_t *record)
{
    uint32_t bits;
    memcpy(&bits, record + 2, sizeof bits);
    const unsigned kind = (unsigned)record[0] | (unsigned)(record[1] & 1) << 8,
                   row = kind % (INSN_COUNT + COMPRESSED_COUNT);
    if (record[1] == ANY) {
        fixture_word(f, bits);
    } else if (row >= INSN_COUNT) {
        const struct compressed_info *info = &compressed_table[row - INSN_COUNT];
        fixture_narrow(f, (uint16_t)(info->match | (bits & 0xffff & ~(uint32_t)info->mask)));
    } else if (row > 0) {
        write_row(f, (enum insn_id)row, record[1], bits);
    }
}

static void set_addresses(struct hart *hart)
{
    for (unsigned r = 4; r < 32; r += 4)
        hart->x[r] = FIXTURE_DATA + r * 64;
}

/* Registers with numbers, small ones among them, with addresses of data and code, and with floats. */
static void set_registers(struct hart *hart, uint8_t seed)
{
    for (unsigned r = 1; r < 32; r++)
        hart->x[r] = r % 4 == 1 ? r : (r * UINT64_C(0x9e3779b97f4a7c15)) ^ (uint64_t)seed << (r * 2);
    hart->x[2] = FIXTURE_BASE + 64;
    set_addresses(hart);
    for (unsigned r = 0; r < 32; r++)
        hart->f[r] = r % 2 ? UINT64_C(0x3ff0000000000000) + ((uint64_t)r << 48)
                           : UINT64_C(0xffffffff00000000) | (0x3f800000U + (r << 20)) << (r % 8 == 6);
}

static void prepare(struct fixture *f, const uint8_t *data, size_t size)
{
    fixture_init(f, SIZE);
    if (data[0] >> 2 & 1)
        hart_protect(&f->hart, FIXTURE_BASE + CODE);
    for (size_t at = HEAD; at + RECORD <= size && f->at < FIXTURE_BASE + CODE - 8; at += RECORD)
        write_record(f, data + at);
    fixture_jump(f, 0, FIXTURE_BASE);
    set_registers(&f->hart, data[1]);
    f->hart.frm = data[0] >> 3 & 7;
}

static void open_fuzz(struct fuzz *fuzz, const uint8_t *data, size_t size)
{
    prepare(&fuzz->run, data, size);
    prepare(&fuzz->step, data, size);
    fuzz->way = (enum way)(data[0] % WAYS);
    static const enum jit_mode modes[WAYS] = {
        [QUICK] = JIT_ON, [IN_TURN] = JIT_ALWAYS, [CHECKED] = JIT_CHECK, [THOROUGH] = JIT_ON};
    fuzz->jit = jit_new(&fuzz->run.hart, modes[fuzz->way], JIT_MEMORY_LEAST);
    jit_set_listener(fuzz->jit, &(struct check_listener){differs, NULL});
    if (fuzz->way == QUICK)
        jit_use_quick(fuzz->jit);
    else if (fuzz->way == THOROUGH)
        jit_use_llvm(fuzz->jit);
}

static void close_fuzz(struct fuzz *fuzz)
{
    jit_free(fuzz->jit);
    fixture_free(&fuzz->run);
    fixture_free(&fuzz->step);
}

static void compare(const struct fuzz *fuzz)
{
    const struct hart *a = &fuzz->run.hart, *b = &fuzz->step.hart;
    check(a->pc == b->pc, "another pc");
    check(a->instret == b->instret, "another number of instructions");
    check(memcmp(a->x, b->x, 32 * sizeof a->x[0]) == 0, "other x registers");
    check(memcmp(a->f, b->f, sizeof a->f) == 0, "other f registers");
    check(a->fflags == b->fflags && a->frm == b->frm, "another fcsr");
    check(memcmp(phys_at(&fuzz->run.memory, FIXTURE_BASE, SIZE),
                 phys_at(&fuzz->step.memory, FIXTURE_BASE, SIZE), SIZE) == 0,
          "other memory");
}

/* Goes on behind the instruction that has trapped, or where the one of that number begins, with addresses as at the start. */
static void skip(struct fixture *f, unsigned number)
{
    const uint64_t at = f->hart.pc - FIXTURE_BASE;
    const bool narrow = at < CODE && fixture_read(f, f->hart.pc, 1) % 4 != 3;
    f->hart.pc = at < CODE && number % 4 ? f->hart.pc + (narrow ? 2 : 4)
                                         : FIXTURE_BASE + number * 12 % (f->at - FIXTURE_BASE);
    set_addresses(&f->hart);
}

/* Runs up to `limit` instructions, and goes on behind one that has trapped. */
static void run(struct fuzz *fuzz, uint64_t limit, unsigned number)
{
    const enum hart_stop stop = fixture_run(&fuzz->run, FIXTURE_RUN_V3, limit);
    check(stop == fixture_run(&fuzz->step, FIXTURE_STEP, limit), "another stop");
    compare(fuzz);
    if (stop == HART_STOP_TRAP) {
        check(fuzz->run.hart.trap.cause == fuzz->step.hart.trap.cause &&
                  fuzz->run.hart.trap.value == fuzz->step.hart.trap.value,
              "another trap");
        skip(&fuzz->run, number);
        skip(&fuzz->step, number);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static struct fuzz fuzz;
    if (size < HEAD + RECORD)
        return 0;
    open_fuzz(&fuzz, data, size);
    const uint64_t first = 1 + data[2], longest = 1 + (uint64_t)data[3] * 8;
    const unsigned runs =
        fuzz.way == CHECKED ? CHECKED_RUNS : RUNS; /* each of these takes a record of all steps */
    for (unsigned i = 0; i < runs && fuzz.step.hart.instret < MOST; i++) {
        run(&fuzz, i % 3 == 2 ? first : longest, i);
        (void)jit_compile(fuzz.jit, i % 2 ? fuzz.run.hart.pc : FIXTURE_BASE);
    }
    close_fuzz(&fuzz);
    return 0;
}
