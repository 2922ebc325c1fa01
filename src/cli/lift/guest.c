/* guest.c: see guest.h. */
#include "cli/lift/guest.h"

#include <ctype.h>
#include <stdarg.h>

static int digit(char c) {
    return isdigit((u8)c) ? c - '0' : isxdigit((u8)c) ? tolower((u8)c) - 'a' + 10 : -1;
}

static size_t read_bytes(const Guest *guest, u64 addr, void *buf, size_t size) {
    if (addr < guest->at || addr - guest->at >= guest->size)
        return 0;
    size_t left = guest->size - (addr - guest->at);
    size = size < left ? size : left;
    memcpy(buf, guest->bytes + (addr - guest->at), size);
    return size;
}

bool guest_fail(const Guest *guest, const char *format, ...) {
    va_list args;
    va_start(args, format);
    fprintf(stderr, "lathe: %s: ", guest->source);
    vfprintf(stderr, format, args);
    fputc('\n', stderr);
    va_end(args);
    return false;
}

bool guest_open_file(Guest *guest, const char *path) {
    ElfError error = {0};
    guest->source = path;
    guest->elf = elf_open(path, &error);
    if (!guest->elf)
        return guest_fail(guest, "%s", error.text);
    guest->arch = elf_arch(guest->elf);
    return true;
}

bool guest_open_hex(Guest *guest, const char *hex, u64 at, LatheArch arch) {
    guest->source = "--hex";
    guest->arch = arch;
    guest->bytes = mem_new(strlen(hex));
    guest->at = at;
    for (const char *c = hex; *c; c++) {
        if (isspace((u8)*c))
            continue;
        int high = digit(c[0]), low = high < 0 ? -1 : digit(c[1]);
        if (low < 0)
            return guest_fail(guest, "two hexadecimal digits per byte are needed at '%.8s'", c);
        guest->bytes[guest->size++] = (u8)(high << 4 | low);
        c++;
    }
    if (!guest->size)
        return guest_fail(guest, "no bytes");
    return at + guest->size > at || guest_fail(guest, "the bytes do not fit at 0x%lx", at);
}

bool guest_find(const Guest *guest, const char *function, ElfFunction *found) {
    if (elf_lookup(guest->elf, function, found))
        return true;
    if (!strncmp(function, "0x", 2))
        return guest_fail(guest, "no code at %s", function);
    return guest_fail(guest, "no function called '%s' (--list shows what there is)", function);
}

void guest_close(Guest *guest) {
    elf_close(guest->elf);
    mem_free(guest->bytes);
    *guest = (Guest){0};
}

size_t guest_read(const Guest *guest, u64 addr, void *buf, size_t size) {
    return guest->elf ? elf_read_const(guest->elf, addr, buf, size) : read_bytes(guest, addr, buf, size);
}

const char *guest_name(const Guest *guest, u64 addr, char *buf, size_t size) {
    const char *name = guest->elf ? elf_function_at(guest->elf, addr).name : NULL;
    if (name)
        snprintf(buf, size, "%.*s", (int)strcspn(name, "@"), name);
    else
        snprintf(buf, size, "0x%lx", addr);
    return buf;
}
