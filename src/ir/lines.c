/* lines.c: debug locations, which tell of which guest instruction an IR instruction was made. Passes carry them along, and make the same of the code with and without them. */
#include <llvm-c/DebugInfo.h>

#include "ir/ir.h"

#define FROM_GUEST "guest code"
#define PRODUCER "lathe"

static LLVMMetadataRef make_unit(LLVMDIBuilderRef d, LLVMMetadataRef file) {
    return LLVMDIBuilderCreateCompileUnit(d, LLVMDWARFSourceLanguageC, file, PRODUCER, sizeof(PRODUCER) - 1, true, "",
                                          0, 0, "", 0, LLVMDWARFEmissionLineTablesOnly, 0, false, false, "", 0, "", 0);
}

void ir_lines_begin(Lifter *l) {
    static const char version[] = "Debug Info Version";
    size_t len;
    const char *name = LLVMGetValueName2(l->fn, &len);
    LLVMDIBuilderRef d = LLVMCreateDIBuilder(l->mod);
    LLVMMetadataRef file = LLVMDIBuilderCreateFile(d, FROM_GUEST, sizeof(FROM_GUEST) - 1, "", 0);
    LLVMMetadataRef unit = make_unit(d, file);
    LLVMMetadataRef type = LLVMDIBuilderCreateSubroutineType(d, file, NULL, 0, LLVMDIFlagZero);
    l->lines =
        LLVMDIBuilderCreateFunction(d, unit, name, len, "", 0, file, 1, type, false, true, 1, LLVMDIFlagZero, true);
    LLVMSetSubprogram(l->fn, l->lines);
    LLVMDIBuilderFinalize(d);
    LLVMDisposeDIBuilder(d);
    if (!LLVMGetModuleFlag(l->mod, version, sizeof(version) - 1)) {
        LLVMValueRef number = LLVMConstInt(LLVMInt32TypeInContext(l->ctx), LLVMDebugMetadataVersion(), false);
        LLVMAddModuleFlag(l->mod, LLVMModuleFlagBehaviorWarning, version, sizeof(version) - 1,
                          LLVMValueAsMetadata(number));
    }
}

void ir_line(Lifter *l, u32 line) {
    if (!l->lines)
        return;
    LLVMMetadataRef location = LLVMDIBuilderCreateDebugLocation(l->ctx, line, 0, l->lines, NULL);
    l->line = line ? location : NULL;
    LLVMSetCurrentDebugLocation2(l->b, location);
}
