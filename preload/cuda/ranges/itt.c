/* SPDX-License-Identifier: MIT
 *
 * itt.c - Intel ITT: __itt_api_init and the functions that stand behind tasks, frames, markers and counters.
 *
 * Every library that carries the static part of ITT (libtorch, oneDNN, OpenCV, TBB) dlopens INTEL_LIBITTNOTIFY64 at its
 * first call and asks us, on any thread and with its own lock held, to fill its table. A function that we do not
 * provide stays a no-op, as without a tool. Never: synchronisation, memory and module events.
 */
#include "proftrace/events.h"
#include "core/names/intern_name.h"
#include "core/text.h"
#include "annotation.h"
#include "itt_handles.h"

/* ---- the table that the static part shows us: ittnotify_config.h ---- */

struct itt_api {
    const char *name;
    void **function;
    void *init_function;
    void *null_function;
    unsigned group;
};
struct itt_global {
    unsigned char magic[8];
    unsigned long version_major, version_minor, version_build;
    volatile long api_initialized, mutex_initialized, atomic_counter;
    char mutex[40]; /* pthread_mutex_t */
    void *library, *error_handler;
    const char **library_path;
    struct itt_api *apis;
};
/* ---- names ---- */

static pt_u32 name_of(const struct pt_itt_domain *domain, const struct pt_itt_string *string)
{
    return string ? pt_intern_name(domain ? domain->name : 0, string->text) : 0;
}

/* The id of a task that may overlap others: the program chooses it, and it differs only from those of other open
 * tasks. */
static pt_u64 id_of(const struct pt_itt_domain *domain, struct pt_itt_id id)
{
    const pt_u64 mixed = (id.d1 * 0x9e3779b97f4a7c15ull ^ id.d2) * 0xd6e8feb86659fd93ull ^ id.d3 ^ (pt_u64)domain;
    return mixed | 1ull << 63; /* never equal to one of pt_annotation_new_id */
}

/* ---- tasks ---- */

static void task_begin(const struct pt_itt_domain *domain, struct pt_itt_id id, struct pt_itt_id parent,
                       const struct pt_itt_string *name)
{
    (void)id, (void)parent;
    if (pt_likely(pt_switches.user))
        pt_annotate_begin(name_of(domain, name));
}

static void task_begin_fn(const struct pt_itt_domain *domain, struct pt_itt_id id, struct pt_itt_id parent,
                          void *function)
{
    (void)domain, (void)id, (void)parent, (void)function;
    if (pt_likely(pt_switches.user))
        pt_annotate_begin(0);
}

static void task_begin_ex(const struct pt_itt_domain *domain, void *clock, unsigned long long time, struct pt_itt_id id,
                          struct pt_itt_id parent, const struct pt_itt_string *name)
{
    (void)clock, (void)time;
    task_begin(domain, id, parent, name);
}

static void task_end(const struct pt_itt_domain *domain)
{
    (void)domain;
    if (pt_likely(pt_switches.user))
        pt_annotate_end();
}

static void task_end_ex(const struct pt_itt_domain *domain, void *clock, unsigned long long time)
{
    (void)clock, (void)time;
    task_end(domain);
}

static void task_begin_overlapped(const struct pt_itt_domain *domain, struct pt_itt_id id, struct pt_itt_id parent,
                                  const struct pt_itt_string *name)
{
    (void)parent;
    if (pt_likely(pt_switches.user))
        pt_annotate_open(name_of(domain, name), id_of(domain, id));
}

static void task_end_overlapped(const struct pt_itt_domain *domain, struct pt_itt_id id)
{
    if (pt_likely(pt_switches.user))
        pt_annotate_close(id_of(domain, id));
}

/* ---- frames: one after the other in each domain, begun and ended by any thread ---- */

static void frame_begin(struct pt_itt_domain *domain, const struct pt_itt_id *id)
{
    (void)id;
    if (!domain || !pt_switches.user)
        return;
    const pt_u64 range = pt_annotation_new_id();
    void *before = __atomic_exchange_n(&domain->extra2, (void *)range, __ATOMIC_ACQ_REL);
    if (before)
        pt_annotate_close((pt_u64)before);
    pt_annotate_open(pt_intern_name(domain->name, "frame"), range);
}

static void frame_end(struct pt_itt_domain *domain, const struct pt_itt_id *id)
{
    (void)id;
    void *range = domain && pt_switches.user ? __atomic_exchange_n(&domain->extra2, (void *)0, __ATOMIC_ACQ_REL) : 0;
    if (range)
        pt_annotate_close((pt_u64)range);
}

/* ---- marks and counters ---- */

static void marker(const struct pt_itt_domain *domain, struct pt_itt_id id, const struct pt_itt_string *name, int scope)
{
    (void)id, (void)scope;
    if (pt_likely(pt_switches.user))
        pt_annotate_mark(name_of(domain, name));
}

static void count(const struct pt_itt_counter *counter, double value)
{
    pt_u64 bits;
    __builtin_memcpy(&bits, &value, sizeof bits);
    pt_point(PT_EV_counter, 0, 0, pt_words(pt_intern_name(counter->domain, counter->name), 0), bits);
}

static void counter_add(struct pt_itt_counter *counter, pt_u64 delta)
{
    if (counter && pt_switches.user)
        count(counter, (double)__atomic_add_fetch(&counter->index, (long)delta, __ATOMIC_RELAXED));
}

static void counter_inc(struct pt_itt_counter *counter)
{
    counter_add(counter, 1);
}

static void counter_dec(struct pt_itt_counter *counter)
{
    counter_add(counter, ~0ull);
}

static void counter_set(struct pt_itt_counter *counter, const void *value)
{
    if (!counter || !value || !pt_switches.user)
        return;
    switch (counter->type) {
    case PT_ITT_S64:
        return count(counter, (double)*(const pt_i64 *)value);
    case PT_ITT_U32:
        return count(counter, *(const pt_u32 *)value);
    case PT_ITT_S32:
        return count(counter, *(const pt_i32 *)value);
    case PT_ITT_U16:
        return count(counter, *(const pt_u16 *)value);
    case PT_ITT_S16:
        return count(counter, *(const short *)value);
    case PT_ITT_FLOAT:
        return count(counter, *(const float *)value);
    case PT_ITT_DOUBLE:
        return count(counter, *(const double *)value);
    default:
        return count(counter, (double)*(const pt_u64 *)value);
    }
}

/* ---- connecting ---- */

static const struct {
    const char *name;
    void *function;
} functions[] = {
    {"__itt_domain_create", (void *)pt_itt_domain_create},
    {"__itt_string_handle_create", (void *)pt_itt_string_handle_create},
    {"__itt_counter_create", (void *)pt_itt_counter_create},
    {"__itt_counter_create_typed", (void *)pt_itt_counter_create_typed},
    {"__itt_task_begin", (void *)task_begin},
    {"__itt_task_begin_fn", (void *)task_begin_fn},
    {"__itt_task_begin_ex", (void *)task_begin_ex},
    {"__itt_task_end", (void *)task_end},
    {"__itt_task_end_ex", (void *)task_end_ex},
    {"__itt_task_begin_overlapped", (void *)task_begin_overlapped},
    {"__itt_task_end_overlapped", (void *)task_end_overlapped},
    {"__itt_frame_begin_v3", (void *)frame_begin},
    {"__itt_frame_end_v3", (void *)frame_end},
    {"__itt_marker", (void *)marker},
    {"__itt_counter_inc", (void *)counter_inc},
    {"__itt_counter_dec", (void *)counter_dec},
    {"__itt_counter_inc_delta", (void *)counter_add},
    {"__itt_counter_set_value", (void *)counter_set},
};

static void *function_for(const struct itt_api *api, unsigned groups)
{
    for (pt_u32 i = 0; (api->group & groups) && i < sizeof functions / sizeof *functions; i++)
        if (pt_text_equal(api->name, functions[i].name))
            return functions[i].function;
    return api->null_function;
}

static int is_known(const struct itt_global *global)
{
    static const unsigned char magic[8] = {0xed, 0xab, 0xab, 0xec, 0x0d, 0xee, 0xda, 0x30};
    return global && __builtin_memcmp(global->magic, magic, sizeof magic) == 0 && global->version_major == 3 &&
           global->apis;
}

PT_EXPORT void __itt_api_init(struct itt_global *global, unsigned groups);
/* The table of another version of ITT is left unchanged: its functions then see no tool and do nothing. */
PT_EXPORT void __itt_api_init(struct itt_global *global, unsigned groups)
{
    if (!is_known(global))
        return;
    const int wanted = pt_annotation_wanted(pt_options.itt);
    for (struct itt_api *api = global->apis; api->name; api++)
        if (api->function)
            *api->function = wanted ? function_for(api, groups) : api->null_function;
}
