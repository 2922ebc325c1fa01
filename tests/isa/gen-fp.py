#!/usr/bin/env python3
"""Writes the cases of SSE floating point, fp_*.txt, into the folder given. The expected column stays empty: isa-cases
--update takes it from the CPU."""
import struct
import sys

# --------------------------------------------------------------------------------------------------------------- values

QNAN1, QNAN2, SNAN = "qnan1", "qnan2", "snan"
MAX, MIN, TINY = "max", "min", "tiny"  # the largest, the smallest normal, a denormal number
SPECIAL = {
    "f32": {QNAN1: 0x7FC12345, QNAN2: 0xFFC54321, SNAN: 0x7FA00001, MAX: 0x7F7FFFFF, MIN: 0x00800000, TINY: 0x00000123},
    "f64": {QNAN1: 0x7FF8123456789ABC, QNAN2: 0xFFF8CBA987654321, SNAN: 0x7FF4000000000001, MAX: 0x7FEFFFFFFFFFFFFF,
            MIN: 0x0010000000000000, TINY: 0x0000000000000123},
}
INF = float("inf")
SIZE = {"f32": 4, "f64": 8}


def bits(kind, value):
    if value in SPECIAL[kind]:
        return SPECIAL[kind][value]
    if kind == "f32":
        return struct.unpack("<I", struct.pack("<f", value))[0]
    return struct.unpack("<Q", struct.pack("<d", value))[0]


def lanes(kind, values):
    """A list of a case: by value where that says it exactly, by bits otherwise."""
    if any(v in SPECIAL[kind] for v in values if isinstance(v, str)):
        return f"u{8 * SIZE[kind]}:" + ",".join(hex(bits(kind, v)) for v in values)
    return f"{kind}:" + ",".join(repr(float(v)) for v in values)


def ints(size_bits, values):
    return f"u{size_bits}:" + ",".join(hex(v & (1 << size_bits) - 1) for v in values)


SHAPES = {"ps": ("f32", 4), "pd": ("f64", 2), "ss": ("f32", 1), "sd": ("f64", 1)}


def fill(shape, values):
    """All lanes of a register; above a scalar something that no operation may touch."""
    kind, n = SHAPES[shape]
    rest = [SNAN, 3.0, QNAN2][: 16 // SIZE[kind] - n]
    return lanes(kind, list(values) + rest)


def groups(items, n):
    return [[items[(i + k) % len(items)] for k in range(n)] for i in range(0, len(items), n)]


# The precision, rounding and denormal controls of mxcsr.
NEAREST, DOWN, UP, ZERO = 0x1F80, 0x3F80, 0x5F80, 0x7F80
FTZ_DAZ = 0x9FC0

PAIRS = [
    (1.5, 2.25), (0.1, 0.3), (MAX, MAX), (MIN, 0.3), (QNAN1, QNAN2), (1.0, SNAN), (SNAN, QNAN1), (INF, -INF),
    (0.0, -0.0), (-0.0, 0.0), (-3.0, 0.0), (TINY, 2.0), (QNAN2, 7.0), (7.0, QNAN2), (0.0, INF), (-2.5, 2.5),
]
# No two neighbours with NaNs on one side: CPUs differ in which of two NaNs a sum across lanes returns.
LONE_NANS = [
    (1.5, 2.25), (0.1, 0.3), (MAX, MAX), (MIN, 0.3), (QNAN1, 1.0), (7.0, SNAN), (INF, -INF), (0.0, -0.0),
    (TINY, 2.0), (SNAN, -2.5), (INF, 0.0), (-INF, 1.0),
]

out = []


def note(text):
    out.append(("" if not out else "\n") + f"# {text}")


def case(insn, *state, expected=""):
    out.append(f"{insn} | {' '.join(s for s in state if s)} | {expected}".rstrip())


def two(insn, shape, pairs, mxcsr=None, tail=""):
    """A two-operand instruction on registers."""
    a, b = fill(shape, [p[0] for p in pairs]), fill(shape, [p[1] for p in pairs])
    case(f"{insn} xmm1, xmm2{tail}", f"xmm1={a} xmm2={b}", f"mxcsr={mxcsr:#x}" if mxcsr else "")


def two_memory(insn, shape, pairs, tail=""):
    kind, n = SHAPES[shape]
    size = {16: "xmmword", 8: "qword", 4: "dword"}[SIZE[kind] * n]
    offset = 0x120 if size == "xmmword" else 0x123
    a, b = fill(shape, [p[0] for p in pairs]), lanes(kind, [p[1] for p in pairs])
    case(f"{insn} xmm9, {size} ptr [rsi+4*rcx]{tail}", f"xmm9={a} rsi=@{offset - 0x20:#x} rcx=8 [{offset:#x}]={b}")


def every_pair(insn, pairs=PAIRS, tail="", shapes=SHAPES):
    for shape in shapes:
        n = SHAPES[shape][1]
        for group in groups(pairs, n):
            two(insn + shape, shape, group, tail=tail)
        two_memory(insn + shape, shape, pairs[:n], tail)


# ----------------------------------------------------------------------------------------------------------- arithmetic


def arithmetic():
    for op in ("add", "sub", "mul", "div", "min", "max"):
        note(op)
        every_pair(op)
        for mode in (DOWN, UP, ZERO):
            two(op + "ps", "ps", [(0.1, 0.3), (-0.1, -0.7), (MAX, 3.0), (2.5, -2.5)], mode)
            two(op + "sd", "sd", [(0.1, 0.3)], mode)
        two(op + "ps", "ps", [(TINY, TINY), (MIN, 0.5), (MIN, MIN), (1.0, TINY)], FTZ_DAZ)
        two(op + "sd", "sd", [(MIN, 0.25)], FTZ_DAZ)
        case(f"{op}sd xmm3, xmm3", f"xmm3={fill('sd', [1.25])}")


def roots():
    note("square roots")
    values = [4.0, 2.0, -1.0, -0.0, INF, SNAN, QNAN1, TINY, MAX, -INF]
    every_pair("sqrt", [(7.0, v) for v in values])
    two("sqrtps", "ps", [(0.0, v) for v in (2.0, 3.0, 5.0, TINY)], UP)
    two("sqrtsd", "sd", [(0.0, 2.0)], DOWN)
    note("approximations: exact only where every CPU agrees; elsewhere near enough to round to the same integer")
    edges = [0.0, -0.0, INF, -INF, QNAN1, SNAN, TINY, QNAN2]
    for op in ("rcp", "rsqrt"):
        every_pair(op, [(7.0, v) for v in edges], shapes=("ps", "ss"))
        good = lanes("f32", [0.25, 0.0625, 1.0, 0.015625])
        case(f"{op}ps xmm1, xmm2; cvtps2dq xmm1, xmm1", f"xmm2={good}")
        case(f"{op}ss xmm1, xmm2; cvtss2si eax, xmm1; movaps xmm1, xmm2", f"xmm2={good}")


def across():
    note("across lanes")
    for op in ("hadd", "hsub", "addsub"):
        every_pair(op, LONE_NANS, shapes=("ps", "pd"))
        two(op + "ps", "ps", [(0.1, 0.3), (0.7, -0.1), (1e10, 1.0), (3.0, 0.1)], UP)
        two(op + "pd", "pd", [(0.1, 0.3), (0.7, -0.1)], DOWN)
    order = [(1.0, 1e8), (1e8, 1.0), (-1e8, 1.0), (0.1, 0.3)]
    for imm in (0xFF, 0xF1, 0x71, 0x3C, 0x0F, 0xF0, 0x00, 0xA5):
        two("dpps", "ps", order, tail=f", {imm:#x}")
    for imm in (0x33, 0x31, 0x12, 0x23, 0x03, 0xFF, 0x00):
        two("dppd", "pd", [(0.1, 0.3), (1e16, 1.0)], tail=f", {imm:#x}")
    for pair in LONE_NANS[2:]:
        two("dpps", "ps", [(1.0, 2.0), pair, (0.5, 0.1), (3.0, -2.0)], tail=", 0xff")
        two("dppd", "pd", [(3.0, 0.5), pair], tail=", 0x33")
    two_memory("dpps", "ps", order, ", 0xf3")
    two_memory("dppd", "pd", order[:2], ", 0x31")
    two("dpps", "ps", order, ZERO, ", 0xff")


def rounding():
    note("rounding: all modes, with and without the inexact exception")
    values = [0.5, 1.5, -0.5, -2.5, 1e30, -0.0, SNAN, QNAN1, TINY, 2.0, -INF, 0.75]
    for imm in range(16):
        two("roundps", "ps", [(0.0, v) for v in values[imm % 3 * 4:][:4]], tail=f", {imm}")
        two("roundsd", "sd", [(0.0, values[imm % 4])], tail=f", {imm}")
        two("roundpd", "pd", [(0.0, v) for v in (2.5, -1.25)], tail=f", {imm}")
        two("roundss", "ss", [(0.0, -1.5)], tail=f", {imm}")
    for mode in (DOWN, UP, ZERO):
        for imm in (4, 12, 0, 3):
            two("roundps", "ps", [(0.0, v) for v in (0.5, -0.5, 2.5, -3.75)], mode, f", {imm}")
            two("roundsd", "sd", [(0.0, -2.5)], mode, f", {imm}")
    for shape in SHAPES:
        two_memory("round" + shape, shape, [(0.0, v) for v in (1.75, -2.5, 3.5, 9.0)][: SHAPES[shape][1]], ", 1")


# ------------------------------------------------------------------------------------------------------------- compares


def compares():
    relations = [(1.0, 2.0), (2.0, 2.0), (3.0, 2.0), (QNAN1, 2.0), (0.0, -0.0), (2.0, SNAN), (INF, INF), (TINY, 0.0)]
    note("into masks")
    for imm in range(8):
        every_pair("cmp", relations, f", {imm}")
    two("cmpps", "ps", relations[:4], tail=", 0x1f")
    two("cmpsd", "sd", relations[:1], tail=", 0xff")
    two("cmpps", "ps", [(TINY, 0.0)] * 4, FTZ_DAZ, ", 0")
    note("into flags, all of them set before")
    flags = "cf=1 pf=1 af=1 zf=1 sf=1 of=1"
    for op in ("comi", "ucomi"):
        for shape in ("ss", "sd"):
            kind = SHAPES[shape][0]
            for a, b in relations + [(SNAN, SNAN), (-INF, QNAN2)]:
                case(f"{op}{shape} xmm1, xmm2", f"xmm1={fill(shape, [a])} xmm2={fill(shape, [b])} {flags}")
            case(f"{op}{shape} xmm1, [rsi]", f"xmm1={fill(shape, [1.5])} rsi=@0x41 [0x41]={lanes(kind, [1.0])} {flags}")
            case(f"{op}{shape} xmm1, xmm2; seta al; setbe bl; setp cl; setne dl; cmovb r8, r9; sbb r10, r10",
                 f"xmm1={fill(shape, [1.5])} xmm2={fill(shape, [QNAN1])}")
            case(f"{op}{shape} xmm1, xmm2; setae al; setb bl; setnp cl; sete dl; cmova r8, r9; cmovl r10, r11",
                 f"xmm1={fill(shape, [1.5])} xmm2={fill(shape, [1.25])}")


# ---------------------------------------------------------------------------------------------------------- conversions


def from_integers():
    note("from integers")
    for shape in ("ss", "sd"):
        for v in (0, 1, -1, 0x7FFFFFFF, -0x80000000, 0x1000001):
            case(f"cvtsi2{shape} xmm1, eax", f"rax={v & 0xffffffff:#x}")
        for v in (0, -1, 0x7FFFFFFFFFFFFFFF, -1 << 63, 0x20000000000001, 0x1000001):
            case(f"cvtsi2{shape} xmm1, rax", f"rax={v & (1 << 64) - 1:#x}")
        case(f"cvtsi2{shape} xmm1, dword ptr [rsi]", f"rsi=@0x33 [0x33]={ints(32, [-77])}")
        case(f"cvtsi2{shape} xmm1, qword ptr [rsi]", f"rsi=@0x33 [0x33]={ints(64, [-(1 << 40)])}")
        for mode in (DOWN, UP, ZERO):
            case(f"cvtsi2{shape} xmm1, rax", f"rax=0x7fffffffffffffff mxcsr={mode:#x}")
    four = ints(32, [1, -1, 0x7FFFFFFF, -0x80000000])
    for insn in ("cvtdq2ps", "cvtdq2pd"):
        case(f"{insn} xmm1, xmm2", f"xmm2={four}")
        case(f"{insn} xmm1, xmm2", f"xmm2={ints(32, [0x1000001, -0x1000003, 0, 5])}")
        case(f"{insn} xmm1, xmm2", f"xmm2={ints(32, [0x1000001, -0x1000003, 0, 5])} mxcsr={UP:#x}")
        case(f"{insn} xmm1, xmm1", f"xmm1={four}")
    case("cvtdq2ps xmm1, xmmword ptr [rsi]", f"rsi=@0x40 [0x40]={four}")
    case("cvtdq2pd xmm1, qword ptr [rsi]", f"rsi=@0x41 [0x41]={ints(32, [7, -9])}")
    for insn in ("cvtpi2ps", "cvtpi2pd"):
        case(f"{insn} xmm1, mm2", f"mm2={ints(32, [0x1000001, -3])}")
        case(f"{insn} xmm1, mm2", f"mm2={ints(32, [0x7fffffff, -0x80000000])} mxcsr={DOWN:#x}")
        case(f"{insn} xmm1, qword ptr [rsi]", f"rsi=@0x41 [0x41]={ints(32, [7, -9])} ftop=3")


def to_integers():
    note("to integers")
    edges = [0.0, 0.5, 1.5, -2.5, 2147483647.0, 2147483648.0, -2147483648.0, -2147483904.0, 9.3e18, -9.3e18, 4e18, INF,
             QNAN1, SNAN, TINY]
    for shape in ("ss", "sd"):
        kind = SHAPES[shape][0]
        for insn in (f"cvt{shape}2si", f"cvtt{shape}2si"):
            for v in edges:
                case(f"{insn} eax, xmm1; {insn} rbx, xmm1", f"xmm1={fill(shape, [v])}")
            size = {"f32": "dword", "f64": "qword"}[kind]
            case(f"{insn} eax, {size} ptr [rsi]", f"rsi=@0x33 [0x33]={lanes(kind, [-7.75])}")
            case(f"{insn} rax, {size} ptr [rsi]", f"rsi=@0x33 [0x33]={lanes(kind, [-7.75])}")
            for mode in (DOWN, UP, ZERO):
                case(f"{insn} eax, xmm1", f"xmm1={fill(shape, [-2.5])} mxcsr={mode:#x}")
    four = [[0.5, -1.5, 3e9, -3e9], [QNAN1, 1.0, -1.0, 2.0], [SNAN, 2.5, TINY, INF],
            [7.0, -8.0, 2147483520.0, -2147483648.0]]
    for insn in ("cvtps2dq", "cvttps2dq"):
        for v in four:
            case(f"{insn} xmm1, xmm2", f"xmm2={lanes('f32', v)}")
        case(f"{insn} xmm1, xmm2", f"xmm2={lanes('f32', four[0])} mxcsr={UP:#x}")
        case(f"{insn} xmm1, xmmword ptr [rsi]", f"rsi=@0x40 [0x40]={lanes('f32', four[3])}")
    for insn in ("cvtpd2dq", "cvttpd2dq"):
        for v in four:
            case(f"{insn} xmm1, xmm2", f"xmm2={lanes('f64', v[:2])}")
            case(f"{insn} xmm1, xmm2", f"xmm2={lanes('f64', v[2:])}")
        case(f"{insn} xmm1, xmm2", f"xmm2={lanes('f64', [2.5, -2.5])} mxcsr={DOWN:#x}")
        case(f"{insn} xmm1, xmmword ptr [rsi]", f"rsi=@0x40 [0x40]={lanes('f64', [2147483647.0, -1.75])}")
    for insn, kind in (("cvtps2pi", "f32"), ("cvttps2pi", "f32"), ("cvtpd2pi", "f64"), ("cvttpd2pi", "f64")):
        for v in four:
            upper = [SNAN, 0.1] if kind == "f32" else []
            case(f"{insn} mm3, xmm2", f"xmm2={lanes(kind, v[:2] + upper)} ftop=5")
        case(f"{insn} mm3, xmm2", f"xmm2={lanes(kind, [2.5, -2.5])} mxcsr={UP:#x}")
        size, at = ("qword", 0x41) if kind == "f32" else ("xmmword", 0x40)
        case(f"{insn} mm3, {size} ptr [rsi]", f"rsi=@{at:#x} [{at:#x}]={lanes(kind, [1e3, -1.75])}")


def between():
    note("between single and double")
    singles = [1.5, SNAN, QNAN2, TINY, INF, -0.0, MAX]
    for v in singles:
        case("cvtss2sd xmm1, xmm2", f"xmm2={fill('ss', [v])}")
    for a, b in ((0.5, SNAN), (QNAN1, TINY), (MAX, -INF)):
        case("cvtps2pd xmm1, xmm2", f"xmm2={lanes('f32', [a, b, SNAN, TINY])}")
    doubles = [1.5, 0.1, 1e300, 1e-40, 1e-300, SNAN, QNAN2, TINY, -INF, -0.0]
    for v in doubles:
        case("cvtsd2ss xmm1, xmm2", f"xmm2={fill('sd', [v])}")
    for pair in groups(doubles, 2):
        case("cvtpd2ps xmm1, xmm2", f"xmm2={lanes('f64', pair)}")
    for mode in (DOWN, UP, ZERO, FTZ_DAZ):
        case("cvtsd2ss xmm1, xmm2", f"xmm2={fill('sd', [0.1])} mxcsr={mode:#x}")
        case("cvtpd2ps xmm1, xmm2", f"xmm2={lanes('f64', [-0.1, 1e-40])} mxcsr={mode:#x}")
    case("cvtss2sd xmm1, dword ptr [rsi]", f"rsi=@0x41 [0x41]={lanes('f32', [3.25])}")
    case("cvtps2pd xmm1, qword ptr [rsi]", f"rsi=@0x41 [0x41]={lanes('f32', [3.25, -4.5])}")
    case("cvtsd2ss xmm1, qword ptr [rsi]", f"rsi=@0x41 [0x41]={lanes('f64', [3.1])}")
    case("cvtpd2ps xmm1, xmmword ptr [rsi]", f"rsi=@0x40 [0x40]={lanes('f64', [3.1, -7.0])}")
    case("cvtps2pd xmm1, xmm1", f"xmm1={lanes('f32', [3.25, -4.5, 1.0, 2.0])}")
    case("cvtpd2ps xmm1, xmm1", f"xmm1={lanes('f64', [3.25, -4.5])}")


def control():
    note("the control register")
    case("stmxcsr [rsi]", "rsi=@0x41 mxcsr=0x5fbf")
    case("ldmxcsr [rsi]", f"rsi=@0x41 [0x41]={ints(32, [0x7F80])}")
    case("ldmxcsr [rsi]", f"rsi=@0x41 [0x41]={ints(32, [0xFFFF])}")
    case("ldmxcsr [rsi]", f"rsi=@0x41 [0x41]={ints(32, [0x11F80])}")
    case("divsd xmm1, xmm2; stmxcsr [rsi]", f"rsi=@0x41 xmm1={fill('sd', [1.0])} xmm2={fill('sd', [0.0])}")
    for mode in (DOWN, UP, ZERO):
        case("addsd xmm1, xmm2; ldmxcsr [rsi]; addsd xmm3, xmm2; sqrtsd xmm4, xmm2; stmxcsr [rdi]",
             f"rsi=@0x41 rdi=@0x51 [0x41]={ints(32, [mode])}",
             f"xmm1={fill('sd', [0.1])} xmm2={fill('sd', [0.7])} xmm3={fill('sd', [0.1])}")


# --------------------------------------------------------------------------------------------------- moves and shuffles

A4, B4 = lanes("f32", [1.0, -2.0, SNAN, 4.0]), lanes("f32", [5.0, 6.0, -7.0, QNAN1])
A2, B2 = lanes("f64", [1.0, SNAN]), lanes("f64", [-3.0, QNAN2])


def moves():
    note("whole registers")
    for insn in ("movaps", "movapd", "movups", "movupd"):
        at = 0x40 if "a" in insn[3:4] else 0x47
        case(f"{insn} xmm1, xmm2", f"xmm2={B4}")
        case(f"{insn} xmm11, xmmword ptr [rsi]", f"rsi=@{at:#x} [{at:#x}]={A4}")
        case(f"{insn} xmmword ptr [rsi], xmm12", f"rsi=@{at:#x} xmm12={A4}")
    for insn in ("movntps", "movntpd"):
        case(f"{insn} xmmword ptr [rsi], xmm12", f"rsi=@0x40 xmm12={A4}")
    case("movaps xmm1, xmmword ptr [rsi]", "rsi=@0x48", expected="trap=misaligned")
    case("movapd xmmword ptr [rsi], xmm1", "rsi=@0x48", expected="trap=misaligned")
    case("addss xmm1, xmm2; movaps xmm3, xmm1; mulss xmm3, xmm1; movaps xmm1, xmm3", f"xmm1={B4} xmm2={A4}")
    note("scalars")
    for insn, a, b in (("movss", A4, B4), ("movsd", A2, B2)):
        case(f"{insn} xmm1, xmm2", f"xmm1={a} xmm2={b}")
        case(f"{insn} xmm1, [rsi]", f"rsi=@0x43 [0x43]={b}")
        case(f"{insn} [rsi], xmm1", f"rsi=@0x43 xmm1={a}")
        case(f"{insn} xmm1, xmm1", f"xmm1={a}")
    note("halves")
    for insn in ("movlps", "movlpd", "movhps", "movhpd"):
        case(f"{insn} xmm1, qword ptr [rsi]", f"rsi=@0x43 xmm1={A2} [0x43]={B2}")
        case(f"{insn} qword ptr [rsi], xmm1", f"rsi=@0x43 xmm1={A2}")
    for insn in ("movhlps", "movlhps"):
        case(f"{insn} xmm1, xmm2", f"xmm1={A4} xmm2={B4}")
        case(f"{insn} xmm1, xmm1", f"xmm1={A4}")
    note("duplication")
    for insn in ("movddup", "movshdup", "movsldup"):
        size = "qword" if insn == "movddup" else "xmmword"
        case(f"{insn} xmm1, xmm2", f"xmm2={B4}")
        case(f"{insn} xmm1, {size} ptr [rsi]", f"rsi=@0x50 [0x50]={B4}")
    note("signs")
    for insn in ("movmskps", "movmskpd"):
        for v in (A4, B4, A2, B2, ints(32, [-1] * 4), ints(32, [0] * 4)):
            case(f"{insn} eax, xmm2", f"xmm2={v}")
        case(f"{insn} r9d, xmm12", f"xmm12={B2}")


def loops():
    note("scalars and whole registers that meet at the head of a loop")
    state = f"rcx=5 xmm1={A2} xmm2={B2} xmm3={lanes('f64', [0.5, -7.0])} xmm4={A4}"
    for body in (
        "addsd xmm1, xmm2",
        "addss xmm1, xmm2; addsd xmm1, xmm3",
        "addsd xmm1, xmm3; addss xmm1, xmm4",
        "addsd xmm1, xmm3; shufpd xmm1, xmm1, 1",
        "movapd xmm5, xmm1; movapd xmm1, xmm2; addsd xmm2, xmm5",
        "movsd xmm5, [rsi]; mulsd xmm5, xmm3; movapd xmm1, xmm5",
        "movsd xmm1, xmm3; unpcklpd xmm3, xmm2; addsd xmm3, xmm1",
        "mulsd xmm1, xmm3; movhlps xmm2, xmm1; movss xmm4, xmm2",
        "cvtss2sd xmm3, xmm4; cvtsd2ss xmm4, xmm3; mulss xmm4, xmm4",
    ):
        case(f"{body}; dec ecx; jnz start", f"{state} rsi=@0x43 [0x43]={B2}")
    for ecx in (0, 1):
        case("jrcxz 1f; addsd xmm1, xmm2; movapd xmm3, xmm1; 1: mulsd xmm1, xmm3", f"{state} rcx={ecx}")
        case("jrcxz 1f; addss xmm4, xmm3; jmp 2f; 1: xorps xmm4, xmm4; 2: mulsd xmm4, xmm2", f"{state} rcx={ecx}")


def logic():
    note("logic")
    for op in ("and", "andn", "or", "xor"):
        for shape, a, b in (("ps", A4, B4), ("pd", A2, B2)):
            case(f"{op}{shape} xmm1, xmm2", f"xmm1={a} xmm2={b}")
            case(f"{op}{shape} xmm1, xmmword ptr [rsi]", f"xmm1={a} rsi=@0x50 [0x50]={b}")
            case(f"{op}{shape} xmm1, xmm1", f"xmm1={a}")


def shuffles():
    note("shuffles")
    for imm in (0x00, 0xE4, 0x1B, 0xFF, 0x4E, 0x93, 0x27):
        case(f"shufps xmm1, xmm2, {imm:#x}", f"xmm1={A4} xmm2={B4}")
    for imm in (0, 1, 2, 3, 0xFE):
        case(f"shufpd xmm1, xmm2, {imm:#x}", f"xmm1={A2} xmm2={B2}")
    case("shufps xmm1, xmm1, 0x39", f"xmm1={A4}")
    case("shufps xmm1, xmmword ptr [rsi], 0x72", f"xmm1={A4} rsi=@0x50 [0x50]={B4}")
    case("shufpd xmm1, xmmword ptr [rsi], 1", f"xmm1={A2} rsi=@0x50 [0x50]={B2}")
    for insn in ("unpcklps", "unpckhps", "unpcklpd", "unpckhpd"):
        case(f"{insn} xmm1, xmm2", f"xmm1={A4} xmm2={B4}")
        case(f"{insn} xmm1, xmm1", f"xmm1={A4}")
        case(f"{insn} xmm1, xmmword ptr [rsi]", f"xmm1={A4} rsi=@0x50 [0x50]={B4}")
    note("blends")
    for imm in (0, 1, 6, 9, 0xF, 0xF3):
        case(f"blendps xmm1, xmm2, {imm:#x}", f"xmm1={A4} xmm2={B4}")
    for imm in (0, 1, 2, 3, 0xFD):
        case(f"blendpd xmm1, xmm2, {imm:#x}", f"xmm1={A2} xmm2={B2}")
    case("blendps xmm1, xmmword ptr [rsi], 5", f"xmm1={A4} rsi=@0x50 [0x50]={B4}")
    case("blendpd xmm1, xmmword ptr [rsi], 2", f"xmm1={A2} rsi=@0x50 [0x50]={B2}")
    masks = (ints(32, [0x80000000, 0x7FFFFFFF, -1, 0]), ints(64, [0x7FFFFFFFFFFFFFFF, 1 << 63]), ints(64, [-1, 0xFFFFFFFF]))
    for mask in masks:
        for insn in ("blendvps", "blendvpd"):
            case(f"{insn} xmm1, xmm2, xmm0", f"xmm1={A4} xmm2={B4} xmm0={mask}")
    case("blendvps xmm1, xmmword ptr [rsi], xmm0", f"xmm1={A4} xmm0={B4} rsi=@0x50 [0x50]={B4}")
    case("blendvpd xmm0, xmm2, xmm0", f"xmm0={B2} xmm2={A2}")
    note("single lanes")
    for imm in (0x00, 0x40, 0x90, 0xE0, 0x30, 0x1D, 0xFA, 0x2F, 0x55):
        case(f"insertps xmm1, xmm2, {imm:#x}", f"xmm1={A4} xmm2={B4}")
    for imm in (0x00, 0xD0, 0x28, 0x34):
        case(f"insertps xmm1, dword ptr [rsi], {imm:#x}", f"xmm1={A4} rsi=@0x53 [0x53]={lanes('f32', [9.5])}")
    for imm in (0, 1, 2, 3, 0xFE):
        case(f"extractps eax, xmm2, {imm:#x}", f"xmm2={B4}")
    case("extractps dword ptr [rsi], xmm2, 3", f"xmm2={B4} rsi=@0x53")


# ---------------------------------------------------------------------------------------------------------------- files

FILES = {
    "fp_arith.txt": (arithmetic, roots, across, rounding),
    "fp_compare.txt": (compares,),
    "fp_convert.txt": (from_integers, to_integers, between, control),
    "fp_move.txt": (moves, loops),
    "fp_shuffle.txt": (logic, shuffles),
}


def main():
    if len(sys.argv) != 2:
        sys.exit("Usage: gen-fp.py FOLDER")
    for name, writers in FILES.items():
        out.clear()
        for write in writers:
            write()
        with open(f"{sys.argv[1]}/{name}", "w") as f:
            f.write("\n".join(out) + "\n")


main()
