/* coverage.c: see coverage.h. */
#include "coverage.h"

#include <stdio.h>

#include "oracle.h"

/* One instruction of one case that has the mnemonic. */
static bool find_case(const CaseList *list, const char *mnemonic, const Case **c, size_t *index) {
    for (*c = list->at; *c < list->at + list->len; ++*c) {
        const char *m;
        for (*index = 0; (m = guest_mnemonic(*c, *index)); ++*index)
            if (!strcmp(m, mnemonic))
                return true;
    }
    return false;
}

static size_t check_row(const CaseList *list, const LatheSupport *row) {
    const Case *c;
    size_t index;
    if (find_case(list, row->mnemonic, &c, &index))
        return guest_check_row(c, index, row);
    printf("no case for %s\n", row->mnemonic);
    return 1;
}

size_t coverage_check(const CaseList *list) {
    size_t problems = 0;
    LatheSupport row;
    for (size_t i = 0; lathe_support(GUEST_ARCH, LATHE_HOST_OWN, i, &row); i++)
        problems += check_row(list, &row);
    return problems;
}
