/* coverage.c: see coverage.h. */
#include "coverage.h"

#include <stdio.h>

#include "decoded.h"

static const char flag_names[] = "ODISZAPC";

/* One instruction of one case that has the mnemonic. */
static bool find_case(const CaseList *list, const char *mnemonic, const Case **c, size_t *index) {
    for (*c = list->at; *c < list->at + list->len; ++*c) {
        const char *m;
        for (*index = 0; (m = decoded_mnemonic(*c, *index)); ++*index)
            if (!strcmp(m, mnemonic))
                return true;
    }
    return false;
}

static size_t check_row(const CaseList *list, const LatheSupport *row) {
    const Case *c;
    size_t index, problems = 0;
    if (!find_case(list, row->mnemonic, &c, &index)) {
        printf("no case for %s\n", row->mnemonic);
        return 1;
    }
    for (unsigned i = 0; flag_names[i] && row->flags && row->flags[i]; i++)
        if (row->flags[i] == 'u' && !decoded_may_be_undefined(c, index, i)) {
            printf("the table calls %cF undefined after %s, the manual does not\n", flag_names[i], row->mnemonic);
            problems++;
        }
    return problems;
}

size_t coverage_check(const CaseList *list) {
    size_t problems = 0;
    LatheSupport row;
    for (size_t i = 0; lathe_support(LATHE_ARCH_X86_64, i, &row); i++)
        problems += check_row(list, &row);
    return problems;
}
