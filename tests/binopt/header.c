/* header.c: the public header compiles alone, and a program is linked with the library that changes nothing. */
#include <binopt.h>

#include <string.h>

int main(void) {
    BinoptHandle handle = binopt_init();
    BinoptCfgRef cfg = binopt_cfg_new(handle, (BinoptFunc)main);
    binopt_cfg_type(cfg, 0, BINOPT_TY_INT32);
    int same = binopt_spec_create(cfg) == (BinoptFunc)main;
    binopt_fini(handle);
    return !same || strcmp(binopt_driver(), "Default (no rewriting)") != 0;
}
