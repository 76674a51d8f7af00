/* An interpreter's loop: a register machine with a switch, that is, a table of indirect jumps. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

enum opcode { SET, ADD, SUB, MUL, XOR, SHIFT, LESS, LOAD, STORE, JUMP, LOOP, IF, CALL, RETURN, HALT };

struct word {
    uint8_t opcode, a, b, c;
    int32_t value;
};

/* r1 counts down; r2, r3 mix; r4 is an address; the function at 13 is called from the loop. */
static const struct word program[] = {
    {SET, 2, 0, 0, 12345}, {SET, 3, 0, 0, 678}, {SET, 9, 0, 0, 1},  {ADD, 2, 2, 3, 0},  {XOR, 3, 3, 2, 0},
    {SHIFT, 4, 2, 0, 3},   {STORE, 2, 4, 0, 0}, {LOAD, 5, 3, 0, 0}, {LESS, 6, 5, 2, 0}, {IF, 6, 0, 0, 11},
    {SUB, 3, 3, 9, 0},     {CALL, 0, 0, 0, 14}, {LOOP, 1, 0, 0, 3}, {HALT, 0, 0, 0, 0}, {MUL, 7, 2, 3, 0},
    {ADD, 2, 2, 7, 0},     {IF, 6, 0, 0, 18},   {XOR, 3, 3, 7, 0},  {ADD, 8, 8, 9, 0},  {RETURN, 0, 0, 0, 0},
};

static uint64_t registers[16], memory[1024];

static uint64_t run(void)
{
    int stack[16], depth = 0;
    uint64_t *r = registers, steps = 0;
    for (const struct word *at = program;; steps++) {
        const struct word w = *at++;
        switch (w.opcode) {
        case SET: r[w.a] = (uint64_t)w.value; break;
        case ADD: r[w.a] = r[w.b] + r[w.c]; break;
        case SUB: r[w.a] = r[w.b] - r[w.c]; break;
        case MUL: r[w.a] = r[w.b] * r[w.c]; break;
        case XOR: r[w.a] = r[w.b] ^ r[w.c]; break;
        case SHIFT: r[w.a] = r[w.b] >> w.value; break;
        case LESS: r[w.a] = r[w.b] < r[w.c]; break;
        case LOAD: r[w.a] = memory[r[w.b] % 1024]; break;
        case STORE: memory[r[w.b] % 1024] = r[w.a]; break;
        case JUMP: at = program + w.value; break;
        case LOOP: at = --r[w.a] ? program + w.value : at; break;
        case IF: at = r[w.a] ? program + w.value : at; break;
        case CALL: stack[depth++ & 15] = (int)(at - program), at = program + w.value; break;
        case RETURN: at = program + stack[--depth & 15]; break;
        default: return steps;
        }
    }
}

int main(int argc, char **argv)
{
    registers[1] = argc > 1 ? (uint64_t)atol(argv[1]) : 10000000;
    uint64_t steps = run();
    printf("interpreter %llu steps, %016llx %016llx %llu\n", (unsigned long long)steps,
           (unsigned long long)registers[2], (unsigned long long)registers[3],
           (unsigned long long)registers[8]);
    return 0;
}
