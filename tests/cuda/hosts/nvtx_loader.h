/* SPDX-License-Identifier: MIT
 *
 * nvtx_loader.h - the caller's half of NVTX 3 for machines without NVIDIA's header: the same names, types and manners.
 * At the first call NVTX_INJECTION64_PATH is loaded and fills the tables; a table may be missing, as in older versions
 * (NVTX_LOADER_OLD).
 */
#include <dlfcn.h>
#include <pthread.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <wchar.h>

typedef void *nvtxDomainHandle_t;
typedef void *nvtxStringHandle_t;
typedef uint64_t nvtxRangeId_t;
typedef struct {
    uint16_t version, size;
    uint32_t category;
    int32_t colorType;
    uint32_t color;
    int32_t payloadType, reserved0;
    union {
        uint64_t ullValue;
        double dValue;
    } payload;
    int32_t messageType;
    union {
        const char *ascii;
        const wchar_t *unicode;
        nvtxStringHandle_t registered;
    } message;
} nvtxEventAttributes_t;
enum { NVTX_VERSION = 3, NVTX_EVENT_ATTRIB_STRUCT_SIZE = sizeof(nvtxEventAttributes_t) };
enum { NVTX_MESSAGE_TYPE_ASCII = 1, NVTX_MESSAGE_TYPE_UNICODE, NVTX_MESSAGE_TYPE_REGISTERED };

typedef void nvtx_slot(void);
static nvtx_slot *nvtx_core[16], *nvtx_core2[16];

static int nvtx_functions_of(int module, nvtx_slot ****table, unsigned *n)
{
    static nvtx_slot **core[17], **core2[17];
    for (int i = 0; i < 16; i++) {
        core[i] = &nvtx_core[i];
        core2[i] = &nvtx_core2[i];
    }
    if (module != 1 && (module != 5 || getenv("NVTX_LOADER_OLD")))
        return 0;
    *table = module == 1 ? core : core2;
    *n = 16;
    return 1;
}

static const void *nvtx_export_table(uint32_t id)
{
    static const struct {
        size_t bytes;
        int (*get)(int, nvtx_slot ****, unsigned *);
    } callbacks = {sizeof callbacks, nvtx_functions_of};
    return id == 1 ? &callbacks : NULL;
}

static void nvtx_load(void)
{
    const char *path = getenv("NVTX_INJECTION64_PATH");
    void *library = path ? dlopen(path, RTLD_LAZY) : NULL;
    int (*initialize)(const void *(*)(uint32_t)) = NULL;
    if (library)
        *(void **)&initialize = dlsym(library, "InitializeInjectionNvtx2");
    if (!initialize || !initialize(nvtx_export_table))
        for (int i = 0; i < 16; i++)
            nvtx_core[i] = nvtx_core2[i] = NULL;
}

static inline void nvtx_initialize(void)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, nvtx_load);
}

#define NVTX_FUNCTION(table, id, type, name, parameters, arguments, none)                                              \
    static inline type name parameters                                                                                 \
    {                                                                                                                  \
        nvtx_initialize();                                                                                             \
        type(*function) parameters = (type(*) parameters)table[id];                                                    \
        return function ? function arguments : (type)none;                                                             \
    }
NVTX_FUNCTION(nvtx_core, 1, void, nvtxMarkEx, (const nvtxEventAttributes_t *a), (a), 0)
NVTX_FUNCTION(nvtx_core, 2, void, nvtxMarkA, (const char *text), (text), 0)
NVTX_FUNCTION(nvtx_core, 3, void, nvtxMarkW, (const wchar_t *text), (text), 0)
NVTX_FUNCTION(nvtx_core, 4, nvtxRangeId_t, nvtxRangeStartEx, (const nvtxEventAttributes_t *a), (a), 0)
NVTX_FUNCTION(nvtx_core, 5, nvtxRangeId_t, nvtxRangeStartA, (const char *text), (text), 0)
NVTX_FUNCTION(nvtx_core, 7, void, nvtxRangeEnd, (nvtxRangeId_t id), (id), 0)
NVTX_FUNCTION(nvtx_core, 8, int, nvtxRangePushEx, (const nvtxEventAttributes_t *a), (a), -2)
NVTX_FUNCTION(nvtx_core, 9, int, nvtxRangePushA, (const char *text), (text), -2)
NVTX_FUNCTION(nvtx_core, 10, int, nvtxRangePushW, (const wchar_t *text), (text), -2)
NVTX_FUNCTION(nvtx_core, 11, int, nvtxRangePop, (void), (), -2)
NVTX_FUNCTION(nvtx_core, 14, void, nvtxNameOsThreadA, (uint32_t thread, const char *name), (thread, name), 0)
NVTX_FUNCTION(nvtx_core2, 1, void, nvtxDomainMarkEx, (nvtxDomainHandle_t d, const nvtxEventAttributes_t *a), (d, a), 0)
NVTX_FUNCTION(nvtx_core2, 2, nvtxRangeId_t, nvtxDomainRangeStartEx,
              (nvtxDomainHandle_t d, const nvtxEventAttributes_t *a), (d, a), 0)
NVTX_FUNCTION(nvtx_core2, 3, void, nvtxDomainRangeEnd, (nvtxDomainHandle_t d, nvtxRangeId_t id), (d, id), 0)
NVTX_FUNCTION(nvtx_core2, 4, int, nvtxDomainRangePushEx, (nvtxDomainHandle_t d, const nvtxEventAttributes_t *a), (d, a),
              -2)
NVTX_FUNCTION(nvtx_core2, 5, int, nvtxDomainRangePop, (nvtxDomainHandle_t d), (d), -2)
NVTX_FUNCTION(nvtx_core2, 10, nvtxStringHandle_t, nvtxDomainRegisterStringA, (nvtxDomainHandle_t d, const char *text),
              (d, text), 0)
NVTX_FUNCTION(nvtx_core2, 12, nvtxDomainHandle_t, nvtxDomainCreateA, (const char *name), (name), 0)
NVTX_FUNCTION(nvtx_core2, 14, void, nvtxDomainDestroy, (nvtxDomainHandle_t d), (d), 0)
