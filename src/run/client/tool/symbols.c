/* symbols.c: lathe_symbol: which file of the program's an address is in, and which function.
 *
 * Which files are where, /proc/self/maps knows; it is read again when an address is asked for that is in none of the known ones, and when one of these is unmapped. The functions of a file are those of its .symtab, else of
 * .dynsym; a file without .symtab may have one in /usr/lib/debug, by its build ID. Files stay mapped, in the client's own memory: names point into them. */
#include <elf.h>

#include "run/client/memory/maps.h"
#include "run/client/memory/own.h"
#include "run/client/tool/runtime.h"
#include "run/client/tool/tool.h"
#include "run/client/tool/unwind/above.h"
#include "site/site.h"

typedef struct Function {
    u64 address, size; /* as in the file; 0: the size is not known */
    u64 room;          /* the most that it can have */
    u32 rank;          /* of several at one address, the one with the highest is told */
    const char *name;
} Function;

/* A file that is mapped for reading. */
typedef struct Bytes {
    const u8 *at;
    u64 size;
} Bytes;

typedef struct File {
    struct File *next;
    Bytes bytes;           /* NULL: it cannot be read */
    LatheVector functions; /* of Function, by their addresses */
    bool read;
    FrameTable *frames; /* of unwind/stack.c; NULL: not read yet */
    u32 origin;         /* where the device and the inode are, behind the path: another file may get its name */
    char path[];
} File;

/* A part of the address space that a file is mapped to. */
typedef struct Part {
    u64 start, end, off;
    File *file;
} Part;

typedef struct Symbols {
    LatheLock lock;
    File *files;
    LatheVector parts;  /* of Part, by their addresses */
    u64 unknown_page;   /* no file was there when it was last looked for */
    MapsReader *reader; /* it is large */
} Symbols;

static Symbols symbols = {.parts = LATHE_VECTOR(Part)};

/* Functions that a tool has given names to, by their addresses. */
static LatheMap named = LATHE_MAP(const char *);

/* --------------------------------------------------------------------------------------------------------------- files */

static Bytes map_file(const char *path) {
    struct stat st;
    Bytes bytes = {0};
    i64 fd = sys_open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK, 0);
    if (fd < 0)
        return bytes;
    if (!sys_fstat((int)fd, &st) && S_ISREG(st.st_mode) && st.st_size >= (i64)sizeof(Elf64_Ehdr)) {
        i64 at = own_map(page_up((u64)st.st_size), PROT_READ, MAP_PRIVATE, (int)fd, 0);
        if (!sys_failed(at))
            bytes = (Bytes){(const u8 *)at, (u64)st.st_size};
    }
    sys_close((int)fd);
    return bytes;
}

/* `size` bytes at an offset of a file that may be damaged; NULL: it does not have them. */
static const void *part_of(const Bytes *b, u64 off, u64 size) {
    return b->at && off <= b->size && size <= b->size - off ? b->at + off : NULL;
}

static const Elf64_Ehdr *head_of(const Bytes *b) {
    const Elf64_Ehdr *head = part_of(b, 0, sizeof(*head));
    return head && !memcmp(head->e_ident, ELFMAG, SELFMAG) && head->e_ident[EI_CLASS] == ELFCLASS64 ? head : NULL;
}

/* The first section of a type from `from` on; NULL: there is none. */
static const Elf64_Shdr *section_of(const Bytes *b, u32 type, u32 *from) {
    const Elf64_Ehdr *head = head_of(b);
    const Elf64_Shdr *all = head ? part_of(b, head->e_shoff, (u64)head->e_shnum * sizeof(*all)) : NULL;
    for (; all && *from < head->e_shnum; ++*from)
        if (all[*from].sh_type == type)
            return &all[(*from)++];
    return NULL;
}

/* A function whose size is not known has at most what is left of its section: the stubs of .plt are not a part of _init, which is in front of them. */
static u64 room_of(const Bytes *b, const Elf64_Sym *s) {
    const Elf64_Ehdr *head = head_of(b);
    const Elf64_Shdr *all = part_of(b, head->e_shoff, (u64)head->e_shnum * sizeof(*all));
    if (s->st_size || !all || s->st_shndx >= head->e_shnum)
        return s->st_size;
    return all[s->st_shndx].sh_addr + all[s->st_shndx].sh_size - s->st_value;
}

/* The name that is meant for others: one with fewer underscores in front (of a C++ name, _Z is none) comes before one with more, then a global one before a weak
 * one, and that before a local one. */
static u32 rank_of(const char *name, u32 binding) {
    enum { UNDERSCORES_MOST = 2, BINDINGS = 3 };
    u32 underscores = 0, shown = binding == STB_LOCAL ? 0 : binding == STB_WEAK ? 1 : 2;
    while (underscores < UNDERSCORES_MOST && name[underscores] == '_')
        underscores++;
    if (!strncmp(name, "_Z", 2))
        underscores = 0;
    return (UNDERSCORES_MOST - underscores) * BINDINGS + shown;
}

static void add_function(const Bytes *b, LatheVector *functions, const Elf64_Sym *s, const Elf64_Shdr *names) {
    u32 type = ELF64_ST_TYPE(s->st_info);
    const char *name = part_of(b, names->sh_offset + s->st_name, 1);
    if ((type != STT_FUNC && type != STT_GNU_IFUNC) || s->st_shndx == SHN_UNDEF || !name ||
        s->st_name >= names->sh_size || !memchr(name, 0, names->sh_size - s->st_name))
        return;
    *(Function *)lathe_vector_add(functions) =
        (Function){s->st_value, s->st_size, room_of(b, s), rank_of(name, ELF64_ST_BIND(s->st_info)), name};
}

/* False: the file has no such table. */
static bool add_table(const Bytes *b, LatheVector *functions, u32 type) {
    u32 from = 0;
    const Elf64_Shdr *table = section_of(b, type, &from);
    const Elf64_Ehdr *head = head_of(b);
    if (!table || table->sh_link >= head->e_shnum)
        return false;
    const Elf64_Shdr *names = (const Elf64_Shdr *)(b->at + head->e_shoff) + table->sh_link;
    const Elf64_Sym *all = part_of(b, table->sh_offset, table->sh_size);
    if (!all || !part_of(b, names->sh_offset, names->sh_size))
        return false;
    for (u64 i = 0; i < table->sh_size / sizeof(*all); i++)
        add_function(b, functions, &all[i], names);
    return true;
}

/* The path of a file with what was stripped from this one; false: it has no build ID. */
static bool debug_path(const Bytes *b, char *path, size_t size) {
    enum { NAME_BYTES = 4 };
    u32 from = 0;
    for (const Elf64_Shdr *s; (s = section_of(b, SHT_NOTE, &from));) {
        const Elf64_Nhdr *note = part_of(b, s->sh_offset, sizeof(*note));
        if (!note || note->n_type != NT_GNU_BUILD_ID || note->n_namesz != NAME_BYTES || note->n_descsz < 2 ||
            !part_of(b, s->sh_offset, sizeof(*note) + NAME_BYTES + note->n_descsz))
            continue;
        const u8 *id = (const u8 *)(note + 1) + NAME_BYTES;
        size_t len = format_text(path, size, "/usr/lib/debug/.build-id/%02x/", id[0]);
        for (u32 i = 1; i < note->n_descsz; i++)
            len += format_text(path + len, size - len, "%02x", id[i]);
        format_text(path + len, size - len, ".debug");
        return true;
    }
    return false;
}

static bool add_debug_file(File *f) {
    char path[256];
    Bytes debug = debug_path(&f->bytes, path, sizeof(path)) ? map_file(path) : (Bytes){0};
    return add_table(&debug, &f->functions, SHT_SYMTAB);
}

/* Of one address, the name to be told comes last; of equal ranks, that is the first one in the alphabet. */
static int by_address(const void *a, const void *b) {
    const Function *x = a, *y = b;
    if (x->address != y->address)
        return x->address < y->address ? -1 : 1;
    return x->rank != y->rank ? (x->rank < y->rank ? -1 : 1) : strcmp(y->name, x->name);
}

static void read_functions(File *f) {
    if (f->read)
        return;
    f->read = true;
    f->bytes = map_file(f->path);
    if (!add_table(&f->bytes, &f->functions, SHT_SYMTAB) && !add_debug_file(f))
        add_table(&f->bytes, &f->functions, SHT_DYNSYM);
    lathe_sort(f->functions.at, f->functions.count, f->functions.bytes, by_address);
}

static File *file_of(const char *path, const char *origin) {
    for (File *f = symbols.files; f; f = f->next)
        if (!strcmp(f->path, path) && !strcmp(f->path + f->origin, origin))
            return f;
    u32 room = (u32)strlen(path) + 1;
    File *f = lathe_alloc(sizeof(*f) + room + strlen(origin) + 1);
    memcpy(f->path, path, room);
    memcpy(f->path + room, origin, strlen(origin));
    f->origin = room;
    f->functions = (LatheVector)LATHE_VECTOR(Function);
    f->next = symbols.files;
    symbols.files = f;
    return f;
}

/* ----------------------------------------------------------------------------------------------------------- addresses */

static void read_maps(void) {
    MapsLine line;
    if (!symbols.reader)
        symbols.reader = lathe_alloc(sizeof(*symbols.reader));
    lathe_vector_clear(&symbols.parts);
    if (!maps_open(symbols.reader))
        return;
    while (maps_next(symbols.reader, &line))
        if (line.file && *line.name == '/')
            *(Part *)lathe_vector_add(&symbols.parts) =
                (Part){line.start, line.end, line.off, file_of(line.name, line.origin)};
    maps_close(symbols.reader);
}

/* The first part that ends behind an address, by its number. */
static size_t part_behind(u64 address) {
    const Part *all = symbols.parts.at;
    size_t low = 0, high = symbols.parts.count;
    while (low < high) {
        size_t middle = (low + high) / 2;
        if (all[middle].end <= address)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static const Part *find_part(u64 address) {
    const Part *all = symbols.parts.at;
    size_t i = part_behind(address);
    return i < symbols.parts.count && all[i].start <= address ? &all[i] : NULL;
}

static const Part *part_at(u64 address) {
    const Part *p = find_part(address);
    if (p || symbols.unknown_page == page_down(address))
        return p;
    read_maps();
    p = find_part(address);
    symbols.unknown_page = p ? 0 : page_down(address);
    return p;
}

/* The address as the file has it, by the segment that its offset is in. */
static u64 address_in_file(const File *f, u64 off) {
    const Elf64_Ehdr *head = head_of(&f->bytes);
    const Elf64_Phdr *all = head ? part_of(&f->bytes, head->e_phoff, (u64)head->e_phnum * sizeof(*all)) : NULL;
    for (u32 i = 0; all && i < head->e_phnum; i++)
        if (all[i].p_type == PT_LOAD && off >= all[i].p_offset && off - all[i].p_offset < all[i].p_filesz)
            return off - all[i].p_offset + all[i].p_vaddr;
    return off;
}

/* Addresses of a file for which the same function is found, or none. */
typedef struct Extent {
    u64 from, to;
} Extent;

static u64 end_of(const Function *f) {
    return f->room ? f->address + f->room : ~(u64)0;
}

/* The last function that begins at the address or before, and has it, if its size is known. */
static const Function *find_function(const File *f, u64 address, Extent *extent) {
    enum { FARTHEST = 1 << 20 };
    const Function *all = f->functions.at;
    size_t low = 0, high = f->functions.count;
    while (low < high) {
        size_t middle = (low + high) / 2;
        if (all[middle].address <= address)
            low = middle + 1;
        else
            high = middle;
    }
    extent->from = low ? all[low - 1].address : 0;
    extent->to = low < f->functions.count ? all[low].address : ~(u64)0;
    while (low && address >= end_of(&all[low - 1])) {
        extent->from = end_of(&all[low - 1]) > extent->from ? end_of(&all[low - 1]) : extent->from;
        if (!--low || address - all[low - 1].address > FARTHEST)
            return NULL;
    }
    if (!low)
        return NULL;
    extent->to = end_of(&all[low - 1]) < extent->to ? end_of(&all[low - 1]) : extent->to;
    return &all[low - 1];
}

static const Function *function_at(const File *f, u64 address) {
    Extent extent;
    return find_function(f, address, &extent);
}

static void forget_names(u64 start, u64 end) {
    for (LatheWalk w = {0}; named.count && lathe_map_next(&named, &w);)
        if (w.key >= start && w.key < end)
            lathe_map_remove(&named, w.key);
}

/* What is known is read again if some of it may be other files by now. */
void tool_symbols_forget(u64 start, u64 end) {
    lathe_lock(&symbols.lock);
    const Part *all = symbols.parts.at;
    size_t i = part_behind(start);
    if (i < symbols.parts.count && all[i].start < end) {
        lathe_vector_clear(&symbols.parts);
        forget_names(start, end);
    }
    if (symbols.unknown_page >= start && symbols.unknown_page < end)
        symbols.unknown_page = 0;
    lathe_unlock(&symbols.lock);
}

bool tool_file_at(u64 address, ToolFile *out) {
    lathe_lock(&symbols.lock);
    const Part *p = part_at(address);
    if (p) {
        read_functions(p->file);
        *out = (ToolFile){.bytes = p->file->bytes.at,
                          .size = p->file->bytes.size,
                          .address = address_in_file(p->file, address - p->start + p->off),
                          .frames = &p->file->frames};
    }
    lathe_unlock(&symbols.lock);
    return p;
}

void lathe_name_function(uint64_t address, const char *name) {
    *(const char **)lathe_map_at(&named, address) = name;
}

bool tool_is_named(u64 address) {
    return lathe_map_find(&named, address);
}

bool tool_names_in(u64 start, u64 end) {
    for (LatheWalk w = {0}; named.count && lathe_map_next(&named, &w);)
        if (w.key >= start && w.key < end)
            return true;
    return false;
}

/* Some functions have several names. `at` is any of those. */
static bool has_name(const File *f, const Function *at, const char *pattern) {
    const Function *all = f->functions.at;
    while (at > all && at[-1].address == at->address)
        at--;
    for (u64 address = at->address; at < all + f->functions.count && at->address == address; at++)
        if (site_name_matches(pattern, at->name))
            return true;
    return false;
}

bool tool_symbol_matches(u64 address, const char *pattern) {
    const char **name = lathe_map_find(&named, address);
    if (name)
        return site_name_matches(pattern, *name);
    lathe_lock(&symbols.lock);
    const Part *p = part_at(address);
    const Function *function = NULL;
    if (p) {
        read_functions(p->file);
        function = function_at(p->file, address_in_file(p->file, address - p->start + p->off));
    }
    bool found = function && has_name(p->file, function, pattern);
    lathe_unlock(&symbols.lock);
    return found;
}

bool lathe_symbol_is(uint64_t address, const char *name) {
    return tool_symbol_matches(address, name);
}

bool lathe_symbol(uint64_t address, LatheSymbol *out) {
    const char **name = lathe_map_find(&named, address);
    *out = (LatheSymbol){.name = "?", .file = "?", .address = address};
    lathe_lock(&symbols.lock);
    const Part *p = part_at(address);
    const Function *function = NULL;
    if (p) {
        read_functions(p->file);
        out->file = p->file->path;
        out->address = address_in_file(p->file, address - p->start + p->off);
        function = function_at(p->file, out->address);
    }
    if (function) {
        out->name = function->name;
        out->offset = out->address - function->address;
        out->size = function->size;
    }
    lathe_unlock(&symbols.lock);
    if (name)
        out->name = *name, out->offset = out->size = 0;
    return function || name;
}

void lathe_extent(uint64_t address, uint64_t *from, uint64_t *to) {
    *from = address, *to = address + 1;
    lathe_lock(&symbols.lock);
    const Part *p = part_at(address);
    if (p) {
        Extent extent;
        read_functions(p->file);
        u64 in_file = address_in_file(p->file, address - p->start + p->off);
        find_function(p->file, in_file, &extent);
        bool before = in_file - extent.from < address - p->start, behind = extent.to - in_file < p->end - address;
        *from = before ? address - (in_file - extent.from) : p->start;
        *to = behind ? address + (extent.to - in_file) : p->end;
    }
    lathe_unlock(&symbols.lock);
}
