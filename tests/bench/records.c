/* Records, strings and small procedures in the manner of Dhrystone, written afresh. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define NOINLINE __attribute__((noinline))

enum level { LOW, MIDDLE, HIGH, TOP };

struct record {
    struct record *link;
    enum level level;
    int count;
    char name[31];
};

static struct record first, second;
static int table[50], grid[50][50];
static int global_count;
static char global_letter;

static NOINLINE enum level choose_level(char a, char b)
{
    if (a != b)
        return LOW;
    global_letter = a;
    return MIDDLE;
}

static NOINLINE int same_order(const char *x, const char *y)
{
    int at = 2;
    char letter = 'A';
    while (at <= 2)
        if (choose_level(x[at], y[at + 1]) == LOW) {
            letter = 'A';
            at++;
        } else {
            at += 2;
        }
    if (letter >= 'W' && letter < 'Z')
        at = 7;
    if (strcmp(x, y) <= 0)
        return 0;
    global_count = at + 7;
    return 1;
}

static NOINLINE void add_seven(int x, int y, int *sum)
{
    *sum = x + 2 + y;
}

static NOINLINE void touch_tables(int at, int value)
{
    int place = at + 5;
    table[place] = value;
    table[place + 1] = table[place];
    table[place + 30] = place;
    for (int i = place; i <= place + 1; i++)
        grid[place][i] = place;
    grid[place][place - 1]++;
    grid[place + 20][place] = table[place];
    global_count = 5;
}

static NOINLINE enum level next_level(enum level level)
{
    switch (level) {
    case LOW: return LOW;
    case MIDDLE: return global_count > 100 ? LOW : TOP;
    case HIGH: return MIDDLE;
    default: return HIGH;
    }
}

static NOINLINE void follow(struct record *record)
{
    struct record *next = record->link;
    *next = first;
    record->count = 5;
    next->count = record->count;
    next->link = record->link;
    if (next->level == LOW) {
        next->count = 6;
        next->level = next_level(record->level);
        add_seven(next->count, 10, &next->count);
    } else {
        *record = *next;
    }
}

int main(int argc, char **argv)
{
    long rounds = argc > 1 ? atol(argv[1]) : 6000000;
    unsigned long sum = 0;
    char x[31], y[31];
    first = (struct record){&second, MIDDLE, 40, "PROGRAM OF RECORDS, SOME TEXT"};
    strcpy(x, "PROGRAM OF RECORDS, 1ST TEXT");
    for (long round = 0; round < rounds; round++) {
        int one = 2, two = 3, three = 0;
        strcpy(y, "PROGRAM OF RECORDS, 2ND TEXT");
        enum level level = same_order(x, y) ? HIGH : LOW;
        while (one < two) {
            three = 5 * one - two;
            add_seven(one, two, &three);
            one++;
        }
        touch_tables(one, three + (int)(round & 7));
        follow(&first);
        for (char letter = 'A'; letter <= 'C'; letter++)
            if (level == (enum level)choose_level(letter, 'C'))
                level = next_level(level);
        two = two * one;
        one = two / (three + 1);
        two = 7 * (two - three) - one;
        sum = sum * 31 +
              (unsigned long)(one + two + three + first.count + second.count + table[8] + global_letter);
    }
    printf("records %ld rounds, sum %016lx %d\n", rounds, sum, grid[8][7]);
    return 0;
}
