/* A region that makes a call, or that faults: region call|fault */
#include <croft/nucd.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

CROFT_REGION(say, CROFT_IN(const char *, text, 64), CROFT_VALUE(long, length))
{
    long written = write(1, text, (size_t)length);
    if (written != length)
        *(volatile int *)8 = 1;
}

CROFT_REGION(spoil, CROFT_INOUT(int *, to, 64), CROFT_VALUE(int *, wrong))
{
    to[0] = 1;
    *(volatile int *)wrong = 2;
}

int main(int count, char **arguments)
{
    static const char text[64] = "written by a region\n";
    static int to[16];
    if (count > 1 && strcmp(arguments[1], "fault") == 0)
        spoil(to, (int *)0x123450);
    for (int i = 0; i < 3; i++)
        say(text, (long)strlen(text));
    printf("done\n");
    return to[0];
}
