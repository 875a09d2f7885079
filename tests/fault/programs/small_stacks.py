# SPDX-License-Identifier: MIT
"""T10: threads with the least stack that POSIX allows, each one C function long, and Python's own least, 32 KiB."""
import ctypes
import threading

from libc import PTHREAD_STACK_MIN, address_of, join, libc, new_attributes, start

attributes = new_attributes(PTHREAD_STACK_MIN)
for _ in range(300):
    block = join(start(address_of("malloc"), 4242, attributes))
    assert block
    join(start(address_of("free"), block, attributes))
    directory = join(start(address_of("opendir"), ctypes.cast(ctypes.c_char_p(b"/dev"), ctypes.c_void_p), attributes))
    assert directory
    assert not join(start(address_of("closedir"), directory, attributes))

threading.stack_size(32768)


def write_and_allocate():
    with open("/dev/null", "wb", buffering=0) as null:
        for _ in range(20):
            null.write(bytearray(4241))


for _ in range(100):
    thread = threading.Thread(target=write_and_allocate)
    thread.start()
    thread.join()
print("small threads done")
