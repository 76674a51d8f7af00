/* HTIF alone: console, then a test that failed. Without arguments from outside the program cannot choose: the
 * macro NUMBER says how it ends. */
#include <croft/firmware/exit.h>

int main(void)
{
    for (const char *c = "through tohost\n"; *c; c++)
        htif_put(*c);
    htif_exit(NUMBER);
}
