"""The seal: the system calls that a cell keeps, and by that all that it gives up.

An allow-list. libseccomp puts it together once, in the worker's trusted process, since it knows
each architecture's numbers; the cell's child loads it on itself, and nothing takes it off again.
"""

import errno
import os
from types import ModuleType
from typing import Any

FILES = """
open openat creat close close_range read write readv writev pread64 pwrite64 preadv pwritev lseek
stat lstat fstat newfstatat statx access faccessat faccessat2 readlink readlinkat getdents
getdents64 getcwd chdir fchdir rename renameat renameat2 mkdir mkdirat rmdir unlink unlinkat link
linkat symlink symlinkat chmod fchmod fchmodat fchmodat2 chown fchown lchown fchownat umask
truncate ftruncate fallocate fsync fdatasync utime utimes futimesat utimensat dup dup2 dup3
sendfile copy_file_range poll ppoll select pselect6
"""
MEMORY = "brk mmap munmap mremap mprotect msync"
SIGNALS = """
rt_sigaction rt_sigprocmask rt_sigreturn rt_sigpending rt_sigsuspend rt_sigtimedwait sigaltstack
alarm setitimer getitimer pause restart_syscall
"""
ITSELF = """
exit exit_group getpid getppid gettid getuid geteuid getgid getegid getresuid getresgid getgroups
getpgrp getrlimit setrlimit times uname wait4 waitid futex set_robust_list set_tid_address rseq
sched_yield getrandom nanosleep gettimeofday time
"""
# A counter of the kernel's, the number of a pipe, is then open to later cells.
EVENT_LOOP = "pipe pipe2 epoll_create epoll_create1 epoll_ctl epoll_wait epoll_pwait recvfrom"

PROCESSES = "fork vfork clone"
ATTRIBUTES = """
setxattr lsetxattr fsetxattr getxattr lgetxattr fgetxattr listxattr llistxattr flistxattr
removexattr lremovexattr fremovexattr
"""
# Python and its libraries know how to do without what they are told isn't there.
OTHERWISE = errno.ENOSYS
REFUSED = {errno.EAGAIN: PROCESSES, errno.ENOTSUP: ATTRIBUTES}

INT = 0xFFFFFFFF  # what the kernel reads of an argument that is an int
NEGATIVE = 0x80000000
CLOCKS = "clock_gettime clock_getres clock_nanosleep"  # a negative one is another process's
# No lock, lease, notice or owner of signals; of the terminal's, only what tells that it is none;
# no advice that shows which pages of a file are in memory.
DUPLICATE, FLAGS, DUPLICATE_CLOSING = 0, (1, 2, 3, 4), 1030
TERMINAL, WAITING, BLOCKING, CLOSING = (0x5401, 0x5413), 0x541B, 0x5421, (0x5450, 0x5451)
GIVE_BACK, HUGE_PAGES = (4, 8), (14, 15)
# Of a call, the position of an argument and the values that it may have.
CHOICES = {
    "fcntl": (1, (DUPLICATE, *FLAGS, DUPLICATE_CLOSING)),
    "ioctl": (1, (*TERMINAL, WAITING, BLOCKING, *CLOSING)),
    "madvise": (2, (*GIVE_BACK, *HUGE_PAGES)),
}
ON_ITSELF = "kill tkill tgkill"
ON_ITSELF_OR_NOBODY = "prlimit64 sched_getaffinity"
UNIX, STREAM, KIND_OF_SOCKET, ADDRESS = 1, 1, 0xF, 4


class Seal:
    """A filter of system calls that is ready to be put on."""

    def __init__(self, library: ModuleType, *, event_loop: bool) -> None:
        self._library = library
        self._filter: Any = library.SyscallFilter(library.ERRNO(OTHERWISE))
        self._allow(FILES + MEMORY + SIGNALS + ITSELF)
        for code, names in REFUSED.items():
            self._rule(names, library.ERRNO(code))
        self._allow(CLOCKS, self._bits(0, NEGATIVE, 0))
        for name, (place, values) in CHOICES.items():
            for value in values:
                self._allow(name, self._bits(place, INT, value))
        if event_loop:
            kind = self._bits(1, KIND_OF_SOCKET, STREAM)
            self._allow(EVENT_LOOP)
            self._allow("socketpair", self._bits(0, INT, UNIX), kind)
            self._allow("sendto", library.Arg(ADDRESS, library.EQ, 0))

    def put_on(self) -> None:
        """Give up all other system calls, for good; raises ``OSError`` where that fails."""
        self._allow(ON_ITSELF, self._bits(0, INT, os.getpid()))
        for process in (0, os.getpid()):
            self._allow(ON_ITSELF_OR_NOBODY, self._bits(0, INT, process))
        self._filter.load()

    def holds(self) -> bool:
        """Whether a process that has put it on can start no other; tried out."""
        trial = os.fork()
        if trial == 0:
            try:
                self.put_on()
                os.fork()
            except BlockingIOError:
                os._exit(0)
            finally:
                os._exit(1)
        return os.waitpid(trial, 0)[1] == 0

    def _bits(self, place: int, mask: int, value: int) -> object:
        return self._library.Arg(place, self._library.MASKED_EQ, mask, value)

    def _allow(self, names: str, *conditions: object) -> None:
        self._rule(names, self._library.ALLOW, *conditions)

    def _rule(self, names: str, action: int, *conditions: object) -> None:
        for name in names.split():
            number = self._library.resolve_syscall(self._library.Arch.NATIVE, name)
            if number >= 0:  # else this architecture has no such call, or the library no name
                self._filter.add_rule_exactly(action, number, *conditions)


def make_seal(*, event_loop: bool) -> Seal | None:
    """Return the seal, or ``None`` where this machine has no libseccomp or it doesn't hold.

    Only for the architectures whose lists were looked through: elsewhere a cell could miss a
    call that it needs, or keep one under another name.

    Parameters
    ----------
    event_loop
        Whether cells keep what an event loop is made of: pipes, pairs of sockets and epoll.
    """
    try:
        import pyseccomp

        known = {pyseccomp.Arch.X86_64, pyseccomp.Arch.AARCH64}
        if pyseccomp.system_arch() not in known:
            return None
        seal = Seal(pyseccomp, event_loop=event_loop)
    except (ImportError, OSError, RuntimeError):
        return None
    return seal if seal.holds() else None
