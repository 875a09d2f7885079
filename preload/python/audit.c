/* SPDX-License-Identifier: MIT
 *
 * audit.c - adds an audit hook, remembers where the interpreter keeps it, and takes it out.
 *
 * Entered by the constructor, before or while Python starts, and in audit events, with the GIL held. CPython offers no
 * way to remove a hook; but it must go: its entry was allocated before the interpreter chose its allocators, and at the
 * end a debug allocator (-X dev, PYTHONMALLOC=debug) that gets to free it ends the process. So the entry is unlinked
 * from the list, and its 24 bytes stay. Where the list is not found, nothing is added.
 */
#include "audit.h"

#include "core/sandbox.h"
#include "core/sys.h"
#include "api.h"

#define MOST_HOOKS 16u

struct entry { /* _Py_AuditHookEntry */
    struct entry *next;
    pt_python_audit *hook;
    void *cookie;
};

static char cookie; /* its address is in no other entry */
static struct entry **slot;
static struct entry **list; /* where it was found first */

static int is_readable(pt_u64 address)
{
    return address >= 4096 && address < 1ull << 47 && !(address & 7) && pt_sys_is_readable(address) &&
           pt_sys_is_readable(address + sizeof(struct entry) - 8);
}

/* The pointer to our entry in the list that begins at `head`. */
static struct entry **find_in(struct entry **head)
{
    for (pt_u32 i = 0; i < MOST_HOOKS && is_readable((pt_u64)*head); i++, head = &(*head)->next)
        if ((*head)->cookie == &cookie)
            return head;
    return 0;
}

/* Most of _PyRuntime points into itself or its library; a list lies in the heap. */
static struct entry **find_slot(void)
{
    struct entry **found = list ? find_in(list) : 0;
    if (found)
        return found;
    char *const start = pt_python_api._PyRuntime, *const end = start + pt_python_api.runtime_bytes;
    for (char *at = start; at + sizeof(void *) <= end; at += sizeof(void *)) {
        struct entry **head = (struct entry **)(void *)at;
        if (!*head || ((char *)*head >= start && (char *)*head < end))
            continue;
        found = find_in(head);
        if (found) {
            list = head;
            return found;
        }
    }
    return 0;
}

int pt_python_audit_add(pt_python_audit *hook)
{
    if (!pt_may_call() || pt_python_api.PySys_AddAuditHook(hook, &cookie) < 0)
        return -1;
    slot = find_slot();
    return 0;
}

void pt_python_audit_remove(void)
{
    if (slot && *slot && (*slot)->cookie == &cookie)
        *slot = (*slot)->next;
    slot = 0;
}
