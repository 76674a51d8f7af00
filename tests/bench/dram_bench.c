/* Speed of the memory model alone: requests a second of a requester that keeps 16 reads and writes in flight
 * for each channel. */
#include "tests/dram/rate.h"

int main(void)
{
    printf("memory model, million requests a second (and simulated GB/s)\n%12s %20s %20s %20s\n", "standard",
           "random reads", "and 25 % writes", "streaming reads");
    for (enum dram_standard standard = 0; standard < DRAM_STANDARDS; standard++) {
        printf("%12s", dram_standard_name(standard));
        for (enum pattern pattern = 0; pattern < PATTERNS; pattern++) {
            double bandwidth, millions = rate(standard, pattern, &bandwidth);
            printf("   %8.2f (%6.1f)", millions, bandwidth);
        }
        printf("\n");
    }
    return 0;
}
