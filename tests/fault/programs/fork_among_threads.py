# SPDX-License-Identifier: MIT
"""T14: eight busy threads, children all the time; each child allocates, opens, writes, and must end by itself."""
import os
import signal
import sys
import threading

children = int(sys.argv[1])
stop = False


def busy():
    while not stop:
        with open("/dev/null", "wb", buffering=0) as null:
            null.write(bytearray(3333))


def child():
    signal.alarm(20)
    with open("/dev/zero", "rb", buffering=0) as zero:
        for _ in range(100):
            assert len(zero.read(4209)) == 4209  # 33 bytes of header: 4242
    os.pwrite(os.open("/dev/null", os.O_WRONLY), b"here", 0)
    os.listdir("/dev")
    os._exit(3)


threads = [threading.Thread(target=busy) for _ in range(8)]
for thread in threads:
    thread.start()
good = 0
for _ in range(children):
    pid = os.fork()
    if not pid:
        child()
    good += os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == 3
stop = True
for thread in threads:
    thread.join()
print("good children", good)
