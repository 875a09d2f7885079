/* SPDX-License-Identifier: MIT
 *
 * nvtx.c - NVTX version 3: InitializeInjectionNvtx2 and the functions that stand behind its ranges and marks.
 *
 * Every library that uses NVTX carries a loader of its own, which dlopens NVTX_INJECTION64_PATH at the first call and
 * asks us to fill its table: we are called many times, by any thread. No CUDA is needed. Texts are interned at the
 * call. Never records names of threads, devices and streams, colours and payloads: a function that we do not provide
 * stays a no-op. Push and pop return what they return without a tool. Ranges of several domains on one thread are
 * treated as one stack, because programs nest them.
 */
#include <stddef.h>
#include <wchar.h>

#include "core/names/intern_name.h"
#include "annotation.h"

/* ---- NVTX's own interface: nvtxTypes.h and nvtxToolsExt.h of version 3 ---- */

typedef const void *nvtx_get_export_table(pt_u32 id);
typedef void nvtx_function(void);
enum { NVTX_TABLE_CALLBACKS = 1 };
enum { NVTX_MODULE_CORE = 1, NVTX_MODULE_CORE2 = 5 };
enum { NVTX_NO_PUSH_POP_TRACKING = -2 };
enum { NVTX_MESSAGE_ASCII = 1, NVTX_MESSAGE_UNICODE = 2, NVTX_MESSAGE_REGISTERED = 3 };

struct nvtx_callbacks {
    size_t struct_size;
    int (*get_module_functions)(int module, nvtx_function ****ret_table, unsigned *ret_size);
};

struct nvtx_attributes {
    pt_u16 version, size;
    pt_u32 category;
    pt_i32 color_type;
    pt_u32 color;
    pt_i32 payload_type, reserved;
    pt_u64 payload;
    pt_i32 message_type;
    union {
        const char *ascii;
        const wchar_t *unicode;
        const void *registered;
    } message;
};
_Static_assert(sizeof(struct nvtx_attributes) == 48, "NVTX version 3");

/* ---- domains: a handle is the address of a row ---- */

#define DOMAINS 128u
struct domain {
    pt_u32 state; /* 0 free, 1 being written, 2 there */
    char name[124];
};
static struct domain domains[DOMAINS];
static struct domain other_domains = {2, "(other domains)"};

static int has_name(const struct domain *domain, const char *name)
{
    for (pt_u32 i = 0; i < sizeof domain->name - 1; i++) {
        if (domain->name[i] != name[i])
            return 0;
        if (!name[i])
            return 1;
    }
    return 1; /* both were cut at the same place */
}

static struct domain *new_domain(const char *name)
{
    for (pt_u32 i = 0; i < DOMAINS; i++) {
        struct domain *domain = &domains[i];
        pt_u32 state = __atomic_load_n(&domain->state, __ATOMIC_ACQUIRE);
        if (state == 2 && has_name(domain, name))
            return domain;
        if (state == 0 &&
            __atomic_compare_exchange_n(&domain->state, &state, 1, 0, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE)) {
            for (pt_u32 n = 0; n < sizeof domain->name - 1 && name[n]; n++)
                domain->name[n] = name[n];
            __atomic_store_n(&domain->state, 2, __ATOMIC_RELEASE);
            return domain;
        }
    }
    return &other_domains;
}

/* The prefix of a domain's names; NULL for the default domain, and for handles that are not ours. */
PT_ALWAYS_INLINE const char *prefix_of(const void *handle)
{
    const struct domain *domain = handle;
    if (pt_likely(!handle))
        return 0;
    return (domain >= domains && domain < domains + DOMAINS) || domain == &other_domains ? domain->name : 0;
}

/* A registered string's handle is its id. */
PT_ALWAYS_INLINE pt_u32 name_of(const void *domain, const struct nvtx_attributes *attributes)
{
    if (!attributes || attributes->size < sizeof *attributes)
        return 0;
    switch (attributes->message_type) {
    case NVTX_MESSAGE_ASCII:
        return pt_intern_name(prefix_of(domain), attributes->message.ascii);
    case NVTX_MESSAGE_UNICODE:
        return pt_intern_wide_name(prefix_of(domain), attributes->message.unicode);
    case NVTX_MESSAGE_REGISTERED:
        return (pt_u32)(pt_u64)attributes->message.registered;
    default:
        return 0;
    }
}

/* ---- the functions; `name` is evaluated only when it is recorded ---- */

#define PUSH(name)                                                                                                     \
    do {                                                                                                               \
        if (pt_likely(pt_switches.user))                                                                               \
            pt_annotate_begin(name);                                                                                   \
        return NVTX_NO_PUSH_POP_TRACKING;                                                                              \
    } while (0)

#define START(name)                                                                                                    \
    do {                                                                                                               \
        if (pt_unlikely(!pt_switches.user))                                                                            \
            return 0;                                                                                                  \
        const pt_u64 id = pt_annotation_new_id();                                                                      \
        pt_annotate_open(name, id);                                                                                    \
        return id;                                                                                                     \
    } while (0)

#define MARK(name)                                                                                                     \
    do {                                                                                                               \
        if (pt_likely(pt_switches.user))                                                                               \
            pt_annotate_mark(name);                                                                                    \
    } while (0)

static int push_a(const char *text)
{
    PUSH(pt_intern_name(0, text));
}
static int push_w(const wchar_t *text)
{
    PUSH(pt_intern_wide_name(0, text));
}
static int push_ex(const struct nvtx_attributes *attributes)
{
    PUSH(name_of(0, attributes));
}
static int domain_push_ex(const void *domain, const struct nvtx_attributes *attributes)
{
    PUSH(name_of(domain, attributes));
}
static int pop(void)
{
    if (pt_likely(pt_switches.user))
        pt_annotate_end();
    return NVTX_NO_PUSH_POP_TRACKING;
}
static int domain_pop(const void *domain)
{
    (void)domain;
    return pop();
}

static pt_u64 start_a(const char *text)
{
    START(pt_intern_name(0, text));
}
static pt_u64 start_w(const wchar_t *text)
{
    START(pt_intern_wide_name(0, text));
}
static pt_u64 start_ex(const struct nvtx_attributes *attributes)
{
    START(name_of(0, attributes));
}
static pt_u64 domain_start_ex(const void *domain, const struct nvtx_attributes *attributes)
{
    START(name_of(domain, attributes));
}
static void end(pt_u64 id)
{
    if (pt_likely(id && pt_switches.user))
        pt_annotate_close(id);
}
static void domain_end(const void *domain, pt_u64 id)
{
    (void)domain;
    end(id);
}

static void mark_a(const char *text)
{
    MARK(pt_intern_name(0, text));
}
static void mark_w(const wchar_t *text)
{
    MARK(pt_intern_wide_name(0, text));
}
static void mark_ex(const struct nvtx_attributes *attributes)
{
    MARK(name_of(0, attributes));
}
static void domain_mark_ex(const void *domain, const struct nvtx_attributes *attributes)
{
    MARK(name_of(domain, attributes));
}

static const void *register_a(const void *domain, const char *text)
{
    return (const void *)(pt_u64)pt_intern_name(prefix_of(domain), text);
}
static const void *register_w(const void *domain, const wchar_t *text)
{
    return (const void *)(pt_u64)pt_intern_wide_name(prefix_of(domain), text);
}
static void *create_a(const char *name)
{
    return name ? new_domain(name) : 0;
}
static void *create_w(const wchar_t *wide)
{
    char name[sizeof domains[0].name];
    pt_u32 n = 0;
    if (!wide)
        return 0;
    for (; n < sizeof name - 1 && wide[n]; n++)
        name[n] = wide[n] < 0x80 ? (char)wide[n] : '?';
    name[n] = 0;
    return new_domain(name);
}

/* ---- connecting ---- */

struct connection {
    int module;
    unsigned id; /* NvtxCallbackIdCore, NvtxCallbackIdCore2 */
    nvtx_function *function;
};
#define CORE(id, function)                                                                                             \
    {                                                                                                                  \
        NVTX_MODULE_CORE, id, (nvtx_function *)(void *)function                                                        \
    }
#define CORE2(id, function)                                                                                            \
    {                                                                                                                  \
        NVTX_MODULE_CORE2, id, (nvtx_function *)(void *)function                                                       \
    }
static const struct connection connections[] = {
    CORE(1, mark_ex),
    CORE(2, mark_a),
    CORE(3, mark_w),
    CORE(4, start_ex),
    CORE(5, start_a),
    CORE(6, start_w),
    CORE(7, end),
    CORE(8, push_ex),
    CORE(9, push_a),
    CORE(10, push_w),
    CORE(11, pop),
    CORE2(1, domain_mark_ex),
    CORE2(2, domain_start_ex),
    CORE2(3, domain_end),
    CORE2(4, domain_push_ex),
    CORE2(5, domain_pop),
    CORE2(10, register_a),
    CORE2(11, register_w),
    CORE2(12, create_a),
    CORE2(13, create_w),
};

static void connect(const struct nvtx_callbacks *callbacks, int module)
{
    nvtx_function ***table = 0;
    unsigned size = 0;
    if (!callbacks->get_module_functions(module, &table, &size) || !table)
        return; /* older than this module */
    for (pt_u32 i = 0; i < sizeof connections / sizeof *connections; i++)
        if (connections[i].module == module && connections[i].id < size && table[connections[i].id])
            *table[connections[i].id] = connections[i].function;
}

PT_EXPORT int InitializeInjectionNvtx2(nvtx_get_export_table *get_export_table);
/* Returns 0 where nothing would be recorded: NVTX then makes all its functions no-ops. */
PT_EXPORT int InitializeInjectionNvtx2(nvtx_get_export_table *get_export_table)
{
    if (!get_export_table || !pt_annotation_wanted(pt_options.nvtx))
        return 0;
    const struct nvtx_callbacks *callbacks = get_export_table(NVTX_TABLE_CALLBACKS);
    if (!callbacks || callbacks->struct_size < sizeof *callbacks || !callbacks->get_module_functions)
        return 0;
    connect(callbacks, NVTX_MODULE_CORE);
    connect(callbacks, NVTX_MODULE_CORE2);
    return 1;
}
