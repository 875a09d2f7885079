# SPDX-License-Identifier: MIT
"""T17: CPython's threads get the stacks they ask for; a stack that nobody can grant is refused each time and leaks nothing; a
thread becomes another program. C threads: guard, detached state, and the result of pthread_exit."""
import ctypes
import errno
import os
import sys
import threading

from libc import address_of, join, libc, new_attributes, start

if len(sys.argv) > 1:
    print("second image")
    sys.exit(5)


def attribute(of, name):
    value = ctypes.c_size_t()
    assert getattr(libc, f"pthread_attr_get{name}")(of, ctypes.byref(value)) == 0
    return value.value


def report_self():
    mine = ctypes.create_string_buffer(64)
    assert libc.pthread_getattr_np(libc.pthread_self(), mine) == 0
    print("stack", attribute(mine, "stacksize"), "guard", attribute(mine, "guardsize"), "detached", attribute(mine, "detachstate"))
    libc.pthread_attr_destroy(mine)


for stack_bytes in (1 << 17, 1 << 20, 3 << 20):
    threading.stack_size(stack_bytes)
    thread = threading.Thread(target=report_self)
    thread.start()
    thread.join()

refused = 0
threading.stack_size(1 << 46)
for _ in range(200):
    try:
        threading.Thread(target=report_self).start()
    except RuntimeError:
        refused += 1
assert len(threading.enumerate()) == 1
assert start(address_of("malloc"), 4242, new_attributes(1 << 46)) == errno.EAGAIN
threading.stack_size(0)

for guard_bytes in (4096, 65536):
    assert join(start(address_of("pthread_exit"), 44, new_attributes(1 << 20, guard_bytes))) == 44
detached = new_attributes()
assert libc.pthread_attr_setdetachstate(detached, 1) == 0
for _ in range(100):
    start(address_of("free"), libc.malloc(4242), detached)
print("refused", refused, flush=True)
thread = threading.Thread(target=os.execv, args=(sys.executable, [sys.executable, "-B", __file__, "second"]))
thread.start()
thread.join()
