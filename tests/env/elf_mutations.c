/* Writes broken versions of a good program, which the loader must refuse: elf_mutations GOOD FOLDER. */
#include <elf.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A copy of the good file, for a mutation to change. */
struct image {
    uint8_t *bytes;
    size_t size;
    Elf64_Ehdr *header;
    Elf64_Phdr *load[2]; /* the first two loadable segments */
    size_t loads;
};

struct mutation {
    const char *name;
    void (*apply)(struct image *image);
};

#define MUTATION(name, statement)                                                                            \
    static void name(struct image *i)                                                                        \
    {                                                                                                        \
        statement;                                                                                           \
    }
MUTATION(empty, i->size = 0)
MUTATION(one_byte, i->size = 1)
MUTATION(half_magic, i->size = 3)
MUTATION(only_magic, i->size = 4)
MUTATION(half_header, i->size = 40)
MUTATION(only_header, i->size = sizeof(Elf64_Ehdr))
MUTATION(half_program_header, i->size = i->header->e_phoff + sizeof(Elf64_Phdr) / 2)
MUTATION(half_segment, i->size = i->load[0]->p_offset + i->load[0]->p_filesz / 2)
MUTATION(bad_magic, i->bytes[1] = 'X')
MUTATION(text_file, memcpy(i->bytes, "#!/bin/sh\nexit 0\n", 17); i->size = 17)
MUTATION(class_32, i->bytes[EI_CLASS] = ELFCLASS32)
MUTATION(class_none, i->bytes[EI_CLASS] = 0)
MUTATION(class_wrong, i->bytes[EI_CLASS] = 77)
MUTATION(big_endian, i->bytes[EI_DATA] = ELFDATA2MSB)
MUTATION(endian_none, i->bytes[EI_DATA] = 0)
MUTATION(version_ident, i->bytes[EI_VERSION] = 9)
MUTATION(version_header, i->header->e_version = 9)
MUTATION(machine_x86, i->header->e_machine = EM_X86_64)
MUTATION(machine_none, i->header->e_machine = 0)
MUTATION(type_object, i->header->e_type = ET_REL)
MUTATION(type_shared, i->header->e_type = ET_DYN)
MUTATION(type_core, i->header->e_type = ET_CORE)
MUTATION(type_wrong, i->header->e_type = 0x1234)
MUTATION(float_abi_quad, i->header->e_flags |= 6)
MUTATION(base_rv64e, i->header->e_flags |= 8)
MUTATION(no_program_headers, i->header->e_phnum = 0)
MUTATION(program_headers_extended, i->header->e_phnum = PN_XNUM)
MUTATION(many_program_headers, i->header->e_phnum = 60000)
MUTATION(program_header_size, i->header->e_phentsize = 32)
MUTATION(program_header_size_zero, i->header->e_phentsize = 0)
MUTATION(program_headers_outside, i->header->e_phoff = i->size)
MUTATION(program_headers_wrap, i->header->e_phoff = UINT64_MAX - 16)
MUTATION(entry_outside, i->header->e_entry = 0x10)
MUTATION(entry_odd, i->header->e_entry |= 1)
MUTATION(entry_in_data, i->header->e_entry = i->load[1]->p_vaddr)
MUTATION(entry_past_memory, i->header->e_entry = UINT64_MAX)
MUTATION(file_size_larger, i->load[0]->p_memsz = i->load[0]->p_filesz - 1)
MUTATION(file_size_huge, i->load[0]->p_filesz = i->load[0]->p_memsz = UINT64_MAX)
MUTATION(memory_size_huge, i->load[1]->p_memsz = UINT64_C(1) << 62)
MUTATION(memory_size_wraps, i->load[1]->p_memsz = UINT64_MAX - i->load[1]->p_vaddr + 2)
MUTATION(memory_size_past_end, i->load[1]->p_memsz = UINT64_C(1) << 30)
MUTATION(address_low, i->load[0]->p_vaddr = 0x1000)
MUTATION(address_high, i->load[0]->p_vaddr = 0xfffffffffffff000)
MUTATION(address_before_memory, i->load[0]->p_vaddr -= 2)
MUTATION(offset_outside, i->load[0]->p_offset = i->size + 4096)
MUTATION(offset_wraps, i->load[0]->p_offset = UINT64_MAX - 8)
MUTATION(overlap_same, i->load[1]->p_vaddr = i->load[0]->p_vaddr)
MUTATION(overlap_tail, i->load[1]->p_vaddr = i->load[0]->p_vaddr + i->load[0]->p_memsz - 1)
MUTATION(alignment, i->load[0]->p_align = 3)
MUTATION(not_executable, i->load[0]->p_flags &= ~(uint32_t)PF_X)
MUTATION(nothing_to_load, i->load[0]->p_type = i->load[1]->p_type = PT_NOTE)
MUTATION(needs_interpreter, i->load[1]->p_type = PT_INTERP)
MUTATION(no_stack_room, i->load[1]->p_memsz = (UINT64_C(0xc0000000) - i->load[1]->p_vaddr) & ~UINT64_C(0xfff))

static const struct mutation mutations[] = {
#define ROW(name) {#name, name},
    ROW(empty) ROW(one_byte) ROW(half_magic) ROW(only_magic) ROW(half_header) ROW(only_header)
        ROW(half_program_header) ROW(half_segment) ROW(bad_magic) ROW(text_file) ROW(class_32) ROW(class_none)
            ROW(class_wrong) ROW(big_endian) ROW(endian_none) ROW(version_ident) ROW(version_header)
                ROW(machine_x86) ROW(machine_none) ROW(type_object) ROW(type_shared) ROW(type_core)
                    ROW(type_wrong) ROW(float_abi_quad) ROW(base_rv64e) ROW(no_program_headers)
                        ROW(program_headers_extended) ROW(many_program_headers) ROW(program_header_size)
                            ROW(program_header_size_zero) ROW(program_headers_outside)
                                ROW(program_headers_wrap) ROW(entry_outside) ROW(entry_odd) ROW(entry_in_data)
                                    ROW(entry_past_memory) ROW(file_size_larger) ROW(file_size_huge)
                                        ROW(memory_size_huge) ROW(memory_size_wraps) ROW(memory_size_past_end)
                                            ROW(address_low) ROW(address_high) ROW(address_before_memory)
                                                ROW(offset_outside) ROW(offset_wraps) ROW(overlap_same)
                                                    ROW(overlap_tail) ROW(alignment) ROW(not_executable)
                                                        ROW(nothing_to_load) ROW(needs_interpreter)
                                                            ROW(no_stack_room)};

static void fail(const char *what)
{
    perror(what);
    exit(1);
}

static struct image copy_image(const uint8_t *bytes, size_t size)
{
    struct image image = {.bytes = malloc(size), .size = size};
    if (!image.bytes)
        fail("memory");
    memcpy(image.bytes, bytes, size);
    image.header = (Elf64_Ehdr *)image.bytes;
    Elf64_Phdr *headers = (Elf64_Phdr *)(image.bytes + image.header->e_phoff);
    for (unsigned i = 0; i < image.header->e_phnum; i++) {
        if (headers[i].p_type == PT_LOAD && image.loads < 2)
            image.load[image.loads++] = &headers[i];
    }
    return image;
}

static void write_image(const struct image *image, const char *folder, const char *name)
{
    char path[4096];
    (void)snprintf(path, sizeof path, "%s/%s", folder, name);
    FILE *out = fopen(path, "wb");
    if (!out || fwrite(image->bytes, 1, image->size, out) != image->size || fclose(out) != 0)
        fail(path);
}

int main(int argc, char **argv)
{
    static uint8_t good[1 << 22];
    FILE *in = argc == 3 ? fopen(argv[1], "rb") : NULL;
    if (!in)
        fail("usage: elf_mutations GOOD FOLDER");
    size_t size = fread(good, 1, sizeof good, in);
    (void)fclose(in);
    for (size_t i = 0; i < sizeof mutations / sizeof mutations[0]; i++) {
        struct image image = copy_image(good, size);
        if (image.loads < 2)
            fail("the good program needs two loadable segments");
        mutations[i].apply(&image);
        write_image(&image, argv[2], mutations[i].name);
        free(image.bytes);
    }
    return 0;
}
