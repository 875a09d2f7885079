# SPDX-License-Identifier: MIT
"""T18: threads one after another, then two hundred that end at once; the memory of the process stays where it was."""
import sys
import threading

later, together = int(sys.argv[1]), 200


def resident_mib():
    with open("/proc/self/statm", encoding="ascii") as statm:
        return int(statm.read().split()[1]) // 256


def work():
    bytearray(4241)


def one_after_another(number):
    for _ in range(number):
        thread = threading.Thread(target=work)
        thread.start()
        thread.join()


one_after_another(500)
before = resident_mib()
one_after_another(later - 500)
if resident_mib() - before >= 8:
    print("BROKEN: resident memory grew by", resident_mib() - before, "MiB")
meet = threading.Barrier(together)
threads = [threading.Thread(target=lambda: (bytearray(4241), meet.wait())) for _ in range(together)]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
print("threads", later + together)
