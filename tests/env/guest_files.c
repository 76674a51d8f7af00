/* Calls on files that the C library does not make itself. */
#include "guest.h"

struct status {
    uint64_t dev, ino;
    uint32_t mode, nlink, uid, gid;
    uint64_t rdev, pad1;
    int64_t size;
    int32_t blksize, pad2;
    int64_t blocks, times[6];
    int32_t unused[2];
};

static char buffer[4096];

static void test_positions(void)
{
    long fd = CALL(N_OPENAT, AT_CWD, "data", CHECKED_CREATE | CHECKED_EXCLUSIVE | 2, 0640);
    TRUE(fd > 2);
    EQUAL(CALL(N_OPENAT, AT_CWD, "data", CHECKED_CREATE | CHECKED_EXCLUSIVE | 2, 0640), -EEXIST);
    EQUAL(CALL(N_WRITE, fd, "0123456789", 10), 10);
    EQUAL(CALL(N_LSEEK, fd, 0, 1), 10);
    EQUAL(CALL(N_LSEEK, fd, -3, 2), 7);
    EQUAL(CALL(N_READ, fd, buffer, 100), 3);
    EQUAL(memcmp(buffer, "789", 3), 0);
    EQUAL(CALL(N_READ, fd, buffer, 100), 0);
    EQUAL(CALL(N_LSEEK, fd, -1, 0), -EINVAL);
    EQUAL(CALL(N_LSEEK, fd, 0, 9), -EINVAL);
    EQUAL(CALL(N_PREAD, fd, buffer, 4, 2), 4);
    EQUAL(memcmp(buffer, "2345", 4), 0);
    EQUAL(CALL(N_PWRITE, fd, "ab", 2, 4), 2);
    struct {
        void *base;
        unsigned long length;
    } vectors[3] = {{buffer, 3}, {buffer + 100, 0}, {buffer + 200, 4}};
    EQUAL(CALL(N_LSEEK, fd, 1, 0), 1);
    EQUAL(CALL(N_READV, fd, vectors, 3), 7);
    EQUAL(memcmp(buffer, "123", 3), 0);
    EQUAL(memcmp(buffer + 200, "ab67", 4), 0);
    EQUAL(CALL(N_FTRUNCATE, fd, 4), 0);
    EQUAL(CALL(N_LSEEK, fd, 0, 2), 4);
    EQUAL(CALL(N_WRITEV, fd, vectors, 3), 7);
    struct status st;
    EQUAL(CALL(N_FSTAT, fd, &st), 0);
    EQUAL(st.size, 11);
    EQUAL(st.mode & 0170000, 0100000);
    EQUAL(st.nlink, 1);
    EQUAL(st.blocks, 1);
    EQUAL(st.blksize, 4096);
    EQUAL(st.uid, CALL(N_GETUID));
    TRUE(st.times[2] > 0 && st.times[0] == st.times[2] && st.times[4] == st.times[2]);
    EQUAL(CALL(N_CLOSE, fd), 0);
    EQUAL(CALL(N_CLOSE, fd), -EBADF);
}

static void test_descriptors(void)
{
    long fd = CALL(N_OPENAT, AT_CWD, "data", CHECKED_APPEND | 1, 0);
    EQUAL(CALL(N_READ, fd, buffer, 1), -EBADF);
    EQUAL(CALL(N_FCNTL, fd, 3, 0), CHECKED_APPEND | 1);
    EQUAL(CALL(N_FCNTL, fd, 1, 0), 0);
    EQUAL(CALL(N_FCNTL, fd, 2, 1), 0);
    EQUAL(CALL(N_FCNTL, fd, 1, 0), 1);
    long copy = CALL(N_DUP, fd);
    EQUAL(copy, fd + 1);
    EQUAL(CALL(N_FCNTL, copy, 1, 0), 0);
    EQUAL(CALL(N_FCNTL, fd, 0, 100), 100);
    EQUAL(CALL(N_DUP3, fd, 50, 0), 50);
    EQUAL(CALL(N_DUP3, fd, fd, 0), -EINVAL);
    EQUAL(CALL(N_WRITE, 50, "Z", 1), 1);
    EQUAL(CALL(N_LSEEK, 100, 0, 1), 12);
    EQUAL(CALL(N_FCNTL, fd, 4, 0), 0);
    EQUAL(CALL(N_FCNTL, fd, 3, 0), 1);
    EQUAL(CALL(N_FCNTL, fd, 99, 0), -EINVAL);
    EQUAL(CALL(N_CLOSE, 50), 0);
    EQUAL(CALL(N_CLOSE, 100), 0);
    EQUAL(CALL(N_CLOSE, copy), 0);
    EQUAL(CALL(N_CLOSE, fd), 0);
    /* The lowest free descriptor is taken, and their number is limited. */
    long opened = 0, result;
    while ((result = CALL(N_OPENAT, AT_CWD, "data", 0, 0)) >= 0)
        EQUAL(result, 3 + opened++);
    EQUAL(result, -EMFILE);
    TRUE(opened > 100);
    for (long i = 0; i < opened; i++)
        EQUAL(CALL(N_CLOSE, 3 + i), 0);
}

static void test_listing(void)
{
    static const char *const names[] = {"zebra", "Apple", "mouse", "a", "b10", "b9"};
    EQUAL(CALL(N_MKDIRAT, AT_CWD, "many", 0755), 0);
    long folder = CALL(N_OPENAT, AT_CWD, "many", CHECKED_FOLDER, 0);
    for (size_t i = 0; i < 6; i++) {
        long fd = CALL(N_OPENAT, folder, names[i], CHECKED_CREATE | 1, 0644);
        EQUAL(CALL(N_CLOSE, fd), 0);
    }
    char all[256] = "";
    long got;
    EQUAL(CALL(N_GETDENTS64, folder, buffer, 10), -EINVAL);
    while ((got = CALL(N_GETDENTS64, folder, buffer, 64)) > 0) {
        for (long at = 0; at < got; at += *(uint16_t *)(buffer + at + 16)) {
            strcat(all, buffer + at + 19);
            strcat(all, buffer[at + 18] == 4 ? "/ " : " ");
        }
    }
    EQUAL(got, 0);
    EQUAL(strcmp(all, "./ ../ Apple a b10 b9 mouse zebra "), 0);
    EQUAL(CALL(N_LSEEK, folder, 5, 0), 5);
    EQUAL(CALL(N_LSEEK, folder, 0x7fffffffffffffff, 1), -EINVAL);
    EQUAL(CALL(N_LSEEK, folder, 0, 0), 0);
    TRUE(CALL(N_GETDENTS64, folder, buffer, 4096) > 100);
    EQUAL(CALL(N_GETDENTS64, 1, buffer, 4096), -ENOTDIR);
    EQUAL(CALL(N_READ, folder, buffer, 10), -EISDIR);
    for (size_t i = 0; i < 6; i++)
        EQUAL(CALL(N_UNLINKAT, folder, names[i], 0), 0);
    EQUAL(CALL(N_CLOSE, folder), 0);
    EQUAL(CALL(N_UNLINKAT, AT_CWD, "many", 0x200), 0);
}

static void test_legacy(void)
{
    /* newlib's flags: O_CREAT 0x200, O_TRUNC 0x400, O_APPEND 8, O_EXCL 0x800 */
    long fd = CALL(N_OPEN, "old", 0x200 | 0x400 | 2, 0644);
    EQUAL(CALL(N_WRITE, fd, "abc", 3), 3);
    EQUAL(CALL(N_CLOSE, fd), 0);
    EQUAL(CALL(N_OPEN, "old", 0x200 | 0x800 | 2, 0644), -EEXIST);
    fd = CALL(N_OPEN, "old", 8 | 1, 0);
    EQUAL(CALL(N_WRITE, fd, "d", 1), 1);
    EQUAL(CALL(N_CLOSE, fd), 0);
    struct status st;
    EQUAL(CALL(N_STAT, "old", &st), 0);
    EQUAL(st.size, 4);
    EQUAL(CALL(N_LINK, "old", "older"), 0);
    EQUAL(CALL(N_LSTAT, "older", &st), 0);
    EQUAL(st.nlink, 2);
    EQUAL(CALL(N_ACCESS, "old", 4), 0);
    EQUAL(CALL(N_UNLINK, "older"), 0);
    EQUAL(CALL(N_RENAMEAT2, AT_CWD, "old", AT_CWD, "data", 1), -EEXIST);
    EQUAL(CALL(N_RENAMEAT2, AT_CWD, "old", AT_CWD, "data", 0), 0);
    EQUAL(CALL(N_STAT, "old", &st), -ENOENT);
    EQUAL(CALL(N_MKDIR, "fresh", 0755), 0);
    EQUAL(CALL(N_UNLINKAT, AT_CWD, "fresh", 0x200), 0);
    EQUAL(CALL(N_UNLINK, "data"), 0);
}

int main(void)
{
    test_positions();
    test_descriptors();
    test_listing();
    test_legacy();
    return checks_end();
}
