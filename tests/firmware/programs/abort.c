/* abort() and signal handlers, which newlib runs itself. */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>

static void handle(int number)
{
    printf("handler of signal %d\n", number);
}

int main(void)
{
    signal(SIGUSR1, handle);
    raise(SIGUSR1);
    abort();
}
