/* qsort and bsearch over patterns that are hard on quicksorts, with elements of several sizes. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MAX = 3000 };

struct wide {
    char name[20];
    int key;
    double weight;
};

static unsigned long comparisons;

static int compare_ints(const void *left, const void *right)
{
    int a = *(const int *)left, b = *(const int *)right;
    comparisons++;
    return (a > b) - (a < b);
}

static int compare_wide(const void *left, const void *right)
{
    const struct wide *a = left, *b = right;
    comparisons++;
    int names = strcmp(a->name, b->name);
    return names ? names : (a->key > b->key) - (a->key < b->key);
}

static int compare_bytes(const void *left, const void *right)
{
    return *(const unsigned char *)left - *(const unsigned char *)right;
}

static int pattern_value(int pattern, int index, int count, uint32_t *seed)
{
    *seed = *seed * 1664525u + 1013904223u;
    switch (pattern) {
    case 0: return index;
    case 1: return count - index;
    case 2: return 7;
    case 3: return index % 2 ? index : -index;
    case 4: return index < count / 2 ? index : count - index;
    case 5: return index * 7919 % 16;
    case 6: return index == count - 1 ? -1 : index;
    default: return (int)(*seed >> 8);
    }
}

static void sort_pattern(int pattern, int count)
{
    static int values[MAX];
    uint32_t seed = 1, digest = 2166136261u;
    long long before = 0, after = 0;
    int unordered = 0;
    for (int i = 0; i < count; i++)
        before += values[i] = pattern_value(pattern, i, count, &seed);
    comparisons = 0;
    qsort(values, (size_t)count, sizeof *values, compare_ints);
    for (int i = 0; i < count; i++) {
        after += values[i];
        unordered += i > 0 && values[i - 1] > values[i];
        digest = (digest ^ (uint32_t)values[i]) * 16777619u;
    }
    printf("pattern %d count %d: comparisons %lu, unordered %d, sums %s, digest %08x\n", pattern, count,
           comparisons, unordered, before == after ? "equal" : "differ", (unsigned)digest);
    if (count == 0)
        return;
    int found = 0;
    for (int i = 0; i < count; i++) {
        int *hit = bsearch(&values[i], values, (size_t)count, sizeof *values, compare_ints);
        found += hit && *hit == values[i];
    }
    int missing = -1000000000;
    printf("  found %d, missing %s\n", found,
           bsearch(&missing, values, (size_t)count, sizeof *values, compare_ints) ? "found" : "absent");
}

static void sort_structs(void)
{
    static struct wide items[500];
    uint32_t seed = 99;
    for (int i = 0; i < 500; i++) {
        seed = seed * 1103515245u + 12345u;
        snprintf(items[i].name, sizeof items[i].name, "n%u", (unsigned)(seed >> 16) % 90);
        items[i].key = (int)(seed >> 20) - 2048;
        items[i].weight = seed / 65536.0;
    }
    qsort(items, 500, sizeof *items, compare_wide);
    for (int i = 0; i < 500; i += 13)
        printf("%s %d %.6f\n", items[i].name, items[i].key, items[i].weight);
}

int main(void)
{
    static const int counts[] = {0, 1, 2, 3, 7, 8, 41, 100, 1000, MAX};
    for (int pattern = 0; pattern < 8; pattern++)
        for (size_t i = 0; i < sizeof counts / sizeof *counts; i++)
            sort_pattern(pattern, counts[i]);
    sort_structs();
    char text[] = "the quick brown fox jumps over the lazy dog";
    qsort(text, strlen(text), 1, compare_bytes);
    printf("[%s]\n", text);
    return 0;
}
