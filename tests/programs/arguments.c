/* What a program is started with: argument count, arguments and environment. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

extern char **environ;

/* The order of the environment means nothing. */
static int compare_text(const void *left, const void *right)
{
    return strcmp(*(char *const *)left, *(char *const *)right);
}

int main(int argc, char **argv)
{
    printf("argc %d\n", argc);
    for (int i = 1; i < argc; i++)
        printf("argv[%d] (%zu) [%s]\n", i, strlen(argv[i]), argv[i]);
    printf("argv ends in null: %d, argv[0] has a name: %d\n", argv[argc] == NULL, strlen(argv[0]) > 0);
    printf("stack aligned: %d\n", (uintptr_t)__builtin_frame_address(0) % 16 == 0);
    int count = 0;
    while (environ[count])
        count++;
    qsort(environ, (size_t)count, sizeof *environ, compare_text);
    for (int i = 0; i < count; i++)
        printf("environ [%s]\n", environ[i]);
    static const char *const names[] = {"CROFT_TEST", "EMPTY", "NOT_THERE", "WITH_EQUALS"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        const char *value = getenv(names[i]);
        printf("%s is %s%s%s\n", names[i], value ? "[" : "", value ? value : "unset", value ? "]" : "");
    }
    printf("setenv %d, now %s\n", setenv("NOT_THERE", "given", 1), getenv("NOT_THERE"));
    printf("unsetenv %d, now %s\n", unsetenv("CROFT_TEST"), getenv("CROFT_TEST") ? "set" : "unset");
    long sum = 0;
    for (int i = 1; i < argc; i++)
        sum += strtol(argv[i], NULL, 0);
    return (int)(sum & 0x7f);
}
