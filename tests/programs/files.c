/* Files: create, write, seek, reopen, append, read back, rename, remove; and errors with their errno. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static void show_error(const char *what, int result)
{
    if (result < 0)
        printf("%s: error %d (%s)\n", what, errno, strerror(errno));
    else
        printf("%s: ok\n", what);
}

static void close_counted(FILE *file, const char *what)
{
    long at = ftell(file);
    int result = fclose(file);
    printf("%s up to byte %ld, close %d\n", what, at, result);
}

static void write_table(const char *path)
{
    FILE *file = fopen(path, "w");
    for (int i = 0; i < 2000; i++)
        fprintf(file, "%4d %10.6f %08x\n", i, i / 7.0, (unsigned)i * 2654435761u);
    close_counted(file, "wrote");
    file = fopen(path, "a");
    fputs("appended line\n", file);
    close_counted(file, "appended");
}

static void read_table(const char *path)
{
    FILE *file = fopen(path, "r");
    char line[80];
    int count = 0, index;
    double sum = 0, value;
    unsigned hash, mix = 0;
    while (fgets(line, sizeof line, file))
        if (sscanf(line, "%d %lf %x", &index, &value, &hash) == 3)
            count++, sum += value, mix ^= hash + (unsigned)index;
    printf("%d rows, sum %.6f, mix %08x, last: %s", count, sum, mix, line);
    printf("eof %d error %d\n", feof(file) != 0, ferror(file) != 0);
    for (long at = 0; at < 50000; at += 12345) {
        int moved = fseek(file, at, SEEK_SET);
        size_t got = fread(line, 1, 20, file);
        long now = ftell(file);
        printf("at %ld: %d %zu [%.*s] now %ld\n", at, moved, got, (int)got, line, now);
    }
    fseek(file, -14, SEEK_END);
    printf("end: %s", fgets(line, sizeof line, file));
    ungetc('Z', file);
    printf("ungetc: %c\n", fgetc(file));
    fclose(file);
}

static void update_in_place(const char *path)
{
    FILE *file = fopen(path, "r+b");
    fseek(file, 100, SEEK_SET);
    fputs("<<patched>>", file);
    fflush(file);
    fseek(file, 95, SEEK_SET);
    char text[24] = "";
    printf("%zu [", fread(text, 1, 22, file));
    for (int i = 0; i < 22; i++)
        putchar(text[i] == '\n' ? '/' : text[i]);
    printf("]\n");
    fclose(file);
}

static void use_descriptors(const char *path)
{
    int fd = open(path, O_RDWR | O_CREAT | O_TRUNC, 0644);
    char buffer[16] = "";
    ssize_t head = write(fd, "0123456789", 10);
    off_t hole = lseek(fd, 20, SEEK_SET);
    ssize_t tail = write(fd, "tail", 4);
    printf("write %zd, seek %ld, write %zd\n", head, (long)hole, tail);
    struct stat status;
    fstat(fd, &status);
    printf("size %ld, regular %d, mode %o\n", (long)status.st_size, S_ISREG(status.st_mode),
           (unsigned)status.st_mode & 0700);
    lseek(fd, 8, SEEK_SET);
    ssize_t got = read(fd, buffer, sizeof buffer);
    printf("read %zd:", got);
    for (int i = 0; i < got; i++)
        printf(" %02x", (unsigned char)buffer[i]);
    printf("\nread at the end %zd\n", read(fd, buffer, 5));
    int second = dup(fd);
    lseek(second, 3, SEEK_SET);
    printf("shared position %ld\n", (long)lseek(fd, 0, SEEK_CUR));
    show_error("close", close(fd));
    show_error("close the copy", close(second));
    show_error("close again", close(fd));
}

static void provoke_errors(void)
{
    char byte;
    show_error("open missing", open("missing.txt", O_RDONLY));
    show_error("open exclusive", open("table.txt", O_CREAT | O_EXCL | O_WRONLY, 0600));
    show_error("open below a file", open("table.txt/x", O_RDONLY));
    show_error("write a folder", open(".", O_WRONLY));
    int fd = open("table.txt", O_RDONLY);
    show_error("write read-only", (int)write(fd, "x", 1));
    show_error("seek negative", (int)lseek(fd, -5, SEEK_SET));
    close(fd);
    show_error("read bad descriptor", (int)read(77, &byte, 1));
    show_error("remove missing", remove("missing.txt"));
    show_error("rename missing", rename("missing.txt", "other.txt"));
    show_error("access", access("table.txt", R_OK));
    show_error("access missing", access("missing.txt", F_OK));
    printf("fopen with a bad mode: %s\n", fopen("table.txt", "q") ? "opened" : strerror(errno));
}

int main(void)
{
    write_table("table.txt");
    read_table("table.txt");
    update_in_place("table.txt");
    use_descriptors("raw.bin");
    provoke_errors();
    show_error("rename", rename("raw.bin", "renamed.bin"));
    show_error("create scratch", close(open("scratch.tmp", O_CREAT | O_WRONLY, 0600)));
    show_error("remove scratch", remove("scratch.tmp"));
    show_error("remove again", remove("scratch.tmp"));
    show_error("mkdir", mkdir("folder", 0755));
    show_error("mkdir again", mkdir("folder", 0755));
    FILE *inside = fopen("folder/inside.txt", "w+");
    fprintf(inside, "kept\n");
    rewind(inside);
    printf("inside: %c\n", fgetc(inside));
    fclose(inside);
    show_error("rmdir of a full folder", rmdir("folder"));
    return 0;
}
