/* String and memory functions against naive versions, over all alignments and many lengths. */
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

enum { ALIGNMENTS = 9, LENGTHS = 70, ROOM = 128 };

static char source[ROOM], target[ROOM], expected[ROOM];
static unsigned long faults;
static uint32_t digest = 2166136261u;

static int sign(int value)
{
    return (value > 0) - (value < 0);
}

static void fault_if(int wrong, const char *what, int a, int b, int length)
{
    if (wrong && faults++ < 20)
        printf("%s wrong at %d, %d, length %d\n", what, a, b, length);
}

static void fill(char *bytes, int salt)
{
    for (int i = 0; i < ROOM; i++)
        bytes[i] = (char)('a' + (i * 7 + salt) % 23);
}

static void note(const char *bytes)
{
    for (int i = 0; i < ROOM; i++)
        digest = (digest ^ (unsigned char)bytes[i]) * 16777619u;
}

static void check_moves(int a, int b, int length)
{
    fill(source, 1), fill(target, 2), fill(expected, 2);
    for (int i = 0; i < length; i++)
        expected[b + i] = source[a + i];
    memcpy(target + b, source + a, (size_t)length);
    fault_if(memcmp(target, expected, ROOM) != 0, "memcpy", a, b, length);
    fill(target, 3), fill(expected, 3);
    for (int i = 0; i < length; i++)
        expected[b + i] = (char)('a' + ((a + i) * 7 + 3) % 23);
    memmove(target + b, target + a, (size_t)length);
    fault_if(memcmp(target, expected, ROOM) != 0, "memmove", a, b, length);
    note(target);
    for (int i = 0; i < length; i++)
        expected[b + i] = (char)(a + 200);
    memset(target + b, a + 200, (size_t)length);
    fault_if(memcmp(target, expected, ROOM) != 0, "memset", a, b, length);
}

static void check_searches(int a, int b, int length)
{
    fill(source, 5);
    source[a + length] = 0;
    fault_if(strlen(source + a) != (size_t)length, "strlen", a, b, length);
    fault_if(strnlen(source + a, (size_t)b) != (size_t)(length < b ? length : b), "strnlen", a, b, length);
    char *first = NULL, *last = NULL;
    for (int i = a + length; i >= a; i--)
        if (source[i] == 'c') {
            first = source + i;
            last = last ? last : source + i;
        }
    fault_if(strchr(source + a, 'c') != first, "strchr", a, b, length);
    fault_if(strrchr(source + a, 'c') != last, "strrchr", a, b, length);
    fault_if(memchr(source + a, 'c', (size_t)length) != first, "memchr", a, b, length);
    fault_if(strchr(source + a, 0) != source + a + length, "strchr 0", a, b, length);
    fault_if(strcspn(source + a, "c") != (first ? (size_t)(first - source - a) : (size_t)length), "strcspn",
             a, b, length);
}

static void check_order(int a, int b, int length)
{
    fill(source, 0);
    memcpy(target + b, source + a, (size_t)length);
    source[a + length] = target[b + length] = 0;
    fault_if(strcmp(source + a, target + b) != 0, "strcmp equal", a, b, length);
    for (int i = 0; i < length; i += 3) {
        char old = target[b + i];
        target[b + i] = (char)(i % 2 ? 0xe9 : '!');
        int order = i % 2 ? -1 : 1;
        fault_if(sign(strcmp(source + a, target + b)) != order, "strcmp", a, b, i);
        fault_if(sign(memcmp(source + a, target + b, (size_t)length)) != order, "memcmp", a, b, i);
        fault_if(sign(strncmp(source + a, target + b, (size_t)i + 1)) != order, "strncmp", a, b, i);
        fault_if(strncmp(source + a, target + b, (size_t)i) != 0, "strncmp prefix", a, b, i);
        target[b + i] = old;
    }
    fill(expected, 9);
    strcpy(expected + b, source + a);
    expected[b + length] = '+', expected[b + length + 1] = 0;
    strcat(expected + b, "t");
    fault_if(strlen(expected + b) != (size_t)length + 2, "strcpy, strcat", a, b, length);
    memcpy(expected, source + a, 40);
    note(expected);
}

static void print_examples(void)
{
    char text[] = "alpha,beta;;gamma delta", copy[40], *rest = text;
    for (char *word = strtok_r(text, ",; ", &rest); word; word = strtok_r(NULL, ",; ", &rest))
        printf("[%s]", word);
    printf("\n%s %s %zu %zu\n", strstr("undercroft vault", "croft"), strpbrk("hello world", "wxo"),
           strspn("112233abc", "123"), strcspn("abc;def", ";"));
    printf("%p %d %d\n", (void *)strstr("abc", "abd"), sign(strcasecmp("VAULT", "vault")),
           sign(strncasecmp("Cube", "cubX", 4)));
    printf("%s|%zu\n", strcpy(copy, "copied"), strlcpy(copy, "a very long text for this", 10));
    printf("%s %s\n", copy, strerror(2));
    printf("%s\n", (char *)memccpy(memset(copy, '.', 39), "stop here", 'p', 20) - 4);
}

int main(void)
{
    for (int a = 0; a < ALIGNMENTS; a++)
        for (int b = 0; b < ALIGNMENTS; b++)
            for (int length = 0; length < LENGTHS - 20; length++) {
                check_moves(a, b, length);
                check_searches(a, b, length);
                check_order(a, b, length);
            }
    printf("faults %lu, digest %08x\n", faults, (unsigned)digest);
    print_examples();
    return faults != 0;
}
