#include "emu/jit/llvm.h"

#include <dlfcn.h>
#include <stddef.h>
#include <string.h>

/* Opens the library of that name. LLVM's switches hold for the process, and may be set once: by who loads it.
 *
 * The fast selector takes two thirds of the other one's time, for code that is as fast; strength reduction takes a tenth of all,
 * and gains nothing. */
static void *open_library(const char *name, bool *loaded)
{
    void *library = dlopen(name, RTLD_LAZY | RTLD_LOCAL | RTLD_NOLOAD);
    *loaded = library != NULL;
    return library ? library : dlopen(name, RTLD_LAZY | RTLD_LOCAL);
}

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
    static const char *const switches[] = {"croft", "-fast-isel", "-disable-lsr"};
    bool loaded;
    *llvm = (struct llvm){.library = open_library("libcroft-llvm.so", &loaded)};
    if (!llvm->library)
        llvm->library = open_library("libLLVM-14.so.1", &loaded);
    if (!llvm->library)
        return false;
    for (size_t i = 0; i < sizeof functions / sizeof *functions; i++) {
        void *found = dlsym(llvm->library, functions[i].name);
        if (!found)
            return false;
        memcpy((char *)llvm + functions[i].offset, &found, sizeof found);
    }
    if (!loaded)
        llvm->ParseCommandLineOptions(sizeof switches / sizeof *switches, switches, "");
    llvm->LinkInMCJIT();
    llvm->InitializeX86TargetInfo();
    llvm->InitializeX86Target();
    llvm->InitializeX86TargetMC();
    llvm->InitializeX86AsmPrinter();
    return true;
}
