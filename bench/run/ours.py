"""ours.py: the programs of bench/run/programs: what bench-run and bench-tools share."""
import os

# group: their names in the build directory, behind "bench-"
OURS = {
    "recursion": ["fib", "ackermann", "trees"],
    "float": ["nbody", "spectral", "mandelbrot", "fft", "matrix"],
    "sse": ["filter", "saxpy"],
    "avx": ["fft-v3", "matrix-v3", "pixels-v3"],
    "integer": ["fannkuch", "sha", "lz", "core", "sorting", "hashmap", "othello"],
    "indirect": ["vm", "forth", "regex", "objects"],
    "strings": ["words"],
}
NOT_PORTABLE = ("sse", "avx")
# of other machines: what has vectors, by compilers, by the C library and by hand
GUEST_OURS = {"aarch64": {"simd": ["blur", "dots", "search", "digest"]}}


def guest_build(guest, program):
    """A guest's build of a program of ours is beside the host's. Its last digits may be others: it may fuse operations."""
    return os.path.join(os.path.dirname(program), guest + "-" + os.path.basename(program))


def has_avx2():
    with open("/proc/cpuinfo") as f:
        return " avx2 " in f.read()


def programs(guest, folder):
    """Name → the host's build, of those that run as this guest."""
    left_out = () if guest == "x86_64" and has_avx2() else ("avx",) if guest == "x86_64" else NOT_PORTABLE
    return {name: os.path.join(folder, "bench-" + name) for group, names in OURS.items() if group not in left_out for name in names}
