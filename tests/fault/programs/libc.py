# SPDX-License-Identifier: MIT
"""The C library under CPython: the calls that the stories of this folder make of it, typed."""
import ctypes
from ctypes import c_char_p, c_int, c_long, c_size_t, c_void_p

libc = ctypes.CDLL(None, use_errno=True)
SIGNATURES = {
    c_void_p: {"malloc": [c_size_t], "calloc": [c_size_t, c_size_t], "realloc": [c_void_p, c_size_t], "memalign": [c_size_t, c_size_t],
               "reallocarray": [c_void_p, c_size_t, c_size_t], "aligned_alloc": [c_size_t, c_size_t]},
    None: {"free": [c_void_p]},
    c_size_t: {"malloc_usable_size": [c_void_p]},
    c_int: {"posix_memalign": [c_void_p, c_size_t, c_size_t], "open": [c_char_p, c_int], "close": [c_int], "dup2": [c_int, c_int],
            "unlink": [c_char_p], "access": [c_char_p, c_int], "mkdir": [c_char_p, c_int], "rename": [c_char_p, c_char_p],
            "sigaltstack": [c_void_p, c_void_p], "__cxa_atexit": [c_void_p, c_void_p, c_void_p],
            "pthread_create": [c_void_p, c_void_p, c_void_p, c_void_p], "pthread_join": [c_long, c_void_p], "pthread_cancel": [c_long],
            "pthread_attr_init": [c_void_p], "pthread_attr_setstacksize": [c_void_p, c_size_t],
            "pthread_attr_setguardsize": [c_void_p, c_size_t], "pthread_attr_setdetachstate": [c_void_p, c_int],
            "pthread_attr_getstacksize": [c_void_p, c_void_p], "pthread_attr_getguardsize": [c_void_p, c_void_p],
            "pthread_attr_getdetachstate": [c_void_p, c_void_p], "pthread_attr_destroy": [c_void_p],
            "pthread_getattr_np": [c_long, c_void_p], "pthread_key_create": [c_void_p, c_void_p], "pthread_setspecific": [c_int, c_void_p]},
    c_long: {"read": [c_int, c_void_p, c_size_t], "write": [c_int, c_void_p, c_size_t], "lseek": [c_int, c_long, c_int],
             "pthread_self": []},
}
for result, functions in SIGNATURES.items():
    for name, arguments in functions.items():
        function = getattr(libc, name)
        function.restype, function.argtypes = result, arguments

PTHREAD_STACK_MIN = 16384
PTHREAD_CANCELED = 2 ** 64 - 1


def address_of(name):
    """Where a C function begins: a start routine, a handler or a destructor with no Python in it."""
    return ctypes.cast(getattr(libc, name), c_void_p)


def new_attributes(stack_bytes=None, guard_bytes=None):
    attributes = ctypes.create_string_buffer(64)
    assert libc.pthread_attr_init(attributes) == 0
    if stack_bytes:
        assert libc.pthread_attr_setstacksize(attributes, stack_bytes) == 0
    if guard_bytes:
        assert libc.pthread_attr_setguardsize(attributes, guard_bytes) == 0
    return attributes


def start(function, argument, attributes=None):
    """A thread whose whole life is one C function of one argument. Gives the thread, or the error."""
    thread = c_long()
    error = libc.pthread_create(ctypes.byref(thread), attributes, function, argument)
    return error or thread


def join(thread):
    result = c_void_p()
    assert libc.pthread_join(thread, ctypes.byref(result)) == 0
    return result.value
