/* contained.h: the guest's program and libraries, where they lie behind the client's program in the same file (lathe raise --contained;
 * run/protocol/contained.h has the layout).
 *
 * The program that the file was made from runs when the file is started. Its dynamic linker finds the libraries that came with it, wherever it looks
 * for them; nobody else does: for all other code of the guest, paths lead to the files of the machine that it runs on. Exec of a path that one of
 * them has had runs that one.
 *
 * Each file that is opened is a file in memory of its own, so that whatever can be done with a file's descriptor works. */
#ifndef RUN_CLIENT_CONTAINED_H
#define RUN_CLIENT_CONTAINED_H

#include "run/client/core/client.h"
#include "run/protocol/contained.h"

/* The page of this program's file at which the head is; 0: nothing is contained, and everything below finds nothing. */
u64 contained_page(void);
static inline bool contained_exists(void) {
    return contained_page() != 0;
}

/* Uses the files that `head` describes from now on; all of them are in memory behind it. starts: this process runs the program among them. Returns
 * NULL, or a sentence that says what is wrong with it. */
const char *contained_adopt(const ContainedHead *head, bool starts);
/* The head has moved. */
void contained_move(const ContainedHead *head);
bool contained_starts(void);
const char *contained_options(void);

/* The code of the dynamic linker is at [start, end). */
void contained_note_linker(u64 start, u64 end);
bool contained_is_linker(u64 pc);

/* Each returns a descriptor, -ENOENT if there is no such file, or another error. flags: O_CLOEXEC, or 0. */
i64 contained_open_program(u32 flags);
i64 contained_open_self(u32 flags); /* the program that this process runs */
i64 contained_open_path(const char *path, u32 flags);
i64 contained_open_library(const char *path, u32 flags);
bool contained_has_path(const char *path);

/* The path by which this program was started, NULL if that is not known; and its own file. */
const char *contained_started_as(void);
i64 contained_open_own(void);
/* The image of translated code for the program that starts, and where it is in that file. Returns false if there is none. */
typedef struct ContainedImage {
    u64 off, size, window;
} ContainedImage;
bool contained_image(ContainedImage *image);

/* The identity of the original of a contained file that was copied into memory; NULL if this is no such copy. */
const PackIdentity *contained_identity(const struct stat *st);
/* The processor that packs are for. */
u64 contained_cpu(void);
/* Packs and the image are for another processor than this one. */
void contained_forget_packs(void);
/* The bytes of the pack of that name; NULL: there is none. */
const u8 *contained_pack(Key pack, u64 *size);

#endif
