/* C11 atomics on one hart: read-modify-write of all widths, compare and exchange, locks, LR/SC by hand. */
#include <inttypes.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>

static _Atomic int32_t word = 10;
static _Atomic int64_t wide = -7;
static _Atomic uint32_t unsigned_word = 0xfffffff0u;
static atomic_flag lock = ATOMIC_FLAG_INIT;

static void print_arithmetic(void)
{
    for (int i = 0; i < 8; i++) {
        int32_t step = (int32_t)(0x40000001u * (unsigned)i);
        printf("word: add %" PRId32, atomic_fetch_add(&word, step));
        printf(" sub %" PRId32, atomic_fetch_sub_explicit(&word, i * 3, memory_order_acquire));
        printf(" and %" PRId32, atomic_fetch_and_explicit(&word, ~(1 << i), memory_order_release));
        printf(" or %" PRId32, atomic_fetch_or_explicit(&word, 1 << (2 * i), memory_order_acq_rel));
        printf(" xor %" PRId32, atomic_fetch_xor_explicit(&word, 0x55, memory_order_relaxed));
        printf(" swap %" PRId32, atomic_exchange(&word, (int32_t)((unsigned)i * 0x11111111u)));
        printf(" now %" PRId32 "\n", word);
        printf("wide: add %" PRId64, atomic_fetch_add(&wide, (int64_t)((uint64_t)i << 61)));
        printf(" xor %" PRId64, atomic_fetch_xor(&wide, -1));
        printf(" now %" PRId64 "\n", wide);
        printf("unsigned: %" PRIu32 " ", atomic_fetch_add(&unsigned_word, 5));
        printf("now %" PRIu32 "\n", unsigned_word);
    }
}

/* The AMO instructions for minimum and maximum have no C operator. */
static void print_extremes(void)
{
    static const int64_t operands[] = {0, -1, 5, INT32_MAX, INT32_MIN, INT64_MAX, INT64_MIN};
    int64_t memory = 3;
    for (size_t i = 0; i < sizeof operands / sizeof *operands; i++) {
        int64_t old[4], old_words[4];
        __asm__ volatile("amomin.d %0, %2, %1" : "=r"(old[0]), "+A"(memory) : "r"(operands[i]));
        __asm__ volatile("amomaxu.d %0, %2, %1" : "=r"(old[1]), "+A"(memory) : "r"(operands[i] / 2));
        __asm__ volatile("amomax.d.aqrl %0, %2, %1" : "=r"(old[2]), "+A"(memory) : "r"(operands[i]));
        __asm__ volatile("amominu.d %0, %2, %1" : "=r"(old[3]), "+A"(memory) : "r"(~operands[i]));
        __asm__ volatile("amomin.w %0, %2, %1" : "=r"(old_words[0]), "+A"(memory) : "r"(operands[i]));
        __asm__ volatile("amomaxu.w %0, %2, %1" : "=r"(old_words[1]), "+A"(memory) : "r"(operands[i] / 2));
        __asm__ volatile("amomax.w.aq %0, %2, %1" : "=r"(old_words[2]), "+A"(memory) : "r"(operands[i]));
        __asm__ volatile("amominu.w.rl %0, %2, %1" : "=r"(old_words[3]), "+A"(memory) : "r"(~operands[i]));
        for (int j = 0; j < 4; j++)
            printf("%" PRId64 " %" PRId64 " ", old[j], old_words[j]);
        printf("-> %" PRIx64 "\n", (uint64_t)memory);
    }
}

static void print_compare_exchange(void)
{
    int32_t expected = 99;
    atomic_store(&word, 5);
    printf("strong %d", atomic_compare_exchange_strong(&word, &expected, 6));
    printf(" expected %" PRId32 " word %" PRId32 "\n", expected, word);
    printf("strong %d", atomic_compare_exchange_strong(&word, &expected, 6));
    printf(" expected %" PRId32 " word %" PRId32 "\n", expected, word);
    int64_t seen = atomic_load(&wide);
    for (int i = 0; i < 1000; i++)
        while (!atomic_compare_exchange_weak(&wide, &seen, seen * 3 + 1))
            continue;
    printf("wide %" PRId64 "\n", wide);
}

/* A store-conditional without a reservation of its own must fail and must not write. */
static void print_reservations(void)
{
    int32_t cell = 42, other = 7, value;
    long failed, failed_again;
    __asm__ volatile("lr.w %0, %3\n\t"
                     "sc.w %1, %5, %3\n\t"
                     "sc.w %2, x0, %3\n\t"
                     : "=&r"(value), "=&r"(failed), "=&r"(failed_again), "+A"(cell), "+A"(other)
                     : "r"(43));
    printf("lr %" PRId32 ", sc failed %d, again failed %d, cell %" PRId32 "\n", value, failed != 0,
           failed_again != 0, cell);
    int64_t wide_cell = -1, wide_value;
    __asm__ volatile("lr.d.aq %0, %2\n\taddi %0, %0, -9\n\tsc.d.rl %1, %0, %2\n\t"
                     : "=&r"(wide_value), "=&r"(failed), "+A"(wide_cell));
    printf("lr %" PRId64 ", sc failed %d, cell %" PRId64 "\n", wide_value, failed != 0, wide_cell);
}

int main(void)
{
    print_arithmetic();
    print_extremes();
    print_compare_exchange();
    print_reservations();
    printf("flag %d", atomic_flag_test_and_set(&lock));
    printf(" %d", atomic_flag_test_and_set(&lock));
    atomic_flag_clear(&lock);
    atomic_thread_fence(memory_order_seq_cst);
    printf(" %d, lock-free %d %d\n", atomic_flag_test_and_set(&lock), atomic_is_lock_free(&word),
           atomic_is_lock_free(&wide));
    return 0;
}
