/* Behaviour that needs virtual memory: protection, demand paging, buffers scattered in physical memory.
 * argv[1]: "checks", or a fatal error, whose status and message kernel.sh checks. */
#include "guest.h"

enum { PAGE = 4096, N_MPROTECT = 226, NONE = 0, READ = 1, READ_WRITE = 3, READ_EXECUTE = 5 };

static long map(long length, int protection)
{
    return CALL(N_MMAP, 0, length, protection, 0x22, -1, 0);
}

static void test_protection(void)
{
    char *p = (char *)map(4 * PAGE, READ_WRITE);
    memset(p, 'a', 3 * PAGE); /* the last page is not accessed */
    EQUAL(CALL(N_MPROTECT, p + PAGE, PAGE, READ), 0);
    EQUAL(p[PAGE], 'a');
    EQUAL(CALL(N_MPROTECT, p + PAGE, PAGE, NONE), 0);
    EQUAL(CALL(N_WRITE, 77, p, 10), -EBADF);
    EQUAL(CALL(N_GETRANDOM, p, 10, 0), 10);
    EQUAL(CALL(N_GETRANDOM, p + PAGE, 10, 0), -EFAULT);
    EQUAL(CALL(N_GETRANDOM, p + PAGE - 5, 10, 0), -EFAULT);
    EQUAL(CALL(N_OPENAT, AT_CWD, p + PAGE, 0, 0), -EFAULT);
    EQUAL(CALL(N_MPROTECT, p, 4 * PAGE, READ_WRITE), 0);
    EQUAL(p[PAGE], 'a'); /* a page keeps its bytes while it allows no access */
    EQUAL(p[3 * PAGE], 0);
    p[PAGE] = 'b';
    EQUAL(CALL(N_MPROTECT, p + 1, PAGE, READ), -EINVAL);
    EQUAL(CALL(N_MPROTECT, p, PAGE, 8), -EINVAL);
    EQUAL(CALL(N_MPROTECT, p, 0, READ), 0);
    EQUAL(CALL(N_MPROTECT, p, 5 * PAGE + (1l << 40), READ), -12 /* ENOMEM */);
    EQUAL(CALL(N_MPROTECT, p, -1, READ), -12);
    EQUAL(CALL(N_MPROTECT, 0, PAGE, READ), -12);
    EQUAL(CALL(N_MUNMAP, p, 4 * PAGE), 0);
    EQUAL(CALL(N_GETRANDOM, p, 10, 0), -EFAULT);
}

static void test_code(void)
{
    static const unsigned code[] = {0x02a00513, 0x00008067}; /* li a0, 42; ret */
    unsigned *p = (unsigned *)map(PAGE, READ_WRITE);
    memcpy(p, code, sizeof code);
    EQUAL(CALL(N_MPROTECT, p, PAGE, READ_EXECUTE), 0);
    __asm__ volatile("fence.i");
    EQUAL(((int (*)(void))p)(), 42);
    EQUAL(CALL(N_GETRANDOM, p, 4, 0), -EFAULT);
    EQUAL(CALL(N_MUNMAP, p, PAGE), 0);
}

/* Calls on memory that was never accessed: the kernel maps it for them. */
static void test_untouched(void)
{
    char *p = (char *)map(16 * PAGE, READ_WRITE);
    EQUAL(CALL(N_GETRANDOM, p + 100, 9 * PAGE, 0), 9 * PAGE);
    EQUAL(p[99], 0);
    TRUE(memcmp(p + 100, p + 108, 8) != 0);
    EQUAL(p[100 + 9 * PAGE], 0);
    long fd = CALL(N_OPENAT, AT_CWD, "kernel.bin", CHECKED_CREATE | 2, 0644);
    EQUAL(CALL(N_WRITE, fd, p + 12 * PAGE, 2 * PAGE), 2 * PAGE); /* zeros */
    EQUAL(CALL(N_PREAD, fd, p, 3 * PAGE, 0), 2 * PAGE);
    EQUAL(p[2 * PAGE - 1], 0);
    EQUAL(CALL(N_CLOSE, fd), 0);
    EQUAL(CALL(N_UNLINK, "kernel.bin"), 0);
    EQUAL(CALL(N_MUNMAP, p, 16 * PAGE), 0);
}

static unsigned long mask;

/* Signal masks are changed only once, although the kernel repeats the call because the result's page is not
 * mapped yet. */
static void test_repeated(void)
{
    unsigned long *p = (unsigned long *)map(PAGE, READ_WRITE);
    mask = 2;
    EQUAL(CALL(N_SIGPROCMASK, 0, &mask, 0, 8), 0);
    mask = 4;
    EQUAL(CALL(N_SIGPROCMASK, 0, &mask, p, 8), 0);
    EQUAL(*p, 2);
    EQUAL(CALL(N_SIGPROCMASK, 2, &mask, p, 8), 0);
    EQUAL(*p, 6);
    EQUAL(CALL(N_MUNMAP, p, PAGE), 0);
}

/* Pages that are contiguous only in virtual memory. No memory is reserved for a mapping without access, so
 * each page is allocated singly when it is first accessed, and gets the highest free page. */
static void test_scattered(void)
{
    const long pages = 20;
    char *arena = (char *)map(pages * PAGE, NONE);
    EQUAL(CALL(N_GETRANDOM, arena, 1, 0), -EFAULT);
    EQUAL(CALL(N_MPROTECT, arena, pages * PAGE, READ_WRITE), 0);
    for (long i = 0; i < pages; i++)
        arena[i * PAGE] = (char)i;
    long fd = CALL(N_OPENAT, AT_CWD, "kernel.bin", CHECKED_CREATE | 2, 0644);
    EQUAL(CALL(N_WRITE, fd, arena, pages * PAGE), pages * PAGE);
    char back[8];
    EQUAL(CALL(N_PREAD, fd, back, 8, 5 * PAGE), 8);
    EQUAL(back[0], 5);
    struct {
        char *base;
        unsigned long length;
    } vectors[2] = {{arena + PAGE - 4, PAGE}, {arena + 8 * PAGE - 2, 4}};
    EQUAL(CALL(N_LSEEK, fd, PAGE, 0), PAGE);
    EQUAL(CALL(N_READV, fd, vectors, 2), PAGE + 4);
    EQUAL(arena[PAGE - 4], 1);
    EQUAL(arena[8 * PAGE - 2], 2); /* the file's byte 2 * PAGE */
    EQUAL(arena[8 * PAGE + 2], 0);
    EQUAL(CALL(N_CLOSE, fd), 0);
    EQUAL(CALL(N_UNLINK, "kernel.bin"), 0);
}

static void test_remap(void)
{
    char *p = (char *)map(3 * PAGE, READ_WRITE);
    p[0] = 1;
    p[2 * PAGE + 7] = 3;
    char *q = (char *)CALL(N_MREMAP, p, 3 * PAGE, 100 * PAGE, 1);
    TRUE(q != p);
    EQUAL(q[0], 1);
    EQUAL(q[PAGE], 0);
    EQUAL(q[2 * PAGE + 7], 3);
    EQUAL(q[99 * PAGE], 0);
    EQUAL(CALL(N_GETRANDOM, p, 1, 0), -EFAULT);
    EQUAL(CALL(N_MUNMAP, q, 100 * PAGE), 0);
}

/* Many ranges: the table's size is limited, and calls fail when it is full. */
static void test_many(void)
{
    enum { COUNT = 3000 };
    char *p = (char *)map(COUNT * PAGE, READ_WRITE);
    long failed = 0;
    for (long i = 0; i < COUNT && !failed; i += 2)
        failed = CALL(N_MPROTECT, p + i * PAGE, PAGE, READ);
    EQUAL(failed, -12);
    EQUAL(map(PAGE, READ_WRITE), -12);
    EQUAL(CALL(N_MPROTECT, p, COUNT * PAGE, READ_WRITE), -12);
}

/* A transfer of several pieces ends at the right byte, in a file as in memory. */
static void test_pieces(void)
{
    enum { SIZE = 5 << 20, ODD = SIZE - 1234 };
    char *p = (char *)map(SIZE, READ_WRITE), *q = (char *)map(SIZE, READ_WRITE);
    for (long i = SIZE; i > 0; i -= PAGE) {
        memset(p + i - PAGE, (int)(i / PAGE * 7), PAGE);
        q[i - PAGE] = 1;
    }
    struct {
        void *base;
        unsigned long length;
    } there[] = {{p, 100}, {p, 0}, {p + 100, ODD - 100}},
      back[] = {{q, 3 * PAGE + 7}, {q + 3 * PAGE + 7, SIZE - 3 * PAGE - 7}};
    long fd = CALL(N_OPENAT, AT_CWD, "pieces", 0102, 0644);
    EQUAL(CALL(N_WRITEV, fd, there, 3), ODD);
    EQUAL(CALL(N_LSEEK, fd, 0, 1), ODD);
    EQUAL(CALL(N_LSEEK, fd, 0, 0), 0);
    EQUAL(CALL(N_READV, fd, back, 2), ODD);
    EQUAL(memcmp(p, q, ODD), 0);
    EQUAL(CALL(N_PWRITE, fd, q, SIZE, 1000), SIZE);
    EQUAL(CALL(N_PREAD, fd, p, SIZE, 1000), SIZE);
    EQUAL(memcmp(p, q, SIZE), 0);
    EQUAL(CALL(N_MPROTECT, p + SIZE - PAGE, PAGE, NONE), 0);
    EQUAL(CALL(N_WRITE, fd, p, SIZE), -EFAULT); /* before anything is written */
    EQUAL(CALL(N_LSEEK, fd, 0, 1), ODD);
    EQUAL(CALL(N_CLOSE, fd), 0);
    EQUAL(CALL(N_UNLINKAT, AT_CWD, "pieces", 0), 0);
    EQUAL(CALL(N_MUNMAP, p, SIZE), 0);
    EQUAL(CALL(N_MUNMAP, q, SIZE), 0);
}

static int checks(void)
{
    (void)setvbuf(stdout, NULL, _IONBF, 0); /* stdio allocates now: test_many() leaves no room */
    test_protection();
    test_code();
    test_untouched();
    test_repeated();
    test_remap();
    test_scattered();
    test_pieces();
    test_many();
    return checks_end();
}

static int recurse(int depth)
{
    volatile char frame[PAGE];
    frame[depth % PAGE] = 1;
    return depth < 0 ? 0 : recurse(depth + 1) + frame[0];
}

/* A read of 2 MiB takes the 1 MiB that is there, though the writer may go on. */
static int read_pipe(void)
{
    enum { SIZE = 2 << 20 };
    char *p = (char *)map(SIZE, READ_WRITE);
    for (long i = SIZE; i > 0; i -= PAGE)
        p[i - PAGE] = 1;
    fprintf(stderr, "%ld bytes\n", CALL(N_READ, 0, p, SIZE));
    return 0;
}

/* Writes the same scattered 64 MiB 64 times, of which one call takes 2 GiB - 4 KiB. */
static int write_vectors(void)
{
    enum { SIZE = 64 << 20, COUNT = 64 };
    static struct {
        void *base;
        unsigned long length;
    } vectors[COUNT];
    char *p = (char *)map(SIZE, READ_WRITE);
    for (long i = SIZE; i > 0; i -= PAGE) /* downwards: neighbours are not so in physical memory */
        p[i - PAGE] = (char)(i / PAGE);
    for (int i = 0; i < COUNT; i++) {
        vectors[i].base = p;
        vectors[i].length = SIZE;
    }
    fprintf(stderr, "%ld bytes\n", CALL(N_WRITEV, 1, vectors, COUNT));
    return 0;
}

int main(int argc, char **argv)
{
    const char *what = argc > 1 ? argv[1] : "";
    static char data[] = "\x01\x45\x82\x80"; /* li a0, 0; ret */
    char *volatile p = NULL;
    if (strcmp(what, "checks") == 0)
        return checks();
    if (strcmp(what, "null") == 0)
        *p = 1;
    if (strcmp(what, "text") == 0)
        *(volatile int *)(unsigned long)main = 1;
    if (strcmp(what, "data") == 0)
        return ((int (*)(void))(unsigned long)data)();
    if (strcmp(what, "stack") == 0)
        return recurse(0);
    if (strcmp(what, "gap") == 0)
        return *(volatile char *)(0xbf800000 - PAGE);
    if (strcmp(what, "guard") == 0) {
        p = (char *)map(2 * PAGE, READ_WRITE);
        CALL(N_MPROTECT, p, PAGE, NONE);
        p[PAGE] = 1;
        p[PAGE - 1] = 1;
    }
    if (strcmp(what, "readonly") == 0) {
        p = (char *)map(PAGE, READ);
        *p = 1;
    }
    if (strcmp(what, "kernel") == 0)
        return *(volatile char *)0xffffffff80000000;
    if (strcmp(what, "noncanonical") == 0)
        return *(volatile char *)0x4000000000;
    if (strcmp(what, "privileged") == 0)
        __asm__ volatile("csrr a0, sstatus");
    if (strcmp(what, "wfi") == 0)
        __asm__ volatile("wfi");
    if (strcmp(what, "semihosting") == 0)
        __asm__ volatile(
            ".balign 16; .option push; .option norvc; slli x0, x0, 0x1f; ebreak; srai x0, x0, 7; "
            ".option pop");
    if (strcmp(what, "misaligned") == 0)
        __asm__ volatile("amoadd.d zero, a2, (%0)" : : "r"((char *)(((unsigned long)data + 7) & ~7ul) + 4));
    if (strcmp(what, "pipe") == 0)
        return read_pipe();
    if (strcmp(what, "vectors") == 0)
        return write_vectors();
    if (strcmp(what, "big") == 0) { /* accesses all memory, page by page */
        long size = argc > 2 ? strtol(argv[2], 0, 0) << 20 : 0;
        p = malloc((size_t)size);
        if (!p) {
            puts("refused");
            return 9;
        }
        for (long i = 0; i < size; i += PAGE)
            p[i] = (char)(i >> 12);
        long sum = 0;
        for (long i = 0; i < size; i += PAGE)
            sum += p[i] == (char)(i >> 12);
        printf("%ld pages\n", sum);
        return 0;
    }
    return 7;
}
