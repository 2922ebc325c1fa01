/* columns.c: prints the guest's machine code beside the host code made from it. */
#include <stdlib.h>

#include "cli/lift/show.h"
#include "isa/isa.h"

/* Reads host code as guest memory that begins at address 0, so that jump targets are offsets. */
static size_t read_code(void *user, u64 addr, void *buf, size_t size) {
    return guest_read(user, addr, buf, size);
}

void show_code(FILE *out, const u8 *code, size_t size, LatheArch host) {
    Guest memory = {.bytes = (u8 *)code, .size = size};
    LatheConfig cfg = {.arch = host, .read_memory = read_code, .user = &memory};
    for (u64 pc = 0; pc < size;) {
        char text[128];
        int len = lathe_disassemble(&cfg, pc, text, sizeof(text));
        if (len <= 0)
            break; /* constants behind the code */
        fprintf(out, "  0x%lx: %s\n", pc, text);
        pc += (u64)len;
    }
}

static bool print_disassembled(FILE *out, Unit *u, LatheJit *jit, LatheArch host) {
    size_t size = 0;
    const u8 *code = unit_host_code(u, jit, &size);
    fprintf(out, "host (%zu bytes)\n\n%s:\n", size, u->entry);
    if (code)
        show_code(out, code, size, host);
    return code;
}

/* If the host is not a guest, too, its code cannot be disassembled here: LLVM's assembly text is printed. */
static bool print_host(FILE *out, Unit *u, LatheJit *jit) {
    const Isa *host = isa_of_host();
    if (host)
        return print_disassembled(out, u, jit, host->arch);
    char *text = unit_assembly(u, jit);
    if (text)
        fprintf(out, "host\n\n%s", text);
    mem_free(text);
    return text;
}

static size_t widest_line(const char *text) {
    size_t widest = 0;
    for (; *text; text += strcspn(text, "\n"), text += *text == '\n') {
        size_t width = strcspn(text, "\n");
        widest = width > widest ? width : widest;
    }
    return widest;
}

void show_columns(FILE *out, const char *left, const char *right) {
    int width = (int)widest_line(left) + 2;
    while (*left || *right) {
        int a = (int)strcspn(left, "\n"), b = (int)strcspn(right, "\n");
        fprintf(out, b ? "%-*.*s| %.*s\n" : "%-*.*s|\n", width, a, left, b, right);
        left += a + (left[a] == '\n');
        right += b + (right[b] == '\n');
    }
}

bool show_side_by_side(FILE *out, Unit *u, LatheJit *jit) {
    char *left, *right;
    size_t left_size, right_size;
    FILE *guest = open_memstream(&left, &left_size), *host = open_memstream(&right, &right_size);
    CHECK(guest && host, "out of memory");
    fprintf(guest, "guest (%lu instructions, %lu bytes)\n\n", u->measures.insns, u->measures.bytes);
    show_listing(guest, u, "");
    bool ok = print_host(host, u, jit);
    fclose(guest);
    fclose(host);
    if (ok)
        show_columns(out, left, right);
    free(left);
    free(right);
    return ok;
}
