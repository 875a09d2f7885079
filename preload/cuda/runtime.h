/* SPDX-License-Identifier: MIT
 *
 * runtime.h - the real functions of libcudart, of which a process may have several: each caller gets those of its own.
 */
#ifndef PT_CUDA_RUNTIME_H
#define PT_CUDA_RUNTIME_H

#include "core/compiler.h"

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

/* The libcudart of the module whose code lies at `caller`. Takes some nanoseconds, longer at the first call of a
 * module. */
const struct pt_cudart *pt_cudart_of(const void *caller);
/* Does a module that is loaded now lie at this address? */
int pt_is_in_module(pt_u64 address);

#endif
