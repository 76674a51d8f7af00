/* newlib from threads: errno, thread-local variables, strtok() and other hidden state of each thread; malloc(), printf()
 * and files shared by all. */
#include <errno.h>
#include <math.h>
#include <stdatomic.h>
#include <string.h>

#include "simt_check.h"

enum { BLOCKS = 2, THREADS = 40 };

static _Thread_local uint64_t counter = 5, zero;
static _Thread_local char text[32];

/* Everything that a thread keeps is checked after the others have been at it, too. */
static uint64_t own_state(uint64_t i)
{
    char words[64];
    snprintf(words, sizeof words, "w%llu x%llu,y %llu", (unsigned long long)i, (unsigned long long)(i * i),
             (unsigned long long)(i % 7));
    uint64_t sum = 0;
    errno = (int)i + 1;
    for (char *word = strtok(words, " ,"); word; word = strtok(NULL, " ,"))
        for (const char *c = word; *c; c++)
            sum = sum * 31 + (unsigned char)*c;
    srand((unsigned)i);
    for (uint64_t k = 0; k < i % 5; k++)
        sum += (uint64_t)rand();
    errno = errno == (int)i + 1 ? 0 : -1;
    double power = pow(-1.0 - (double)i, 0.5); /* EDOM */
    return sum * 3 + (uint64_t)errno + (power != power);
}

static uint64_t formatted(uint64_t i)
{
    char line[80];
    int length = snprintf(line, sizeof line, "%8.3f|%-6llx|%e", sqrt((double)i), (unsigned long long)i,
                          1.0 / (double)(i + 1));
    double back = strtod(line, NULL);
    return check_random((uint64_t)(back * 1000)) + (uint64_t)length + (unsigned char)line[length - 1];
}

static uint64_t allocated(uint64_t i)
{
    unsigned char *blocks[6];
    uint64_t sum = 0;
    for (unsigned k = 0; k < 6; k++) {
        size_t size = check_random(i * 6 + k) % 300 + 1;
        blocks[k] = malloc(size);
        if (!blocks[k])
            return 0;
        memset(blocks[k], (int)(i + k), size);
        blocks[k][size - 1] = (unsigned char)(i * 3 + k);
        if (k % 2) {
            sum += blocks[k - 1][0] * 7u;
            free(blocks[k - 1]);
            blocks[k - 1] = calloc(3, size);
            sum += blocks[k - 1] ? blocks[k - 1][size] : 99u;
        }
        sum = sum * 5 + blocks[k][0] + blocks[k][size - 1];
    }
    for (unsigned k = 0; k < 6; k++)
        free(blocks[k]);
    return sum;
}

static void run_own_state(uint64_t *results)
{
    results[thread_id()] = own_state(thread_id());
}
static void run_formatted(uint64_t *results)
{
    results[thread_id()] = formatted(thread_id());
}
static void run_allocated(uint64_t *results)
{
    results[thread_id()] = allocated(thread_id());
}

/* Between the barriers others change theirs. */
static void run_locals(uint64_t *results)
{
    uint64_t i = thread_id();
    errno = (int)i;
    counter += i;
    zero++;
    snprintf(text, sizeof text, "thread %llu", (unsigned long long)i);
    simt_barrier();
    counter++;
    simt_barrier();
    results[i] = counter * 1000 + zero * 100 + (uint64_t)strlen(text) + (errno == (int)i ? 50 : 0);
}

static uint64_t locals(uint64_t i)
{
    return (i + 6) * 1000 + 100 + (uint64_t)snprintf(NULL, 0, "thread %llu", (unsigned long long)i) + 50;
}

/* Lines are whole whoever prints them; they come in turn here, so that their order is known. */
static void run_print(FILE *file)
{
    for (uint32_t turn = 0; turn < THREADS; turn++) {
        if (turn == thread_x() && turn % 4 == 1)
            printf("thread %u of %u: %.2f\n", turn, block_dim_x(), (double)turn / 3);
        simt_barrier();
    }
    fprintf(file, "%u\n", thread_x());
}

/* All threads have written their number to the file at once: sorted, it is known what there is. */
static void print_file(FILE *file)
{
    unsigned seen[THREADS] = {0}, lines = 0, number, other = 0;
    rewind(file);
    while (fscanf(file, "%u", &number) == 1) {
        lines++;
        if (number < THREADS)
            seen[number]++;
        else
            other++;
    }
    for (unsigned i = 0; i < THREADS; i++)
        other += seen[i] != 1;
    printf("%u lines, %u not as they should be\n", lines, other);
}

int main(void)
{
    errno = 77;
    CHECK_FUNCTION("state", run_own_state, own_state, BLOCKS, THREADS);
    CHECK_FUNCTION("formats", run_formatted, formatted, BLOCKS, THREADS);
    CHECK_FUNCTION("malloc", run_allocated, allocated, BLOCKS, THREADS);
    CHECK_FUNCTION("locals", run_locals, locals, BLOCKS, THREADS);
    FILE *file = fopen("simt_newlib.txt", "w+");
    if (!file)
        return 1;
    printf("before, not yet written out\n");
    CHECK_RUN(run_print, file, simt_dim(1), simt_dim(THREADS));
    print_file(file);
    fclose(file);
    remove("simt_newlib.txt");
    printf("counter %llu, zero %llu\n", (unsigned long long)counter, (unsigned long long)zero);
}
