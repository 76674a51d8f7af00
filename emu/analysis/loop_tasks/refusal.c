#include "emu/analysis/loop_tasks/refusal.h"

#include <stdarg.h>
#include <stdio.h>

#include "emu/analysis/loop_tasks.h"

static const char *const texts[NEED_COUNT] = {
    [NEED_INLINE] = "the function's code in the loop: defined in this source and inlined, or an instruction "
                    "(sqrt with -fno-math-errno)",
    [NEED_COMPARISONS] = "comparisons in place of a jump by a table (-fno-jump-tables)",
    [NEED_PLAIN_ACCESS] = "plain loads and stores, if no other thread or device takes part",
    [NEED_OUTSIDE] = "this instruction before the loop, or behind it",
    [NEED_NO_FLAGS] = "code that leaves exception flags and errno alone (-fno-math-errno -fno-trapping-math)",
    [NEED_C] = "C in place of the statement: what it accesses is not known",
    [NEED_FEWER_VALUES] = "fewer values at a time, so that they fit into registers: two loops, or arrays "
                          "that are no variables of the function",
    [NEED_ONE_SECTION] =
        "the loop in one section, as without hot and cold parts (-fno-reorder-blocks-and-partition)",
    [NEED_ONE_WAY_BACK] = "one end of all rounds: a condition around the rest in place of `continue`",
    [NEED_ONE_EXIT] = "one exit, which counted rounds reach: no break, return or goto, no search",
    [NEED_EXIT_AT_END] =
        "its condition behind the rest of the round, which is then sure to have rounds: do ... while",
    [NEED_ONE_PIECE] =
        "its blocks side by side, without other code between them: fewer conditions in a round",
    [NEED_ONE_ENTRY] = "a function that others enter at its beginning only",
    [NEED_SUMS_APART] =
        "sums of rounds that are apart, as elements of an array that are added behind the loop: a "
        "task's registers do not come back",
    [NEED_FLOAT_SUMS_APART] =
        "sums of rounds that are apart, as elements of an array that are added behind the "
        "loop: their order is part of the result (-ffast-math does not divide them either)",
    [NEED_CONSTANT_STEP] = "its step as a number, as of rows whose length is known when it is compiled",
    [NEED_VALUE_OF_ROUND] = "its value in any round without those before it: computed from the counter, or "
                            "loaded from what no round stores",
    [NEED_FEWER_COUNTERS] = "fewer pointers that move: one index for several arrays",
    [NEED_COUNTED_ROUNDS] =
        "a number of rounds that registers tell before it: a counter with a constant step, "
        "and a limit that no round changes",
    [NEED_MORE_ROUNDS] = "more rounds, as of the loop around it, or within it",
    [NEED_INNER_ROUNDS] = "limits of inner loops that are sums of counters and of what the loop keeps",
    [NEED_FEWER_INNERS] = "fewer inner loops: two loops in place of this one",
    [NEED_LONG] = "counters and indices of 64 bits (long, size_t)",
    [NEED_SUM_ADDRESS] = "an address that is a sum of counters times constants, and of what the loop keeps",
    [NEED_COUNTED_INDEX] =
        "an index that is no data: a sum of counters times constants, and of what the loop keeps",
    [NEED_NAMED_ARRAY] = "an index that is no data; or the array by its name, with its size in this source: "
                         "all of it is read then",
    [NEED_MOVING_ADDRESS] =
        "an address that moves with the rounds; what does not move, in a variable before the loop",
    [NEED_PLACES] = "a place for each round, as an array's element; or the loops within it as tasks",
    [NEED_STORES_APART] = "stores of a round that no other round accesses: another array for results, or "
                          "another order of loops",
    [NEED_STORE] = "an array for its results: what tasks have in registers is lost",
    [NEED_FEWER_ARRAYS] = "fewer arrays and values at a time: two loops, or constants",
};

const char *task_need_text(enum task_need need)
{
    return texts[need];
}

enum task_operands { OPERANDS_NONE, OPERANDS_EITHER, OPERANDS_FIRST, OPERANDS_THIRD };

/* Returns as which operand an instruction takes a value to which it adds, or which it multiplies, in a way that could begin anew. */
static enum task_operands accumulates(enum insn_id id)
{
    switch (id) {
    case INSN_add:
    case INSN_addw:
    case INSN_mul:
    case INSN_mulw:
    case INSN_xor:
    case INSN_or:
    case INSN_and:
    case INSN_min:
    case INSN_minu:
    case INSN_max:
    case INSN_maxu:
    case INSN_fadd_s:
    case INSN_fadd_d:
    case INSN_fmul_s:
    case INSN_fmul_d:
    case INSN_fmin_s:
    case INSN_fmin_d:
    case INSN_fmax_s:
    case INSN_fmax_d: return OPERANDS_EITHER;
    case INSN_sub:
    case INSN_subw:
    case INSN_fsub_s:
    case INSN_fsub_d: return OPERANDS_FIRST;
    case INSN_fmadd_s:
    case INSN_fmadd_d:
    case INSN_fnmsub_s:
    case INSN_fnmsub_d: return OPERANDS_THIRD;
    default: return OPERANDS_NONE;
    }
}

/* Returns whether an instruction adds to a register: it reads it as that operand alone. */
static bool adds_to(const struct cfg_insn *insn, unsigned reg)
{
    const struct insn_registers *regs = &insn->regs;
    const bool first = regs->rs1 == reg, second = regs->rs2 == reg, third = regs->rs3 == reg;
    switch (accumulates((enum insn_id)insn->step.insn.id)) {
    case OPERANDS_EITHER: return first != second;
    case OPERANDS_FIRST: return first && !second;
    case OPERANDS_THIRD: return third && !first && !second;
    default: return false;
    }
}

enum task_need task_need_of_register(const struct function *f, unsigned loop, unsigned reg)
{
    const struct loop *l = &f->loops.list[loop];
    unsigned changes = 0, sums = 0, reads = 0, other = REGISTER_NONE;
    for (unsigned i = 0; i < l->count; i++) {
        unsigned node = f->loops.members[l->first + i];
        for (int at = function_first(f, node); at <= function_last(f, node); at++) {
            const struct cfg_insn *insn = &f->cfg->insns[at];
            const struct insn_registers *regs = &insn->regs;
            const bool changed = function_changes(insn, reg), added = changed && adds_to(insn, reg);
            changes += changed;
            sums += added;
            reads += !added && (regs->rs1 == reg || regs->rs2 == reg || regs->rs3 == reg);
            if (added)
                other = regs->rs1 == reg ? regs->rs2 : regs->rs1;
        }
    }
    const bool steps =
        reg < 32 && changes == 1 && sums == 1 && other < 32 && function_changer(f, loop, other) == CFG_NONE;
    if (steps)
        return NEED_CONSTANT_STEP;
    if (changes == 0 || changes != sums || reads)
        return NEED_VALUE_OF_ROUND;
    return reg < 32 ? NEED_SUMS_APART : NEED_FLOAT_SUMS_APART;
}

bool task_refuse(struct loop_task *task, int insn, enum task_need need, const char *format, ...)
{
    va_list list;
    if (task->reason[0])
        return false;
    va_start(list, format);
    (void)vsnprintf(task->reason, sizeof task->reason, format, list);
    va_end(list);
    task->where = insn;
    task->need = need;
    return false;
}

bool task_refuse_address(struct loop_task *task, const struct cfg *cfg, int at, bool written)
{
    uint64_t decide = register_bit(cfg->insns[at].regs.rs1);
    bool data = false;
    for (int i = at - 1; i >= task->begin; i--) {
        const struct insn_registers *regs = &cfg->insns[i].regs;
        if (!(register_bit(regs->rd) & decide))
            continue;
        data |= insn_table[cfg->insns[i].step.insn.id].access == ACCESS_LOAD;
        decide &= ~register_bit(regs->rd);
        decide |= register_bit(regs->rs1) | register_bit(regs->rs2);
    }
    return task_refuse(task, at,
                       !data     ? NEED_SUM_ADDRESS
                       : written ? NEED_COUNTED_INDEX
                                 : NEED_NAMED_ARRAY,
                       "the address of its %s is not known: %s", written ? "store" : "load",
                       data ? "it depends on what the loop loads"
                            : "it is no sum of registers that the loop keeps or that count");
}
