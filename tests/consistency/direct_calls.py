# SPDX-License-Identifier: MIT
"""Which functions of libc make system calls of the traced families themselves, found in its machine code.

posix_openpt jumps into libc's internal open: it shares neither name nor address with a hooked function, and yet a program that calls
it opens a file with one frame of libc below it. So each exported function is walked as the processor would, along jumps but not into
calls (what a call makes has two frames), and every `syscall` instruction on the way is noted with the number that eax holds there."""
import re
import subprocess

UNISTD = "/usr/include/x86_64-linux-gnu/asm/unistd_64.h"
# What the hooks of the families record, by the kernel's names. Not futex, mmap, rt_sigprocmask and their like: all of libc uses them on
# its own behalf.
TRACED = set("""
    open openat openat2 creat open_by_handle_at close close_range read pread64 readv preadv preadv2 write pwrite64 writev pwritev pwritev2
    sendfile copy_file_range splice tee vmsplice lseek fsync fdatasync syncfs sync_file_range sync truncate ftruncate fallocate fadvise64
    readahead dup dup2 dup3 fcntl flock stat lstat fstat newfstatat statx access faccessat faccessat2 unlink unlinkat rmdir rename renameat
    renameat2 link linkat symlink symlinkat readlink readlinkat mkdir mkdirat mknod mknodat chmod fchmod fchmodat chown lchown fchown
    fchownat utime utimes futimesat utimensat setxattr lsetxattr fsetxattr removexattr lremovexattr fremovexattr getxattr lgetxattr
    fgetxattr listxattr llistxattr flistxattr chdir fchdir statfs fstatfs poll ppoll select pselect6 epoll_wait epoll_pwait epoll_pwait2
    nanosleep clock_nanosleep pause rt_sigsuspend rt_sigtimedwait wait4 waitid socket socketpair pipe pipe2 connect accept accept4 bind
    listen shutdown recvfrom recvmsg recvmmsg sendto sendmsg sendmmsg execve execveat
    """.split())
NO_RETURN = re.compile(r"<(__stack_chk_fail|__chk_fail|abort|__assert_fail|__fortify_fail|exit|_exit)[@>]")
MOST_STEPS = 20000


def numbers():
    with open(UNISTD, encoding="ascii") as lines:
        return {int(m[2]): m[1] for m in (re.match(r"#define __NR_(\w+) (\d+)", line) for line in lines) if m}


def instructions(path):
    """{address: [mnemonic, operands, next address]}"""
    text = subprocess.run(["objdump", "-d", "--no-show-raw-insn", path], capture_output=True, text=True, check=True).stdout
    code, before = {}, None
    for match in re.finditer(r"^ *([0-9a-f]+):\t(?:(?:bnd|notrack|lock|rep|repz) )?(\S+) *(.*)$", text, re.M):
        address = int(match[1], 16)
        if before is not None:
            code[before][2] = address
        code[address] = [match[2], match[3], None]
        before = address
    return code


def target(operands):
    match = re.match(r"([0-9a-f]+)(?: <|$)", operands)
    return int(match[1], 16) if match else None


def eax_after(mnemonic, operands, eax):
    """The constant that eax holds after an instruction; None = unknown."""
    match = re.match(r"\$0x([0-9a-f]+),%[er]ax$", operands)
    if mnemonic.startswith("mov") and match:
        return int(match[1], 16)
    if mnemonic == "xor" and operands in ("%eax,%eax", "%rax,%rax"):
        return 0
    if mnemonic.startswith("call") or mnemonic == "syscall":
        return None
    writes = re.search(r"%(eax|rax|al|ax)$", operands) and not mnemonic.startswith(("cmp", "test", "push"))
    return None if writes else eax


def calls_of(code, start, starts):
    """Numbers of the system calls that the function at `start` makes itself; `starts` are those of all functions."""
    found, seen, todo = set(), set(), [(start, None)]
    while todo and len(seen) < MOST_STEPS:
        address, eax = todo.pop()
        if (address, eax) in seen or address not in code:
            continue
        seen.add((address, eax))
        mnemonic, operands, following = code[address]
        if mnemonic == "syscall":
            found.add(eax)
        if mnemonic.startswith("j") and target(operands):
            todo.append((target(operands), eax))
        ends = mnemonic.startswith(("jmp", "ret", "hlt", "ud2")) or (mnemonic.startswith("call") and NO_RETURN.search(operands))
        if not ends and following not in starts:
            todo.append((following, eax_after(mnemonic, operands, eax)))
    return found


def direct_callers(path, functions):
    """{name: traced system calls that it makes itself}; `functions` is {name: addresses}."""
    names, code = numbers(), instructions(path)
    starts = set().union(*functions.values())
    made = {name: {names.get(number) for address in addresses for number in calls_of(code, address, starts)} & TRACED
            for name, addresses in functions.items()}
    return {name: calls for name, calls in made.items() if calls}
