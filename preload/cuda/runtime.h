/* SPDX-License-Identifier: MIT
 *
 * runtime.h - the real functions of libcudart, of which a process may have several: each caller gets those of its own.
 */
#ifndef PT_CUDA_RUNTIME_H
#define PT_CUDA_RUNTIME_H

#include "../core/compiler.h"

#define PT_CUDART_TWIN_none(name)
#define PT_CUDART_TWIN_ptsz(name) PT_CUDART_##name##_ptsz,
#define PT_CUDART_TWIN_ptds(name) PT_CUDART_##name##_ptds,
enum pt_cudart_function {
#define WRAP(name, twin, parameters, arguments, record) PT_CUDART_##name, PT_CUDART_TWIN_##twin(name)
#define WRAP_WAIT WRAP
#define OBSERVE(name) PT_CUDART_##name,
#include "wrappers.def"
#undef WRAP
#undef WRAP_WAIT
#undef OBSERVE
    PT_CUDART_COUNT
};

struct pt_cudart {
    void *library; /* handle; 0 = free */
    pt_u32 ready;
    void *functions[PT_CUDART_COUNT]; /* never 0 once ready */
};

/* Code of one module, and the libcudart that it was linked with. */
struct pt_cudart_caller {
    pt_u64 start, bytes;
    const struct pt_cudart *cudart;
};
#define PT_CUDART_CALLERS 64u
extern struct pt_cudart_caller pt_cudart_callers[PT_CUDART_CALLERS] __attribute__((visibility("hidden")));
extern pt_u32 pt_cudart_n_callers __attribute__((visibility("hidden")));

const struct pt_cudart *pt_cudart_look_up(const void *caller);

/* The libcudart that code at `caller` means. */
PT_ALWAYS_INLINE const struct pt_cudart *pt_cudart_of(const void *caller)
{
    const pt_u32 n = __atomic_load_n(&pt_cudart_n_callers, __ATOMIC_ACQUIRE);
    for (pt_u32 i = 0; i < n; i++)
        if ((pt_u64)caller - pt_cudart_callers[i].start < pt_cudart_callers[i].bytes)
            return pt_cudart_callers[i].cudart;
    return pt_cudart_look_up(caller);
}

#endif
