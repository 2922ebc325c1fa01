/* entry.c: see entry.h. The calling convention is that of the System V ABI for x86-64, 3.2.3. */
#include "binopt/x86_64/machine/entry.h"

#include "binopt/x86_64/machine/encode.h"
#include "binopt/x86_64/machine/step.h"

bool entry_places(const BinoptCfg *cfg, ParamPlace *places, const char **why) {
    static const u8 general[] = {RDI, RSI, RDX, RCX, R8, R9};
    u32 ints = 0, floats = 0;
    i64 stack = SLOT_BYTES;
    if (cfg->params.len > ENTRY_MAX_PARAMS) {
        *why = "its type has more parameters than are supported";
        return false;
    }
    for (size_t i = 0; i < cfg->params.len; i++) {
        BinoptType type = cfg->params.at[i].type;
        if (!config_type_bytes(type)) {
            *why = "its type has a parameter that is no BinoptType";
            return false;
        }
        places[i] = (ParamPlace){.reg = NO_REG};
        if (config_type_is_float(type) && floats < 8)
            places[i].reg = (u8)(XMM0 + floats++);
        else if (!config_type_is_float(type) && ints < ARRAY_LEN(general))
            places[i].reg = general[ints++];
        else
            places[i].slot = stack, stack += SLOT_BYTES;
    }
    return true;
}

static void fix(MachineUnit *u, State *s, const Param *p, ParamPlace place) {
    u64 v = config_extend(p);
    Value value = value_const(v);
    if (place.reg == NO_REG) {
        state_store_slot(s, place.slot, value);
        return;
    }
    OutInsn *o = step_put(u, NULL, OUT_CONST);
    o->writes = o->kills = BIT(place.reg);
    o->known = true;
    o->result[o->result_count++] = (Result){place.reg, v, 0};
    if (place.reg < GP_COUNT) {
        s->gp[place.reg] = value;
        return;
    }
    memcpy(s->vec[place.reg - XMM0], &v, sizeof(v));
    s->vec_known |= (u16)(1u << (place.reg - XMM0));
}

bool entry_state(MachineUnit *u, State *s) {
    ParamPlace places[ENTRY_MAX_PARAMS];
    memset(s, 0, sizeof(*s));
    for (u8 r = 0; r < GP_COUNT; r++)
        s->gp[r] = value_at_entry(r);
    s->gp[RSP] = value_stack(0);
    u->outs.len = 0;
    if (!entry_places(u->cfg, places, &u->hopeless))
        return false;
    for (size_t i = 0; i < u->cfg->params.len; i++)
        if (u->cfg->params.at[i].fixed)
            fix(u, s, &u->cfg->params.at[i], places[i]);
    return true;
}
