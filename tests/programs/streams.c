/* stdio beyond lines: buffering modes, temporary data in memory streams, ungetc, binary records, perror. */
#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct record {
    int32_t key;
    double value;
    char name[12];
};

static void write_records(const char *path, int mode, size_t size)
{
    FILE *file = fopen(path, "wb");
    static char buffer[4096];
    printf("setvbuf %d\n", setvbuf(file, mode == _IONBF ? NULL : buffer, mode, size));
    for (int i = 0; i < 300; i++) {
        struct record record;
        memset(&record, 0, sizeof record);
        record.key = i * 1000003;
        record.value = 1.0 / (i + 1);
        snprintf(record.name, sizeof record.name, "name%d", i);
        if (fwrite(&record, sizeof record, 1, file) != 1)
            perror("fwrite");
    }
    fclose(file);
}

static void read_records(const char *path)
{
    FILE *file = fopen(path, "rb");
    struct record record;
    for (int i = 299; i >= 0; i -= 23) {
        fseek(file, (long)(sizeof record) * i, SEEK_SET);
        if (fread(&record, sizeof record, 1, file) == 1)
            printf("%d: %d %.17g %s\n", i, (int)record.key, record.value, record.name);
    }
    fseek(file, 0, SEEK_END);
    long size = ftell(file);
    size_t got = fread(&record, 1, 1, file);
    printf("size %ld, read at the end %zu, eof %d\n", size, got, feof(file) != 0);
    fpos_t position;
    rewind(file);
    fgetpos(file, &position);
    int first = fgetc(file);
    fsetpos(file, &position);
    int again = fgetc(file);
    printf("eof %d, first byte %d %d\n", feof(file) != 0, first, again);
    fclose(file);
}

static void use_memory_streams(void)
{
    char *text;
    size_t size;
    FILE *stream = open_memstream(&text, &size);
    for (int i = 0; i < 50; i++)
        fprintf(stream, "%d,", i * i);
    fclose(stream);
    printf("%zu %s\n", size, text);
    stream = fmemopen(text, size, "r");
    long sum = 0, number;
    while (fscanf(stream, "%ld,", &number) == 1)
        sum += number;
    printf("sum %ld\n", sum);
    fclose(stream);
    free(text);
}

int main(void)
{
    write_records("full.bin", _IOFBF, 4096);
    write_records("small.bin", _IOFBF, 64);
    write_records("none.bin", _IONBF, 0);
    read_records("full.bin");
    read_records("small.bin");
    read_records("none.bin");
    use_memory_streams();
    FILE *file = fopen("lines.txt", "w+");
    fputs("one\ntwo\nthree", file);
    rewind(file);
    char line[8];
    while (fgets(line, sizeof line, file))
        printf("%zu [%.*s]\n", strlen(line), (int)strcspn(line, "\n"), line);
    file = freopen("other.txt", "w", file);
    fputs("through freopen\n", file);
    fclose(file);
    errno = ENOENT;
    perror("perror");
    return 0;
}
