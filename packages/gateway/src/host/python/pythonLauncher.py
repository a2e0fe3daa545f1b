"""
Runs rewrites in Python for a gateway (process.ts is the other end).

This process keeps the compiled scripts and never sees a statement. Each call is a fork of it, which reads its
statement itself, gives up everything but computing and writing one answer, runs the script and ends. So a call can
find nothing of another one, and what it breaks goes with it.

Descriptors: 0 the statements, 1 the answers, 3 what the gateway and this process tell each other.
"""
import sys

sys.path[:] = [folder for folder in sys.path if folder]
import ctypes, gc, json, os, resource, signal, struct
import base64, bisect, collections, collections.abc, copy, dataclasses, decimal, enum, functools, heapq
import itertools, math, operator, re, string, textwrap, typing, unicodedata

ALLOWED = frozenset(
    "base64 bisect collections collections.abc copy dataclasses decimal enum functools heapq itertools json math "
    "operator re string textwrap typing unicodedata".split()
)
CONTROL = 3
NOBODY = 65534
NONCE = 16
DETAIL_MAX = 500
GOOD, WRONG, OPEN = 0, 1, 3

# (architecture of the audit, calls that are allowed, write, mmap, mprotect)
MACHINES = {
    # brk, rt_sigreturn, munmap, mremap, madvise, exit, futex, clock_gettime, exit_group
    "x86_64": (0xC000003E, (12, 15, 11, 25, 28, 60, 202, 228, 231), 1, 9, 10),
    "aarch64": (0xC00000B7, (214, 139, 215, 216, 233, 93, 98, 113, 94), 64, 222, 226),
}
PR_SET_PDEATHSIG, PR_SET_SECCOMP, PR_SET_NO_NEW_PRIVS, SECCOMP_MODE_FILTER = 1, 22, 38, 2


class Filter(ctypes.Structure):
    _fields_ = [("length", ctypes.c_ushort), ("code", ctypes.c_char_p)]


def instructions(machine):
    """Classic BPF over struct seccomp_data: what is not listed fails with EPERM, another architecture ends the process."""
    audit, plain, write, mmap, mprotect = MACHINES[machine]
    load, equal, any_bit, give = 0x20, 0x15, 0x45, 0x06
    allow, deny, kill = 0x7FFF0000, 0x00050001, 0x80000000
    words = [(load, 0, 0, 4), (equal, 1, 0, audit), (give, 0, 0, kill), (load, 0, 0, 0)]
    for call in plain:
        words += [(equal, 0, 1, call), (give, 0, 0, allow)]
    # Bytes go to the answers alone. Lower halves of arguments: the kernel looks at no more of these two.
    words += [(equal, 0, 4, write), (load, 0, 0, 16), (equal, 1, 0, 1), (give, 0, 0, deny), (give, 0, 0, allow)]
    # Memory that can be run is never made.
    for call in (mmap, mprotect):
        words += [(equal, 0, 4, call), (load, 0, 0, 32), (any_bit, 0, 1, 4), (give, 0, 0, deny), (give, 0, 0, allow)]
    words.append((give, 0, 0, deny))
    return words


def tell(**message):
    send(CONTROL, json.dumps(message).encode() + b"\n")


def send(to, data):
    while data:
        data = data[os.write(to, data) :]


def exactly(of, length):
    parts = []
    while length > 0:
        part = os.read(of, length)
        if not part:
            os._exit(0)
        parts.append(part)
        length -= len(part)
    return b"".join(parts)


def prepared():
    """What has to hold before anything is opened, or why it does not."""
    if sys.platform != "linux" or sys.byteorder != "little" or sys.maxsize < 2**32:
        raise OSError("needs Linux of 64 bits")
    if sys.version_info < (3, 9):
        raise OSError("needs Python 3.9 or newer")
    machine = os.uname().machine
    if machine not in MACHINES:
        raise OSError("has no filter for " + machine)
    if 0 in (os.getuid(), os.geteuid()):
        os.setgroups([])
        os.setresgid(NOBODY, NOBODY, NOBODY)
        os.setresuid(NOBODY, NOBODY, NOBODY)
    if 0 in os.getresuid() + os.getresgid():
        raise OSError("is root and can not give that up")
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0:
        raise OSError("can not give up new privileges")
    # Where somebody ends the gateway, nothing else would end what hangs here.
    libc.prctl(PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)
    for what in (resource.RLIMIT_CORE, resource.RLIMIT_FSIZE):
        resource.setrlimit(what, (0, 0))
    words = instructions(machine)
    code = b"".join(struct.pack("<HBBI", *word) for word in words)
    return libc, Filter(len(words), code)


def confine(libc, program, limits):
    """Gives up all but computing and writing an answer. What goes wrong here ends the process before a script runs."""
    with open("/proc/self/statm", "rb") as file:
        pages = int(file.read().split()[0])
    room = pages * resource.getpagesize() + limits["memoryBytes"]
    resource.setrlimit(resource.RLIMIT_AS, (room, room))
    seconds = limits["cpuMs"] // 1000 + 1
    resource.setrlimit(resource.RLIMIT_CPU, (seconds, seconds))
    resource.setrlimit(resource.RLIMIT_NOFILE, (0, 0))
    resource.setrlimit(resource.RLIMIT_NPROC, (0, 0))
    signal.signal(signal.SIGPROF, signal.SIG_DFL)
    signal.signal(signal.SIGXCPU, signal.SIG_DFL)
    signal.setitimer(signal.ITIMER_PROF, limits["cpuMs"] / 1000)
    if libc.prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, ctypes.byref(program), 0, 0) != 0:
        raise OSError("can not install a filter of system calls")
    try:
        os.dup(1)
    except PermissionError:
        return
    raise OSError("its filter of system calls holds nothing")


def importing(name, globals=None, locals=None, fromlist=(), level=0):
    if level == 0 and name in ALLOWED:
        return __import__(name, globals, locals, fromlist, level)
    raise ImportError(f"{name} can not be imported here")


def words_of(error):
    try:
        return f"{type(error).__name__}: {error}"[:DETAIL_MAX]
    except BaseException:
        return type(error).__name__


def failure_of(error, file):
    if isinstance(error, MemoryError):
        return {"code": "memory", "detail": "it takes more memory than it may"}
    line = error.lineno if isinstance(error, SyntaxError) and error.filename == file else None
    trace = error.__traceback__
    while trace is not None:
        if trace.tb_frame.f_code.co_filename == file:
            line = trace.tb_lineno
        trace = trace.tb_next
    return {"code": "threw", "detail": words_of(error), **({} if line is None else {"line": line})}


def compiled(source, file):
    return compile(source, file, "exec", dont_inherit=True, optimize=0)


def run(script, args, limits):
    """The script's answer to one call; without arguments only whether it can be called."""
    file = script["file"]
    hidden = ("open", "input", "breakpoint", "help", "exit", "quit")
    known = {name: value for name, value in vars(sys.modules["builtins"]).items() if name not in hidden}
    known["__import__"] = importing
    space = {"__builtins__": known, "__name__": "rewrite", "__file__": file}
    try:
        exec(script["code"] or compiled(script["source"], file), space)
        rewrite = space.get("rewrite")
        if not callable(rewrite):
            raise TypeError("the file defines no function rewrite")
        if args is None:
            return {"answer": None}
        answer = rewrite(*args)
    except BaseException as error:
        return failure_of(error, file)
    if answer is not None and type(answer) is not str:
        return {"code": "answer", "detail": "it has to answer the new statement or None"}
    if answer is not None and len(answer) > limits["answerLength"]:
        return {"code": "answer", "detail": "its answer is too long"}
    return {"answer": answer}


def called(script, held, limits):
    """In a process of its own: reads the call, gives everything up, answers, ends."""
    libc, program, parent = held
    nonce, asked = b"", b""
    try:
        os.close(CONTROL)
        libc.prctl(PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)
        if os.getppid() != parent:
            os._exit(OPEN)
        nonce = exactly(0, NONCE)
        asked = exactly(0, struct.unpack("<I", exactly(0, 4))[0])
        os.close(0)
        confine(libc, program, limits)
    except BaseException as error:
        refusal = json.dumps({"refused": words_of(error)}).encode()
        send(1, nonce + struct.pack("<I", len(refusal)) + refusal)
        os._exit(OPEN)
    del libc, program, held
    # The filter is what holds; this only takes away what a script has no use for.
    for name in ("ctypes", "_ctypes", "Filter", "MACHINES"):
        sys.modules.pop(name, None)
        globals().pop(name, None)
    try:
        found = run(script, json.loads(asked), limits)
    except BaseException as error:
        found = failure_of(error, "")
    answer = json.dumps(found).encode()
    send(1, nonce + struct.pack("<I", len(answer)) + answer)
    os._exit(GOOD if "answer" in found else WRONG)


def ended(script, held, limits):
    """One call, from its beginning to its end."""
    child = os.fork()
    if child == 0:
        called(script, held, limits)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])


def serve():
    os.set_blocking(CONTROL, True)
    try:
        libc, program = prepared()
    except BaseException as error:
        return tell(refused=words_of(error))
    held = (libc, program, os.getpid())
    limits = json.loads(exactly(CONTROL, struct.unpack("<I", exactly(CONTROL, 4))[0]))
    scripts = []
    gc.collect()
    gc.freeze()
    tell(ready=sys.version.split()[0])
    while True:
        wish, number = struct.unpack("<cI", exactly(CONTROL, 5))
        if wish == b"o":
            script = {"code": None, **json.loads(exactly(CONTROL, number))}
            status = ended(script, held, limits)
            if status == GOOD:
                # It was compiled and run within the limits, in the process that just ended.
                script["code"] = compiled(script["source"], script["file"])
                scripts.append(script)
            tell(ended=status)
        else:
            tell(ended=ended(scripts[number], held, limits))


serve()
