#include "emu/jit/llvm.h"

#include <dlfcn.h>
#include <stddef.h>
#include <string.h>

bool llvm_open(struct llvm *llvm)
{
    static const struct {
        const char *name;
        size_t offset;
    } functions[] = {
#define ROW(name) {"LLVM" #name, offsetof(struct llvm, name)},
        LLVM_FUNCTIONS(ROW)
#undef ROW
    };
    *llvm = (struct llvm){.library = dlopen("libcroft-llvm.so", RTLD_LAZY | RTLD_LOCAL)};
    if (!llvm->library)
        llvm->library = dlopen("libLLVM-14.so.1", RTLD_LAZY | RTLD_LOCAL);
    if (!llvm->library)
        return false;
    for (size_t i = 0; i < sizeof functions / sizeof *functions; i++) {
        void *found = dlsym(llvm->library, functions[i].name);
        if (!found)
            return false;
        memcpy((char *)llvm + functions[i].offset, &found, sizeof found);
    }
    llvm->LinkInMCJIT();
    llvm->InitializeX86TargetInfo();
    llvm->InitializeX86Target();
    llvm->InitializeX86TargetMC();
    llvm->InitializeX86AsmPrinter();
    return true;
}
