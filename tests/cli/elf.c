/* elf.c: src/elf against the library made of image.c (argv[1], and stripped of its symbols: argv[2]), then against
 * thousands of damaged copies of it, which must be refused with a sentence or read without harm. */
#include "elf/elf.h"

#include <gelf.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#define EXPECT(cond) ((cond) ? (void)0 : failed(__LINE__, #cond))
#define DAMAGED_COPIES 3000

static void failed(int line, const char *cond) {
    fprintf(stderr, "elf.c:%d: not so: %s\n", line, cond);
    exit(1);
}

static ElfFile *open_good(const char *path) {
    ElfError error = {0};
    ElfFile *elf = elf_open(path, &error);
    if (!elf)
        fprintf(stderr, "%s: %s\n", path, error.text);
    EXPECT(elf);
    return elf;
}

/* The address of any symbol, by libelf: src/elf knows functions only. */
static u64 address_of(const char *path, const char *symbol) {
    FILE *file = fopen(path, "rb");
    elf_version(EV_CURRENT);
    Elf *elf = elf_begin(fileno(file), ELF_C_READ, NULL);
    u64 addr = 0;
    for (Elf_Scn *s = elf_nextscn(elf, NULL); s; s = elf_nextscn(elf, s)) {
        GElf_Shdr header;
        GElf_Sym sym;
        gelf_getshdr(s, &header);
        Elf_Data *data = header.sh_type == SHT_SYMTAB ? elf_getdata(s, NULL) : NULL;
        for (int i = 0; data && gelf_getsym(data, i, &sym); i++)
            if (!strcmp(elf_strptr(elf, header.sh_link, sym.st_name), symbol))
                addr = sym.st_value;
    }
    elf_end(elf);
    fclose(file);
    EXPECT(addr);
    return addr;
}

static u64 function_address(const ElfFile *elf, const char *name) {
    ElfFunction f;
    EXPECT(elf_lookup(elf, name, &f));
    return f.addr;
}

static void check_memory(const char *path) {
    ElfFile *elf = open_good(path);
    u64 twice = function_address(elf, "twice"), thrice = function_address(elf, "thrice");
    u64 inner = address_of(path, "inner_table"), outer = address_of(path, "outer_table"), word[3] = {0};
    EXPECT(elf_read_const(elf, inner, word, sizeof(word)) == sizeof(word));
    EXPECT(word[0] == twice && word[1] == thrice && word[2] == twice);
    u32 half;
    EXPECT(elf_read(elf, inner + 10, &half, 4) == 4 && half == (u32)(thrice >> 16));
    EXPECT(elf_read_const(elf, outer, word, 16) == 8 && word[0] == thrice); /* the rest is another library's */
    EXPECT(elf_read_const(elf, outer + 12, word, 4) == 0);

    u32 counter;
    u64 counter_addr = address_of(path, "counter"), zeroed_addr = address_of(path, "zeroed");
    EXPECT(elf_read(elf, counter_addr, &counter, 4) == 4 && counter == 7);
    EXPECT(elf_read_const(elf, counter_addr, &counter, 4) == 0);
    u8 zeros[4000];
    memset(zeros, 1, sizeof(zeros));
    EXPECT(elf_read(elf, zeroed_addr, zeros, sizeof(zeros)) == sizeof(zeros));
    for (size_t i = 0; i < sizeof(zeros); i++)
        EXPECT(zeros[i] == 0);
    char text[14];
    EXPECT(elf_read_const(elf, address_of(path, "text"), text, 14) == 14 && !strcmp(text, "constant text"));
    EXPECT(elf_read(elf, UINT64_MAX - 3, text, 14) == 0 && elf_read(elf, 1ull << 40, text, 14) == 0);
    elf_close(elf);
}

static void check_functions(const char *path, bool stripped) {
    ElfFile *elf = open_good(path);
    const ElfFunction *f;
    size_t count = elf_functions(elf, &f);
    EXPECT(count >= 4);
    for (size_t i = 1; i < count; i++)
        EXPECT(f[i - 1].addr < f[i].addr);
    EXPECT(function_address(elf, "call_inner") == function_address(elf, "call_alias"));
    ElfFunction found = {0}, by_address = {0};
    EXPECT(elf_lookup(elf, "call_outer", &found) && found.size > 0);
    char text[32];
    snprintf(text, sizeof(text), "0x%lx", found.addr);
    EXPECT(elf_lookup(elf, text, &by_address) && !strcmp(by_address.name, "call_outer"));
    EXPECT(elf_lookup(elf, "twice", &found) == !stripped);
    EXPECT(!elf_lookup(elf, "counter", &found) && !elf_lookup(elf, "imported", &found));
    EXPECT(!elf_lookup(elf, "0x10zz", &found) && !elf_lookup(elf, "0x0", &found) && !elf_lookup(elf, "", &found));
    size_t unnamed = 0;
    for (size_t i = 0; i < count; i++)
        unnamed += !f[i].name && f[i].size;
    EXPECT(!stripped || unnamed >= 2); /* twice and thrice, from the unwind table */
    elf_close(elf);
}

static bool leads_to(const ElfPointers *pointers, u64 to) {
    for (size_t i = 0; i < pointers->len; i++)
        if (pointers->at[i].to == to)
            return true;
    return false;
}

/* What `lathe compile` needs: pages as they are mapped, the dynamic segment, and pointers to code. */
static void check_image(const char *path) {
    ElfFile *elf = open_good(path);
    ElfExtent extent = elf_extent(elf);
    u64 twice = function_address(elf, "twice"), counter = address_of(path, "counter");
    u8 page[ELF_PAGE], byte;
    bool writable;
    EXPECT(extent.position_independent && extent.start == 0 && extent.end > counter && extent.align >= ELF_PAGE);
    EXPECT(elf_is_code(elf, twice) && !elf_is_code(elf, counter) && !elf_is_code(elf, extent.end + ELF_PAGE));
    EXPECT(elf_read_page(elf, twice & -(u64)ELF_PAGE, page, &writable) && !writable);
    EXPECT(elf_read(elf, twice, &byte, 1) == 1 && page[twice % ELF_PAGE] == byte);
    EXPECT(elf_read_page(elf, counter & -(u64)ELF_PAGE, page, &writable) && writable && page[counter % ELF_PAGE] == 7);
    EXPECT(!elf_read_page(elf, (extent.end + ELF_PAGE - 1) & -(u64)ELF_PAGE, page, &writable));
    EXPECT(!elf_interpreter(elf) && !elf_dynamic_text(elf, DT_NEEDED, 100) && !elf_dynamic_text(elf, DT_RUNPATH, 0));
    EXPECT(elf_imports(elf, "imported") && !elf_imports(elf, "twice") && !elf_imports(elf, ""));
    ElfPointers pointers = {0};
    elf_code_pointers(elf, &pointers);
    EXPECT(leads_to(&pointers, twice) && leads_to(&pointers, function_address(elf, "thrice")));
    EXPECT(!leads_to(&pointers, counter));
    VEC_FREE(&pointers);
    EXPECT(elf_function_around(elf, twice + 1)->addr == twice && !elf_function_around(elf, extent.end));
    const ElfFunction *around = elf_function_around(elf, twice);
    EXPECT(!around || around->addr < twice);
    elf_close(elf);
}

static void read_everything(ElfFile *elf) {
    u8 buf[4096];
    const ElfFunction *f;
    size_t count = elf_functions(elf, &f);
    for (size_t i = 0; i < count; i++)
        elf_read_const(elf, f[i].addr - 3, buf, sizeof(buf));
    for (u64 addr = 0; addr < 0x6000; addr += 0x333) {
        elf_read(elf, addr, buf, sizeof(buf));
        elf_read_const(elf, addr, buf, 777);
    }
    bool writable;
    for (u64 page = 0; page < 0x8000; page += ELF_PAGE)
        elf_read_page(elf, page, buf, &writable);
    elf_read_page(elf, UINT64_MAX - ELF_PAGE + 1, buf, &writable);
    const char *text, *interpreter = elf_interpreter(elf);
    for (i64 tag = DT_NEEDED; tag <= DT_RUNPATH; tag++)
        for (size_t i = 0; (text = elf_dynamic_text(elf, tag, i)) && i < 100; i++)
            EXPECT(strlen(text) < 1 << 17);
    EXPECT(!interpreter || strlen(interpreter) < 1 << 17);
    ElfPointers pointers = {0};
    elf_code_pointers(elf, &pointers);
    elf_table_entries(elf, &pointers);
    for (size_t i = 0; i < pointers.len; i++)
        elf_function_around(elf, pointers.at[i].to);
    VEC_FREE(&pointers);
    elf_read(elf, elf_entry(elf), buf, sizeof(buf));
    elf_read(elf, UINT64_MAX - 8, buf, sizeof(buf));
}

/* One to six changed bytes, mostly in the headers (the first kilobyte and the section headers at the end), and now and
 * then a file that ends early. Deterministic. */
static size_t damage(u8 *bytes, size_t size) {
    for (int changes = 1 + rand() % 6; changes; changes--) {
        size_t kilobyte = size < 1024 ? size : 1024, where = (size_t)rand() % kilobyte;
        int place = rand() % 3;
        size_t at = place == 0 ? where : place == 1 ? size - 1 - where : (size_t)rand() % size;
        bytes[at] = rand() % 2 ? 0xff : (u8)rand();
    }
    return rand() % 8 ? size : (size_t)rand() % size;
}

static void check_damaged(const char *path) {
    FILE *file = fopen(path, "rb");
    static u8 good[1 << 17], bad[1 << 17];
    size_t size = fread(good, 1, sizeof(good), file);
    fclose(file);
    EXPECT(size > 1024 && size < sizeof(good));
    int fd = memfd_create("damaged", 0);
    char name[64];
    snprintf(name, sizeof(name), "/proc/self/fd/%d", fd);
    for (int i = 0; i < DAMAGED_COPIES; i++) {
        memcpy(bad, good, size);
        size_t left = damage(bad, size);
        EXPECT(ftruncate(fd, 0) == 0 && pwrite(fd, bad, left, 0) == (ssize_t)left);
        ElfError error = {0};
        ElfFile *elf = elf_open(name, &error);
        EXPECT(elf || (error.status < 0 && error.text[0]));
        if (elf)
            read_everything(elf);
        elf_close(elf);
    }
    close(fd);
}

int main(int argc, char **argv) {
    EXPECT(argc == 3);
    check_memory(argv[1]);
    check_functions(argv[1], false);
    check_image(argv[1]);
    check_functions(argv[2], true);
    check_damaged(argv[1]);
    return 0;
}
