// SPDX-License-Identifier: BSD-3-Clause
#include "mpi/comm/next_definition.hpp"

#include <dlfcn.h>

namespace laple::mpi {

void* next_definition(const char* name, const void* caller) {
    if (void* next = dlsym(RTLD_NEXT, name)) return next;
    Dl_info of_caller{};
    if (dladdr(caller, &of_caller) == 0) return nullptr;
    void* library = dlopen(of_caller.dli_fname, RTLD_LAZY | RTLD_NOLOAD);
    if (library == nullptr) return nullptr;
    void* next = dlsym(library, name);
    dlclose(library);  // stays loaded: it is calling
    return next;
}

}  // namespace laple::mpi
