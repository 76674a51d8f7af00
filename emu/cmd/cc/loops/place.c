#include "emu/cmd/cc/loops/state.h"

#include <string.h>

size_t rewriter_line(const struct rewriter *r, int insn)
{
    const struct numbered_place *place = numbered_place(&r->numbered, r->cfg->insns[insn].step.pc);
    return place ? place->line : 0;
}

struct wanted {
    const char *name;
    struct task_object *object;
    bool found;
};

static void match(struct program *p, const char *name, const GElf_Sym *symbol, void *context)
{
    struct wanted *wanted = context;
    (void)p;
    if (GELF_ST_TYPE(symbol->st_info) != STT_OBJECT || symbol->st_size == 0 ||
        strcmp(name, wanted->name) != 0)
        return;
    wanted->object->address = symbol->st_value;
    wanted->object->size = symbol->st_size;
    wanted->found = true;
}

const char *rewriter_object_name(const struct rewriter *r, int insn, char name[ASSEMBLY_OPERAND])
{
    assembly_operand(r->assembly->lines[rewriter_line(r, insn)].text, 1, name);
    name[strcspn(name, "+-")] = '\0';
    return name;
}

static bool find_object(void *context, int insn, struct task_object *object)
{
    const struct rewriter *r = context;
    char name[ASSEMBLY_OPERAND];
    const struct cfg_insn *at = &r->cfg->insns[insn], *next = at + 1;
    struct wanted wanted = {rewriter_object_name(r, insn, name), object, false};
    program_each_symbol(r->program, match, &wanted);
    uint64_t address = wanted.found ? object->address
                                    : at->step.pc + (uint64_t)(int64_t)at->step.insn.imm +
                                          (uint64_t)(int64_t)next->step.insn.imm;
    object->constant = program_is_constant(r->program, address);
    return wanted.found || object->constant;
}

static const char *obstacle(void *context, int insn, enum task_need *need)
{
    const struct rewriter *r = context;
    const struct assembly_line *line = &r->assembly->lines[rewriter_line(r, insn)];
    *need = line->kind == ASSEMBLY_FOREIGN ? NEED_C : NEED_PLAIN_ACCESS;
    return line->kind == ASSEMBLY_FOREIGN ? "it has an assembler statement"
           : line->is_volatile            ? "it accesses a volatile object"
                                          : NULL;
}

struct task_names rewriter_names(struct rewriter *r)
{
    return (struct task_names){find_object, obstacle, r};
}

bool line_is_loc(const char *word)
{
    return strncmp(word, ".loc", 4) == 0 && (word[4] == ' ' || word[4] == '\t');
}

const char *launch_find_lines(const struct rewriter *r, struct launch *l, enum task_need *need)
{
    const struct assembly *a = r->assembly;
    char text[ASSEMBLY_OPERAND];
    static const char hinders[] = "its assembler is not as expected";
    *need = NEED_ONE_SECTION;
    l->first = rewriter_line(r, l->task->begin);
    l->last = rewriter_line(r, l->task->last);
    if (l->first > l->last || strlen(assembly_last_operand(a->lines[l->last].text, text)) >= PATH)
        return hinders;
    (void)snprintf(l->header, PATH, "%s", text);
    for (l->label = l->first; !assembly_is_label(&a->lines[l->label], l->header); l->label--)
        if (l->label == 0 || (l->label < l->first && a->lines[l->label].kind == ASSEMBLY_INSN))
            return hinders;
    for (size_t i = l->first; i <= l->last; i++) {
        const char *word = a->lines[i].text + strspn(a->lines[i].text, " \t");
        if (a->lines[i].kind == ASSEMBLY_FOREIGN || strncmp(word, ".section", 8) == 0 ||
            strncmp(word, ".text", 5) == 0)
            return hinders;
    }
    for (l->end = l->last; l->end < a->count; l->end++)
        if (strncmp(a->lines[l->end].text, "\t.size\t", 7) == 0)
            break;
    if (l->end == a->count || strlen(assembly_operand(a->lines[l->end].text, 0, text)) >= PATH)
        return hinders;
    (void)snprintf(l->function, PATH, "%s", text);
    *need = NEED_NONE;
    size_t length = strlen(text);
    if (length > 7 && strcmp(text + length - 7, "_region") == 0)
        return "it is in a region (CROFT_REGION) already";
    return NULL;
}
