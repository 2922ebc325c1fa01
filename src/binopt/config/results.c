/* results.c: see results.h. */
#include "binopt/config/results.h"

#include "binopt/config/signature.h"

/* These registers may hold a result that is just a parameter: then nothing is written to them. */
static u32 set_by_caller(const BinoptCfg *cfg) {
    u32 ints = 0, floats = 0;
    for (size_t i = 0; i < cfg->params.len; i++)
        config_type_is_float(cfg->params.at[i].type) ? floats++ : ints++;
    return (ints > 2 ? RESULT_RDX : 0) | (floats > 0 ? RESULT_XMM0 : 0) | (floats > 1 ? RESULT_XMM1 : 0);
}

/* The second register of a kind holds a part of the result only if the first one does. */
static u32 possible(const BinoptCfg *cfg, u32 unset) {
    u32 regs = RESULTS_ALL & ~(unset & ~set_by_caller(cfg));
    regs &= regs & RESULT_RAX ? ~0u : ~(u32)RESULT_RDX;
    return regs & (regs & RESULT_XMM0 ? ~0u : ~(u32)RESULT_XMM1);
}

/* A result that is narrower than a register is in one register; it is not the first part of a larger result. */
ResultRegs results_kept(const BinoptCfg *cfg, u32 unset, bool search) {
    u32 declared = config_type_is_float(cfg->ret) ? RESULT_XMM0 : RESULT_RAX, regs = possible(cfg, unset) | declared;
    if (cfg->ret == BINOPT_TY_VOID)
        return 0;
    if (cfg->results)
        return cfg->results | (ResultRegs)declared;
    if (config_type_bytes(cfg->ret) < 8)
        return (ResultRegs)(declared | (cfg->ret == BINOPT_TY_FLOAT ? RESULT_SINGLE : 0));
    u32 known = search && regs != declared ? signature_results(cfg->function) : 0;
    return (ResultRegs)(known ? known | declared : regs);
}
