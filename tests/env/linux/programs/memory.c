/* brk, mmap, munmap, mremap, mprotect, madvise, msync, mlock. */
#include "calls.h"

#include <fcntl.h>
#include <setjmp.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/uio.h>

enum { PAGE = 4096 };
#define ANONYMOUS (MAP_PRIVATE | MAP_ANONYMOUS)

static char *map(size_t pages, int protection)
{
    return mmap(NULL, pages * PAGE, protection, ANONYMOUS, -1, 0);
}

static void breaks(void)
{
    char *start = (char *)syscall(SYS_brk, 0);
    char *grown = (char *)syscall(SYS_brk, start + 3 * PAGE);
    printf("grown by %ld\n", (long)(grown - start));
    memset(start, 5, 3 * PAGE);
    printf("refused: %d\n", (char *)syscall(SYS_brk, 64) == grown);
    printf("shrunk by %ld\n", (long)(grown - (char *)syscall(SYS_brk, start)));
    printf("grown again by %ld, zero: %d\n", (long)((char *)syscall(SYS_brk, start + PAGE) - start),
           start[8] == 0);
}

static void anonymous(void)
{
    char *p = map(4, PROT_READ | PROT_WRITE);
    printf("zero: %d\n", p[0] == 0 && p[4 * PAGE - 1] == 0);
    memset(p, 1, 4 * PAGE);
    SHOW(munmap, p + PAGE, PAGE);
    SHOW(munmap, p + PAGE, PAGE);
    SHOW(munmap, p + 1, PAGE);
    SHOW(munmap, p, 0);
    SHOW(mmap, NULL, 0, PROT_READ, ANONYMOUS, -1, 0);
    SHOW(mmap, NULL, PAGE, PROT_READ, MAP_ANONYMOUS, -1, 0);
    SHOW(mmap, NULL, PAGE, PROT_READ, ANONYMOUS, -1, 12);
    SHOW(mmap, NULL, PAGE, PROT_READ, MAP_PRIVATE, 77, 0);
    SHOW(mmap, p + 3, PAGE, PROT_READ, ANONYMOUS | MAP_FIXED, -1, 0);
    printf("fixed: %d\n", mmap(p, 2 * PAGE, PROT_READ, ANONYMOUS | MAP_FIXED, -1, 0) == p);
    printf("replaced: %d %d\n", p[0], p[2 * PAGE]);
    printf("hint: %d\n", mmap(p + 8 * PAGE, 0, PROT_READ, ANONYMOUS, -1, 0) == MAP_FAILED);
}

static void protection(void)
{
    char *p = map(3, PROT_NONE);
    SHOW(mprotect, p + PAGE, PAGE, PROT_READ | PROT_WRITE);
    strcpy(p + PAGE, "kept");
    SHOW(mprotect, p + PAGE, PAGE, PROT_NONE);
    SHOW(mprotect, p, 3 * PAGE, PROT_READ);
    printf("%s\n", p + PAGE);
    SHOW(mprotect, p + 1, PAGE, PROT_READ);
    SHOW(munmap, p + PAGE, PAGE);
    SHOW(mprotect, p, 3 * PAGE, PROT_READ);
    /* Calls see protections, too. */
    SHOW(getcwd, p, 100);
    SHOW(read, 0, p + PAGE, 1);
}

static void advice(void)
{
    char *p = map(2, PROT_READ | PROT_WRITE);
    memset(p, 7, 2 * PAGE);
    SHOW(madvise, p, PAGE, MADV_DONTNEED);
    printf("%d %d\n", p[0], p[PAGE]);
    SHOW(madvise, p, 2 * PAGE, MADV_WILLNEED);
    SHOW(madvise, p, 2 * PAGE, MADV_NORMAL);
    SHOW(madvise, p + 1, PAGE, MADV_DONTNEED);
    SHOW(madvise, p, 0, MADV_DONTNEED);
    SHOW(mlock, p, PAGE);
    SHOW(mlock, p + 1, PAGE - 1);
    SHOW(mlock, 0x5000, PAGE);
    SHOW(munlock, 0x5000, PAGE);
    SHOW(mlock, p, 0);
    SHOW(munlock, p, PAGE);
}

static void remap(void)
{
    char *p = map(4, PROT_READ | PROT_WRITE), *q;
    strcpy(p, "first");
    strcpy(p + PAGE, "second");
    SHOW(munmap, p + 2 * PAGE, 2 * PAGE);
    q = mmap(p + 2 * PAGE, PAGE, PROT_READ, ANONYMOUS | MAP_FIXED, -1, 0); /* no room to grow */
    printf("%d\n", q == p + 2 * PAGE);
    SHOW(mremap, p, 2 * PAGE, 3 * PAGE, 0);
    q = mremap(p, 2 * PAGE, 8 * PAGE, MREMAP_MAYMOVE);
    printf("%s %s %d\n", q, q + PAGE, q[7 * PAGE]);
    printf("shrinks: %d\n", mremap(q, 8 * PAGE, PAGE, 0) == q);
    printf("grows: %d\n", mremap(q, PAGE, 2 * PAGE, 0) == q);
    printf("zero: %d\n", q[PAGE] == 0);
    SHOW(mremap, q + 1, PAGE, PAGE, 0);
    SHOW(mremap, q, PAGE, PAGE, 64);
    SHOW(mremap, q, PAGE, PAGE, MREMAP_FIXED, q + 4 * PAGE);
}

static void files(void)
{
    char name[] = "mapped", text[8] = "";
    int fd = open(name, O_RDWR | O_CREAT | O_TRUNC, 0600), reader;
    printf("written %zd\n", write(fd, "0123456789", 10));
    char *shared = mmap(NULL, PAGE, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    char *private = mmap(NULL, PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE, fd, 0);
    printf("%.10s %d\n", shared, shared[10]);
    private[0] = 'p';
    shared[1] = 's';
    SHOW(msync, shared, PAGE, MS_SYNC);
    SHOW(msync, shared, PAGE, MS_SYNC | MS_ASYNC);
    SHOW(msync, shared + 1, PAGE, MS_SYNC);
    SHOW(msync, shared, PAGE, 64);
    printf("read %zd %.4s\n", pread(fd, text, 4, 0), text);
    shared[2] = 't';
    munmap(shared, PAGE);
    printf("read %zd %.4s\n", pread(fd, text, 4, 0), text);
    shared = mmap(NULL, PAGE, PROT_READ, MAP_SHARED, fd, 0);
    printf("written %zd\n", pwrite(fd, "new", 3, 0));
    munmap(shared, PAGE);
    printf("read %zd %.4s\n", pread(fd, text, 4, 0), text);
    printf("written %zd\n", pwrite(fd, "second", 6, PAGE));
    shared = mmap(NULL, PAGE, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    shared = mremap(shared, PAGE, 2 * PAGE, MREMAP_MAYMOVE);
    printf("%.6s\n", shared + PAGE);
    munmap(shared, 2 * PAGE);
    printf("read %zd %.4s\n", pread(fd, text, 4, PAGE), text);
    reader = open(name, O_RDONLY);
    SHOW(mmap, NULL, PAGE, PROT_WRITE, MAP_SHARED, reader, 0);
    SHOW_OK(mmap, NULL, PAGE, PROT_WRITE, MAP_PRIVATE, reader, 0);
    close(reader);
    reader = open(name, O_WRONLY);
    SHOW(mmap, NULL, PAGE, PROT_READ, MAP_PRIVATE, reader, 0);
    reader = open(".", O_RDONLY);
    SHOW(mmap, NULL, PAGE, PROT_READ, MAP_PRIVATE, reader, 0);
    unlink(name);
}

/* Mappings of /dev/zero are memory, and those of sealed files cannot become writable. */
static void special_files(void)
{
    const int zero = open("/dev/zero", O_RDWR), null = open("/dev/null", O_RDWR),
              sealed = memfd_create("sealed", MFD_ALLOW_SEALING);
    for (int flags = MAP_SHARED; flags <= MAP_PRIVATE; flags++) {
        char *map = mmap(NULL, 2 * PAGE, PROT_READ | PROT_WRITE, flags, zero, 0);
        map[PAGE]++;
        printf("zero %d %d\n", map[0], map[PAGE]);
        munmap(map, 2 * PAGE);
    }
    SHOW(mmap, NULL, PAGE, PROT_READ, MAP_PRIVATE, null, 0);
    SHOW(ftruncate, sealed, PAGE);
    SHOW(fcntl, sealed, F_ADD_SEALS, F_SEAL_WRITE);
    SHOW(mmap, NULL, PAGE, PROT_READ | PROT_WRITE, MAP_SHARED, sealed, 0);
    SHOW_OK(mmap, NULL, PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE, sealed, 0);
    close(zero);
    close(null);
    close(sealed);
}

/* Shared mappings, calls on the file, and other mappings of it agree at once. */
static void shared_files(void)
{
    char text[16] = "";
    int fd = open("shared", O_RDWR | O_CREAT | O_TRUNC, 0600), other = open("shared", O_RDWR), reader;
    struct iovec parts[2] = {{"vec", 3}, {"tor", 3}};
    printf("written %zd\n", write(fd, "0123456789", 10));
    SHOW(ftruncate, fd, 3 * PAGE);
    char *one = mmap(NULL, 2 * PAGE, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    one[0] = 'a';
    printf("pread %zd %.4s\n", pread(other, text, 4, 0), text);
    printf("read %zd %.4s\n", read(other, text, 4), text);
    lseek(fd, 4, SEEK_SET); /* the position of a descriptor that is mapped, too, is its own */
    one[3] = '.';
    SHOW(write, fd, "45", 2);
    printf("mapped %.10s, at %ld\n", one, (long)lseek(fd, 0, SEEK_CUR));
    SHOW(pwrite64, other, "bc", 2, 1);
    printf("mapped %.4s\n", one);
    SHOW(pwritev, other, parts, 2, PAGE - 3, 0);
    printf("mapped %.6s\n", one + PAGE - 3);
    lseek(other, 5, SEEK_SET);
    SHOW(writev, other, parts, 2);
    printf("mapped %.11s\n", one);
    parts[0].iov_base = text;
    parts[1].iov_base = text + 3;
    one[6] = 'X';
    SHOW(preadv, other, parts, 2, 5, 0);
    printf("%.6s\n", text);
    SHOW(preadv, other, parts, 2, -1, 0);
    SHOW(pwritev, 99, parts, 2, 0, 0);
    SHOW(pwritev, other, parts, -1, 0, 0);
    /* Two mappings that overlap in the file. */
    char *two = mmap(NULL, 2 * PAGE, PROT_READ | PROT_WRITE, MAP_SHARED, other, PAGE);
    one[PAGE] = 'Y';
    two[1] = 'Z';
    printf("two %.3s %.3s\n", one + PAGE, two);
    two[PAGE] = 'L';
    SHOW(munmap, one + PAGE, PAGE);
    printf("left %.3s %c\n", two, two[PAGE]);
    one = mremap(one, PAGE, 2 * PAGE, MREMAP_MAYMOVE);
    one[PAGE + 2] = 'M';
    printf("moved %.3s\n", two);
    SHOW(munmap, two, 2 * PAGE);
    printf("pread %zd %.3s\n", pread(fd, text, 3, PAGE), text);
    printf("pread %zd %.3s\n", pread(fd, text, 3, 2 * PAGE), text);
    /* The file becomes shorter, and longer again. */
    SHOW(ftruncate, fd, 3);
    printf("short %.4s\n", one);
    SHOW(ftruncate, fd, 2 * PAGE);
    printf("zero %d %d\n", one[3], one[PAGE]);
    SHOW(ftruncate, fd, 6);
    reader = open("shared", O_WRONLY | O_APPEND);
    printf("appended %zd, mapped %.8s\n", write(reader, "ZZ", 2), one);
    close(reader);
    /* Mapped shared to read: it follows, but never becomes writable. */
    reader = open("shared", O_RDONLY);
    two = mmap(NULL, PAGE, PROT_READ, MAP_SHARED, reader, 0);
    one[0] = 'A';
    printf("followed %c\n", two[0]);
    SHOW(mprotect, two, PAGE, PROT_READ | PROT_WRITE);
    char *private = mmap(NULL, PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE, reader, 0);
    printf("private %c\n", private[0]);
    private[0] = 'P';
    printf("apart %c\n", one[0]);
    unlink("shared");
}

static void code(void)
{
    static const uint32_t instructions[] = {0x02a00513, 0x00008067}; /* li a0, 42; ret */
    uint32_t *p = (uint32_t *)map(1, PROT_READ | PROT_WRITE | PROT_EXEC);
    memcpy(p, instructions, sizeof instructions);
    SHOW(riscv_flush_icache, p, p + 2, 0);
    printf("%d\n", ((int (*)(void))p)());
    p[0] = 0x02b00513;
    __builtin___clear_cache((char *)p, (char *)(p + 2));
    printf("%d\n", ((int (*)(void))p)());
}

static sigjmp_buf back;
static char *seen_address;
static int seen_code;

static void caught(int number, siginfo_t *info, void *context)
{
    (void)context;
    seen_address = info->si_addr;
    seen_code = info->si_code;
    siglongjmp(back, number);
}

/* Prints the signal of an access at p + offset, or the byte there. */
static void touch(const char *what, volatile char *p, size_t offset, int writes)
{
    int number = sigsetjmp(back, 1);
    if (number) {
        printf("%s at %zu: %s, code %d, address %d\n", what, offset, number == SIGBUS ? "SIGBUS" : "SIGSEGV",
               seen_code, seen_address == p + offset);
        return;
    }
    if (writes)
        p[offset] = 'w';
    printf("%s at %zu: %d\n", what, offset, p[offset]);
}

/* Pages behind the one with the file's end: SIGBUS, until the file is longer. */
static void ends_of_files(int flags, const char *what)
{
    const struct sigaction action = {.sa_sigaction = caught, .sa_flags = SA_SIGINFO};
    char text[5000], byte;
    memset(text, 'a', sizeof text);
    sigaction(SIGBUS, &action, NULL);
    sigaction(SIGSEGV, &action, NULL);
    int file = open("ends", O_RDWR | O_CREAT | O_TRUNC, 0600),
        other = open("other", O_RDWR | O_CREAT | O_TRUNC, 0600);
    printf("%s %ld\n", what, (long)write(file, text, sizeof text));
    char *p = mmap(NULL, 5 * PAGE, PROT_READ | PROT_WRITE, flags, file, 0);
    for (size_t at = 4999; at < 5 * PAGE; at = at < PAGE ? PAGE : at + 4093)
        touch(what, p, at, 0);
    touch(what, p, 3 * PAGE + 7, 1);
    printf("call: %d %d\n", write(other, p + 3 * PAGE, 1) < 0 ? errno : 0,
           write(other, p + PAGE, 1) < 0 ? errno : 0);
    printf("call: %d\n", pread(file, p + 4 * PAGE, 1, 0) < 0 ? errno : 0);
    printf("longer: %ld\n", (long)pwrite(file, "tail", 4, 3 * PAGE + 6));
    for (size_t at = 2 * PAGE; at < 5 * PAGE; at += PAGE / 2 + 3)
        touch(what, p, at, 0);
    touch(what, p, 3 * PAGE + 7, 0);
    touch(what, p, 3 * PAGE + 100, 1);
    SHOW(mprotect, p, 5 * PAGE, PROT_READ);
    touch(what, p, 4 * PAGE, 0);
    touch(what, p, 2 * PAGE, 1);
    SHOW(mprotect, p, 5 * PAGE, PROT_READ | PROT_WRITE);
    printf("shorter: %d\n", ftruncate(file, PAGE + 3));
    touch(what, p, PAGE + 2, 0);
    touch(what, p, 2 * PAGE, 0);
    touch(what, p, 3 * PAGE + 100, 0);
    printf("longer: %d\n", ftruncate(file, 4 * PAGE));
    touch(what, p, 3 * PAGE + 100, 0);
    SHOW(munmap, p + 4 * PAGE, PAGE);
    touch(what, p, 4 * PAGE, 0);
    SHOW(munmap, p, 4 * PAGE);
    p = mmap(NULL, 2 * PAGE, PROT_READ, flags, file, 5 * PAGE);
    touch(what, p, 0, 0);
    p = mmap(NULL, PAGE, PROT_READ, flags, file, 3 * PAGE);
    p = mremap(p, PAGE, 3 * PAGE, MREMAP_MAYMOVE);
    touch(what, p, 0, 0);
    touch(what, p, PAGE, 0);
    printf("end: %ld\n", (long)pread(file, &byte, 1, 4 * PAGE));
    close(file);
    close(other);
}

int main(void)
{
    breaks();
    anonymous();
    protection();
    advice();
    remap();
    files();
    special_files();
    shared_files();
    ends_of_files(MAP_SHARED, "shared");
    ends_of_files(MAP_PRIVATE, "private");
    code();
    return 4;
}
