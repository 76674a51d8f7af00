/* A small stack machine: assembler, interpreter, and programs for it (primes, Fibonacci, sorting, Collatz).
 */
#include <ctype.h>
#include <inttypes.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum opcode {
    PUSH,
    LOAD,
    STORE,
    GET,
    PUT,
    ADD,
    SUB,
    MUL,
    DIV,
    MOD,
    LESS,
    EQUAL,
    JUMP,
    BRANCH,
    CALL,
    RETURN,
    PRINT,
    HALT,
    OPCODES
};

static const char *const names[OPCODES] = {"push", "load",   "store", "get",    "put",   "add",
                                           "sub",  "mul",    "div",   "mod",    "less",  "equal",
                                           "jump", "branch", "call",  "return", "print", "halt"};

struct machine {
    int64_t stack[64], memory[256];
    int frames[256];
    uint64_t steps;
};

struct code {
    struct {
        enum opcode opcode;
        int64_t operand;
    } at[256];
    int length;
};

struct label {
    char name[16];
    int at;
};

static int find_label(const struct label *labels, int count, const char *name)
{
    for (int i = 0; i < count; i++)
        if (strcmp(labels[i].name, name) == 0)
            return labels[i].at;
    printf("no label %s\n", name);
    exit(1);
}

/* Two passes: where the labels are, then the instructions. "name:" is a label, "@name" refers to it. */
static void assemble(struct code *code, const char *text)
{
    struct label labels[32];
    int count = 0;
    for (int pass = 0; pass < 2; pass++) {
        char copy[2048], *rest;
        strcpy(copy, text);
        code->length = 0;
        for (char *word = strtok_r(copy, " \n", &rest); word; word = strtok_r(NULL, " \n", &rest)) {
            size_t length = strlen(word);
            if (word[length - 1] == ':') {
                if (pass == 0) {
                    snprintf(labels[count].name, sizeof labels->name, "%.*s", (int)length - 1, word);
                    labels[count++].at = code->length;
                }
                continue;
            }
            if (word[0] == '@') {
                code->at[code->length - 1].operand = pass ? find_label(labels, count, word + 1) : 0;
                continue;
            }
            if (isdigit((unsigned char)word[0]) || word[0] == '-') {
                code->at[code->length - 1].operand = strtoll(word, NULL, 10);
                continue;
            }
            int opcode = 0;
            while (opcode < OPCODES && strcmp(word, names[opcode]) != 0)
                opcode++;
            code->at[code->length].opcode = (enum opcode)opcode;
            code->at[code->length++].operand = 0;
        }
    }
}

static void run(struct machine *m, const struct code *code)
{
    int64_t *top = m->stack;
    int *frame = m->frames;
    for (int pc = 0;; m->steps++) {
        int64_t operand = code->at[pc].operand;
        switch (code->at[pc++].opcode) {
        case PUSH: *++top = operand; break;
        case LOAD: *++top = m->memory[operand]; break;
        case STORE: m->memory[operand] = *top--; break;
        case GET: *top = m->memory[*top & 255]; break;
        case PUT: m->memory[top[0] & 255] = top[-1], top -= 2; break;
        case ADD: top--, *top += top[1]; break;
        case SUB: top--, *top -= top[1]; break;
        case MUL: top--, *top *= top[1]; break;
        case DIV: top--, *top /= top[1]; break;
        case MOD: top--, *top %= top[1]; break;
        case LESS: top--, *top = *top < top[1]; break;
        case EQUAL: top--, *top = *top == top[1]; break;
        case JUMP: pc = (int)operand; break;
        case BRANCH: pc = *top-- ? (int)operand : pc; break;
        case CALL: *frame++ = pc, pc = (int)operand; break;
        case RETURN: pc = *--frame; break;
        case PRINT: printf("%" PRId64 "\n", *top--); break;
        default: return;
        }
    }
}

static const char *const programs[] = {
    "push 2 store 0 outer: push 2 store 1 inner: load 0 load 1 load 1 mul less branch @prime "
    "load 0 load 1 mod push 0 equal branch @next load 1 push 1 add store 1 jump @inner "
    "prime: load 0 print next: load 0 push 1 add store 0 load 0 push 200 less branch @outer halt",
    "push 0 store 0 push 1 store 1 push 0 store 2 loop: load 0 print load 0 load 1 add load 1 store 0 store "
    "1 "
    "load 2 push 1 add store 2 load 2 push 60 less branch @loop halt",
    "push 1 store 0 again: load 0 store 1 push 0 store 2 call @collatz load 2 print "
    "load 0 push 1 add store 0 load 0 push 40 less branch @again halt "
    "collatz: load 1 push 1 equal branch @done load 2 push 1 add store 2 "
    "load 1 push 2 mod branch @odd load 1 push 2 div store 1 jump @collatz "
    "odd: load 1 push 3 mul push 1 add store 1 jump @collatz done: return",
    "push 0 store 0 fill: load 0 load 0 mul push 7919 mul push 1009 mod load 0 push 100 add put "
    "load 0 push 1 add store 0 load 0 push 50 less branch @fill "
    "push 0 store 0 i: push 100 store 1 j: load 1 push 1 add get load 1 get less branch @swap jump @kept "
    "swap: load 1 get store 2 load 1 push 1 add get load 1 put load 2 load 1 push 1 add put "
    "kept: load 1 push 1 add store 1 load 1 push 149 less branch @j "
    "load 0 push 1 add store 0 load 0 push 50 less branch @i "
    "push 100 store 0 show: load 0 get print load 0 push 1 add store 0 load 0 push 150 less branch @show "
    "halt",
};

int main(void)
{
    for (size_t i = 0; i < sizeof programs / sizeof *programs; i++) {
        static struct code code;
        static struct machine machine;
        memset(&machine, 0, sizeof machine);
        assemble(&code, programs[i]);
        run(&machine, &code);
        printf("program %zu: %d instructions, %" PRIu64 " steps\n", i, code.length, machine.steps);
    }
    return 0;
}
