/* test_random.c over DeNovo's controllers. */
#define WITH_DENOVO
#include "tests/stash/test_random.c"
