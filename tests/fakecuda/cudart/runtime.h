/* SPDX-License-Identifier: MIT
 *
 * runtime.h - our declarations for the doubles of libcudart. FAKECUDART_MAJOR is 11, 12 or 13: some signatures and call
 * ids differ. A function and its _ptsz or _ptds twin share one body that is given the row of the one that was called.
 */
#ifndef FAKECUDART_H
#define FAKECUDART_H

#include "fakegpu.h"

enum runtime_api {
#define API(name, cbid, suffix) API_##name,
#define TWIN(name, cbid, suffix) API_##name,
#include "runtime.def"
#undef API
#undef TWIN
    N_RUNTIME_APIS
};
extern const struct fg_api fakecudart_apis[];
#define ROW(name) (&fakecudart_apis[API_##name])

/* Begins a call: `call` and `error`. */
#define BEGIN(row)                                                                                                     \
    struct fg_call call;                                                                                               \
    int error = fg_enter(&call, row)

typedef struct {
    unsigned x, y, z;
} dim3_t;

/* cudaMemcpyKind */
enum copy_direction {
    COPY_HOST_TO_HOST,
    COPY_HOST_TO_DEVICE,
    COPY_DEVICE_TO_HOST,
    COPY_DEVICE_TO_DEVICE,
    COPY_DEFAULT
};

#endif
