/* The smallest program: croft cc -O2 hello.c -o hello && croft run hello */
#include <stdio.h>

int main(int argc, char **argv)
{
    printf("Hello from RV64GC, %s.\n", argc > 1 ? argv[1] : "newcomer");
    return 0;
}
