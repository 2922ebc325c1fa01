/* corpus.h: code of real files and random bytes, for tests that hold one model of x86-64 instructions against another. */
#ifndef ISA_X86_64_CORPUS_H
#define ISA_X86_64_CORPUS_H

#include "base/base.h"

/* Calls visit with the section .text of each file, up to `limit` bytes of it; without files, of the libraries of this process and of the
 * shell. */
typedef void CorpusVisit(void *self, const char *path, const u8 *text, size_t size);
void corpus_texts(char **files, int count, size_t limit, CorpusVisit *visit, void *self);

/* Random numbers: the seed that a number stands for, and a number below n. */
u64 corpus_seed(u64 number);
u32 corpus_below(u64 *seed, u32 n);
/* Random bytes, most often with prefixes and the first byte of an opcode map, which chance alone finds too rarely. */
void corpus_fill(u64 *seed, u8 *bytes, size_t size);

#endif
