/* SPDX-License-Identifier: MIT
 *
 * Owns: names of CUDA's kinds of copies and memory. Threads: any. State: none.
 */
#include "cuda_kinds.h"

#include <stddef.h>

#include "proftrace/cuda.h"

#define KIND_NAME(name)                                                                                                \
    {                                                                                                                  \
        name, name                                                                                                     \
    }

static const struct pt_cuda_kind_name copies[] = {
    {"unknown", "Unknown"},
    [PT_CUDA_COPY_HTOD] = KIND_NAME("HtoD"),
    [PT_CUDA_COPY_DTOH] = KIND_NAME("DtoH"),
    [PT_CUDA_COPY_HTOA] = KIND_NAME("HtoA"),
    [PT_CUDA_COPY_ATOH] = KIND_NAME("AtoH"),
    [PT_CUDA_COPY_ATOA] = KIND_NAME("AtoA"),
    [PT_CUDA_COPY_ATOD] = KIND_NAME("AtoD"),
    [PT_CUDA_COPY_DTOA] = KIND_NAME("DtoA"),
    [PT_CUDA_COPY_DTOD] = KIND_NAME("DtoD"),
    [PT_CUDA_COPY_HTOH] = KIND_NAME("HtoH"),
    [PT_CUDA_COPY_PTOP] = KIND_NAME("PtoP"),
};

static const struct pt_cuda_kind_name memories[] = {
    [PT_CUDA_MEMORY_UNKNOWN] = {"unknown", "Unknown"},
    [PT_CUDA_MEMORY_PAGEABLE] = {"pageable", "Pageable"},
    [PT_CUDA_MEMORY_PINNED] = {"pinned", "Pinned"},
    [PT_CUDA_MEMORY_DEVICE] = {"device", "Device"},
    [PT_CUDA_MEMORY_ARRAY] = {"array", "Array"},
    [PT_CUDA_MEMORY_MANAGED] = {"managed", "Managed"},
    [PT_CUDA_MEMORY_DEVICE_STATIC] = {"device static", "Device Static"},
    [PT_CUDA_MEMORY_MANAGED_STATIC] = {"managed static", "Managed Static"},
};

const struct pt_cuda_kind_name *pt_cuda_copy_kind(pt_u32 kind)
{
    return &copies[kind < sizeof copies / sizeof *copies ? kind : 0];
}

const struct pt_cuda_kind_name *pt_cuda_memory_kind(pt_u32 kind)
{
    return &memories[kind < sizeof memories / sizeof *memories ? kind : 0];
}
