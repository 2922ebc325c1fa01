#!/usr/bin/env python3
"""Writes the cases of the x87 unit and of saved states, x87_*.txt, into the folder given. The expected column has only
what is left open: isa-cases --update takes the rest from the CPU."""
import sys

# --------------------------------------------------------------------------------------------------------------- values

ONE, TWO, HALF = "3fff8000000000000000", "40008000000000000000", "3ffe8000000000000000"
ZERO, NZERO, INF, NINF = "0" * 20, "8" + "0" * 19, "7fff8000000000000000", "ffff8000000000000000"
QNAN, QNAN2, SNAN = "7fffc123456789abcdef", "ffffd000000000000001", "7fffa000000000000001"
MAX, MIN = "7ffeffffffffffffffff", "00018000000000000000"
TINY, PSEUDO_DENORMAL = "00000000000000000123", "00008000000000000001"
UNNORMAL, PSEUDO_INF, PSEUDO_NAN = "3fff4000000000000000", "7fff0000000000000000", "7fff4000000000000000"
THIRD, NTHIRD, ODD = "3ffdaaaaaaaaaaaaaaab", "bffdaaaaaaaaaaaaaaab", "4002d5e3f1a2b4c6d897"
N2_5, P3_5, P2_63, HUGE = "c000a000000000000000", "4000e000000000000000", "403e8000000000000000", "4060c000000000000001"
SPECIAL = [ZERO, NZERO, INF, NINF, QNAN, QNAN2, SNAN, MAX, MIN, TINY, PSEUDO_DENORMAL, UNNORMAL, PSEUDO_INF, PSEUDO_NAN]
ORDINARY = [ONE, THIRD, NTHIRD, ODD, N2_5, P3_5]

F32 = {"one": "0000803f", "third": "abaaaa3e", "max": "ffff7f7f", "tiny": "23010000", "inf": "0000807f",
       "qnan": "4523c17f", "snan": "0100a0ff", "-0": "00000080"}
F64 = {"one": "000000000000f03f", "third": "555555555555d5bf", "max": "ffffffffffffef7f", "tiny": "2301000000000000",
       "inf": "000000000000f0ff", "qnan": "bc9a78563412f87f", "snan": "010000000000f47f", "-0": "0000000000000080"}
I16 = ["0000", "0100", "ffff", "0080", "ff7f"]
I32 = ["00000000", "07000000", "00000080", "ffffff7f"]
I64 = ["0000000000000000", "f9ffffffffffffff", "0000000000000080", "ffffffffffffff7f", "0100000000002000"]

# Control words: rounding, precision, one unmasked exception each.
NEAREST, DOWN, UP, CHOP = 0x37F, 0x77F, 0xB7F, 0xF7F
SINGLE, DOUBLE, DOUBLE_UP = 0x07F, 0x27F, 0xA7F
ROUNDINGS = [NEAREST, DOWN, UP, CHOP]
CONTROLS = ROUNDINGS + [SINGLE, DOUBLE, 0xC7F, DOUBLE_UP]
UNMASK_INVALID, UNMASK_DENORMAL, UNMASK_ZERO = 0x37E, 0x37D, 0x37B

MEMORY = "rsi=@0x43"
ALL_CODES = "fsw=0x4700"
FULL = "ftop=3 " + " ".join(f"st{i}={v}" for i, v in enumerate(
    [THIRD, ONE, ODD, N2_5, P3_5, ZERO, MIN, TWO]))

out = []


def note(text):
    out.append(f"# {text}")


def case(insns, initial="", opened=""):
    out.append(f"{insns} | {initial} | {opened}".rstrip())


def stack(*values, top=6, **controls):
    words = [f"{k}={v:#x}" for k, v in controls.items()]
    return " ".join(words + [f"ftop={top}"] + [f"st{i}={v}" for i, v in enumerate(values)])


def at(data):
    return f"{MEMORY} [0x43]={data}"


# ----------------------------------------------------------------------------------------------------- loads and stores


def loads():
    note("loads")
    for kind, values in (("dword", F32), ("qword", F64)):
        for v in values.values():
            case(f"fld {kind} ptr [rsi]", at(v))
        case(f"fld {kind} ptr [rsi]", f"{at(values['third'])} {stack(ONE, fcw=SINGLE)} {ALL_CODES}")
    for v in SPECIAL + ORDINARY:
        case("fld tbyte ptr [rsi]", at(bytes.fromhex(v)[::-1].hex()))
    for kind, values in (("word", I16), ("dword", I32), ("qword", I64)):
        for v in values:
            case(f"fild {kind} ptr [rsi]", at(v))
    case("fild qword ptr [rsi]", f"{at(I64[3])} fcw={SINGLE:#x}")
    for v in ("563412000000000000" + s for s in ("00", "80")):
        case("fbld tbyte ptr [rsi]", at(v))
    case("fbld tbyte ptr [rsi]", at("99999999999999999900"))
    for i in range(8):
        case(f"fld st({i})", "ftop=2 " + " ".join(f"st{k}={v}" for k, v in enumerate((ORDINARY + [SNAN])[:7])))
    note("constants, by rounding")
    for name in ("fld1", "fldz", "fldpi", "fldl2e", "fldl2t", "fldlg2", "fldln2"):
        for cw in CONTROLS:
            case(name, f"fcw={cw:#x}")
    note("stack overflow")
    for insn in ("fld dword ptr [rsi]", "fld qword ptr [rsi]", "fld tbyte ptr [rsi]", "fild word ptr [rsi]",
                 "fild qword ptr [rsi]", "fbld tbyte ptr [rsi]", "fld1", "fldpi", "fld st(1)"):
        case(insn, f"{at('00' * 10)} {FULL}")
        case(insn, f"{at('00' * 10)} fcw={UNMASK_INVALID:#x} {FULL}")
    note("unmasked exceptions of loads")
    case("fld dword ptr [rsi]", f"{at(F32['snan'])} fcw={UNMASK_INVALID:#x}")
    case("fld qword ptr [rsi]", f"{at(F64['tiny'])} fcw={UNMASK_DENORMAL:#x}")
    case("fld qword ptr [rsi]", f"{at(F64['tiny'])} fcw={UNMASK_INVALID:#x}")


def stores():
    note("stores of floats")
    for insn in ("fst dword ptr [rsi]", "fstp dword ptr [rsi]", "fst qword ptr [rsi]", "fstp qword ptr [rsi]",
                 "fstp tbyte ptr [rsi]"):
        for v in SPECIAL + ORDINARY:
            case(insn, f"{MEMORY} {stack(v)}")
    for insn in ("fst dword ptr [rsi]", "fstp qword ptr [rsi]"):
        for cw in CONTROLS:
            for v in (THIRD, NTHIRD, ODD, MAX):
                case(insn, f"{MEMORY} {stack(v, fcw=cw)}")
        case(insn, f"{MEMORY} {stack('3f7dffffffffffffffff')}")
        case(insn, f"{MEMORY} {stack('3c00800000000000ffff')}")
        case(insn, f"{MEMORY} {stack('407effffff7fffffffff')}")
    note("stores of integers")
    for insn in ("fist word ptr [rsi]", "fist dword ptr [rsi]", "fistp word ptr [rsi]", "fistp dword ptr [rsi]",
                 "fistp qword ptr [rsi]", "fisttp word ptr [rsi]", "fisttp dword ptr [rsi]", "fisttp qword ptr [rsi]"):
        for v in [ZERO, NZERO, N2_5, P3_5, ODD, INF, QNAN, SNAN, TINY, UNNORMAL, P2_63, "c01d8000000000000000",
                  "c03e8000000000000000", "400dfffeffffffffffff", "401dffffffffffffffff"]:
            case(insn, f"{MEMORY} {stack(v)}")
        for cw in CONTROLS[1:]:
            case(insn, f"{MEMORY} {stack(N2_5, fcw=cw)} {ALL_CODES}")
    note("decimal stores")
    for v in [ZERO, NZERO, N2_5, P3_5, ODD, "c0378ac7230489e80000", HUGE, INF, QNAN, SNAN, TINY,
              "403ade0b6b3a763fffff"]:
        case("fbstp tbyte ptr [rsi]", f"{MEMORY} {stack(v)}")
    for cw in CONTROLS[1:]:
        case("fbstp tbyte ptr [rsi]", f"{MEMORY} {stack(N2_5, fcw=cw)}")
    note("stores to registers")
    for i in range(8):
        case(f"fst st({i})", stack(SNAN, TWO, top=5))
        case(f"fstp st({i})", stack(UNNORMAL, TWO, top=5))
    case("fstp st(0)", "")
    case("fst st(3)", stack("empty", TWO))
    case("fstp st(1)", stack("empty", TWO, fcw=UNMASK_INVALID))
    note("stack underflow, and a page that is not there")
    for insn in ("fst dword ptr [rsi]", "fstp qword ptr [rsi]", "fstp tbyte ptr [rsi]", "fistp word ptr [rsi]",
                 "fist dword ptr [rsi]", "fistp qword ptr [rsi]", "fisttp dword ptr [rsi]", "fbstp tbyte ptr [rsi]"):
        case(insn, f"{MEMORY} ftop=2")
        case(insn, f"rsi=0x10 {stack(ONE)}")


def moves():
    note("the register stack")
    for i in range(8):
        case(f"fxch st({i})", f"{ALL_CODES} {FULL}")
    case("fxch st(1)", stack(ONE))
    case("fxch st(1)", "ftop=4")
    case("fxch st(2)", stack(ONE, fcw=UNMASK_INVALID))
    for insn in ("fincstp", "fdecstp", "fnop", "fwait", "ffree st(0)", "ffree st(1)", "ffree st(7)"):
        case(insn, f"{ALL_CODES} {stack(ONE, TWO, top=0)}")
        case(insn, stack(ONE, TWO, top=7))
    case(".byte 0xdf, 0xc0", stack(ONE, TWO))
    case(".byte 0xdf, 0xc1", stack(ONE, TWO))
    for second in ("0xe0", "0xe1", "0xe4"):  # feni, fdisi and fsetpm of the coprocessors
        case(f".byte 0xdb, {second}", f"{ALL_CODES} {stack(ONE)}")
    case("fnop", "fcw=0x37e fsw=0x8081")
    case("fwait", "fcw=0x37e fsw=0x8081")
    case("fadd st(0), st(0)", f"fcw=0x37e fsw=0x8081 {stack(ONE)}")
    case("fsin", f"fcw=0x37e fsw=0x8081 {stack(ONE)}")
    case("emms", f"{ALL_CODES} {stack(ONE, TWO, top=3)}")
    case("emms", "mm3=1122334455667788")
    note("conditional moves")
    for name, flags in (("b", ["cf=1"]), ("e", ["zf=1"]), ("be", ["cf=1", "zf=1", "cf=1 zf=1"]), ("u", ["pf=1"])):
        for sense in ("", "n"):
            for f in [""] + flags:
                case(f"fcmov{sense}{name} st(0), st(3)", f"{stack(ONE, TWO, ZERO, SNAN, top=2)} {f}")
    case("fcmovb st(0), st(1)", stack(ONE))
    case("fcmovb st(0), st(1)", "ftop=3")
    case("fcmovnb st(0), st(1)", stack(ONE, fcw=UNMASK_INVALID))


# ----------------------------------------------------------------------------------------------------------- arithmetic


PAIRS = [(ONE, TWO), (THIRD, ODD), (MAX, MAX), (MIN, THIRD), (MIN, HUGE), (ZERO, NZERO), (ONE, ZERO), (ZERO, ZERO),
         (INF, NINF), (INF, INF), (INF, ZERO), (QNAN, QNAN2), (QNAN, SNAN), (SNAN, ONE), (QNAN2, TWO), (TINY, ONE),
         (TINY, MIN), (PSEUDO_DENORMAL, ONE), (UNNORMAL, ONE), (ONE, PSEUDO_INF), (PSEUDO_NAN, QNAN),
         (NTHIRD, THIRD), (HUGE, ODD)]
OPERATIONS = ("add", "sub", "subr", "mul", "div", "divr")


def arithmetic():
    for op in OPERATIONS:
        note(op)
        for a, b in PAIRS:
            case(f"f{op} st(0), st(1)", stack(a, b))
        for a, b in PAIRS[1:5] + PAIRS[11:14]:
            case(f"f{op} st(2), st(0)", stack(b, ONE, a, top=4))
            case(f"f{op}p st(1), st(0)", stack(a, b))
        for cw in CONTROLS[1:]:
            for a, b in ((THIRD, ODD), (MIN, NTHIRD), (MAX, THIRD)):
                case(f"f{op} st(0), st(1)", stack(a, b, fcw=cw))
        case(f"f{op} st(0), st(0)", stack(THIRD, top=0))
        case(f"f{op}p st(0), st(0)", stack(THIRD, TWO))
        case(f"f{op}p st(7), st(0)", FULL)
        case(f"f{op} st(0), st(1)", f"{stack(ONE, TWO)} {ALL_CODES}")
        for kind, values in (("dword", F32), ("qword", F64)):
            for v in values.values():
                case(f"f{op} {kind} ptr [rsi]", f"{at(v)} {stack(THIRD)}")
            case(f"f{op} {kind} ptr [rsi]", f"{at(values['snan'])} {stack(QNAN)}")
            case(f"f{op} {kind} ptr [rsi]", f"{at(values['qnan'])} {stack(QNAN2)}")
        for kind, values in (("word", I16), ("dword", I32)):
            for v in values:
                case(f"fi{op} {kind} ptr [rsi]", f"{at(v)} {stack(ODD)}")
        note(f"{op}: empty registers, unmasked exceptions")
        for s in (stack(ONE), "ftop=3", stack("empty", ONE), stack("empty", ONE, fcw=UNMASK_INVALID)):
            case(f"f{op} st(0), st(1)", s)
            case(f"f{op} st(1), st(0)", s)
            case(f"f{op}p st(1), st(0)", s)
            case(f"f{op} dword ptr [rsi]", f"{at(F32['one'])} {s}")
            case(f"fi{op} word ptr [rsi]", f"{at(I16[1])} {s}")
        case(f"f{op} st(0), st(1)", stack(ZERO, ONE, fcw=UNMASK_ZERO))
        case(f"f{op}p st(1), st(0)", stack(ONE, ZERO, fcw=UNMASK_ZERO))
        case(f"f{op}p st(1), st(0)", stack(SNAN, ONE, fcw=UNMASK_INVALID))
        case(f"f{op} st(0), st(1)", stack(TINY, ONE, fcw=UNMASK_DENORMAL))
        case(f"f{op} st(0), st(1)", stack(THIRD, ODD, fcw=0x35F))


def unary():
    for name in ("fsqrt", "frndint", "fabs", "fchs"):
        note(name)
        for v in SPECIAL + ORDINARY + [TWO, P2_63, HUGE, HALF]:
            case(name, stack(v))
        for cw in CONTROLS[1:]:
            for v in (P3_5, N2_5, TWO):
                case(name, stack(v, fcw=cw))
        case(name, f"ftop=3 {ALL_CODES}")
        case(name, f"ftop=3 fcw={UNMASK_INVALID:#x}")
        case(name, f"{stack(ONE)} {ALL_CODES}")
        case(name, stack(SNAN, fcw=UNMASK_INVALID))


# ------------------------------------------------------------------------------------------------------------- compares


COMPARED = [(ONE, TWO), (TWO, ONE), (ONE, ONE), (ZERO, NZERO), (INF, INF), (NINF, MAX), (QNAN, ONE), (ONE, SNAN),
            (TINY, ZERO), (PSEUDO_DENORMAL, MIN), (UNNORMAL, ONE), (NTHIRD, THIRD)]


def compares():
    for name in ("fcom", "fcomp", "fucom", "fucomp"):
        note(name)
        for a, b in COMPARED:
            case(f"{name} st(1)", f"{stack(a, b)} {ALL_CODES}")
        case(f"{name} st(0)", stack(ONE))
        case(f"{name} st(3)", stack(ONE))
        # The SDM leaves the condition codes alone, AMD's CPUs set them.
        case(f"{name} st(3)", stack(ONE, fcw=UNMASK_INVALID), "c0=? c2=? c3=?")
        case(f"{name} st(1)", stack(SNAN, ONE, fcw=UNMASK_INVALID), "c0=? c2=? c3=?")
    for name in ("fcompp", "fucompp"):
        for a, b in COMPARED:
            case(name, stack(a, b))
        case(name, stack(ONE))
    note("with memory")
    for name in ("fcom", "fcomp"):
        for kind, values in (("dword", F32), ("qword", F64)):
            for v in values.values():
                case(f"{name} {kind} ptr [rsi]", f"{at(v)} {stack(THIRD)}")
            case(f"{name} {kind} ptr [rsi]", f"{at(values['one'])} ftop=1")
    for name in ("ficom", "ficomp"):
        for kind, values in (("word", I16), ("dword", I32)):
            for v in values:
                case(f"{name} {kind} ptr [rsi]", f"{at(v)} {stack(ONE)}")
            case(f"{name} {kind} ptr [rsi]", f"{at(values[0])} ftop=1")
    note("into the flags")
    for name in ("fcomi", "fcompi", "fucomi", "fucompi"):
        for a, b in COMPARED:
            case(f"{name} st(0), st(1)", f"{stack(a, b)} of=1 sf=1 af=1")
        case(f"{name} st(0), st(0)", stack(ONE))
        case(f"{name} st(0), st(5)", stack(ONE, TWO))
        case(f"{name} st(0), st(1)", f"{stack(ONE, TWO)} cf=1 zf=1 pf=1 df=1")
    note("tests")
    for name in ("ftst", "fxam"):
        for v in SPECIAL + ORDINARY:
            case(name, f"{stack(v)} {ALL_CODES}")
        case(name, "ftop=2")
    case("fxam", "ftop=3")
    case("ftst", stack(QNAN, fcw=UNMASK_INVALID), "c0=? c2=? c3=?")


# ------------------------------------------------------------------------------------------------------------ functions


def functions():
    note("remainders and scaling")
    for name in ("fprem", "fprem1", "fscale"):
        for a, b in PAIRS + [(ODD, THIRD), (HUGE, THIRD), (P3_5, ONE), (N2_5, TWO), (P2_63, P3_5), (MIN, N2_5),
                             (ONE, HUGE), (ONE, "c00cc000000000000000"), (THIRD, "c00d8000000000000000")]:
            case(name, stack(a, b))
        case(name, f"{stack(SNAN, ONE)} {ALL_CODES}")
        case(name, f"{stack(ONE)} {ALL_CODES}")
        case(name, "ftop=2")
        case(name, stack(SNAN, ONE, fcw=UNMASK_INVALID))
        for cw in CONTROLS[1:]:
            case(name, stack(ODD, THIRD, fcw=cw))
    note("fxtract")
    for v in SPECIAL + ORDINARY + [HUGE]:
        case("fxtract", stack(v))
    case("fxtract", FULL)
    case("fxtract", "ftop=2")
    case("fxtract", stack(ZERO, fcw=UNMASK_ZERO))
    note("exact results of transcendental functions")
    for name in ("fsin", "fcos", "fsincos", "fptan"):
        for v in [ZERO, NZERO, INF, QNAN, QNAN2, SNAN, UNNORMAL, P2_63, MAX]:
            case(name, stack(v))
        case(name, FULL)
        case(name, "ftop=2")
        case(name, f"{stack(P2_63)} {ALL_CODES}")
    # Where a result is exact and said not to be, vendors' processors differ in how they have rounded it (C1): 2^1-1, 3.5 lb 0.5.
    for v in [ZERO, NZERO, "bfff8000000000000000", QNAN, SNAN, UNNORMAL]:
        case("f2xm1", stack(v))
    for a, b in [(ONE, TWO), (TWO, ODD), (ZERO, ONE), (ZERO, NTHIRD), (NTHIRD, ONE), (INF, TWO),
                 (INF, N2_5), (ONE, INF), (QNAN, ONE), (SNAN, QNAN), (ZERO, ZERO), (P2_63, THIRD)]:
        case("fyl2x", stack(a, b))
    for a, b in [(ZERO, ODD), (NZERO, ODD), (QNAN, ONE), (SNAN, ONE), (ZERO, INF)]:
        case("fyl2xp1", stack(a, b))
    for a, b in [(ONE, ZERO), (ONE, NZERO), (INF, ONE), (QNAN, QNAN2), (SNAN, ONE), (ZERO, ZERO), (UNNORMAL, ONE)]:
        case("fpatan", stack(a, b))
    for name in ("f2xm1", "fyl2x", "fyl2xp1", "fpatan"):
        case(name, "ftop=2")
        case(name, stack(ZERO if name == "f2xm1" else ONE, fcw=UNMASK_INVALID))
    note("others: CPUs differ in the last bits, so the results are compared as single floats")
    store = "fstp dword ptr [rsi]"
    for v in [ONE, THIRD, NTHIRD, N2_5, P3_5, ODD, HALF]:
        case(f"fsin; {store}", f"{MEMORY} {stack(v)}")
        case(f"fcos; {store}", f"{MEMORY} {stack(v)}")
        case(f"fsincos; {store}; fstp dword ptr [rsi+4]", f"{MEMORY} {stack(v)}")
        case(f"fptan; {store}; fstp dword ptr [rsi+4]", f"{MEMORY} {stack(v)}")
    for v in [HALF, THIRD, NTHIRD]:
        case(f"f2xm1; {store}", f"{MEMORY} {stack(v)}")
    for a, b in [(ODD, THIRD), (THIRD, N2_5), (P3_5, ONE)]:
        case(f"fyl2x; {store}", f"{MEMORY} {stack(a, b)}")
        case(f"fpatan; {store}", f"{MEMORY} {stack(a, b)}")
        case(f"fpatan; {store}", f"{MEMORY} {stack(b, a)}")
    for a, b in [("3ffc8000000000000000", THIRD), ("bffc9000000000000000", P3_5)]:
        case(f"fyl2xp1; {store}", f"{MEMORY} {stack(a, b)}")


# -------------------------------------------------------------------------------------------------------------- control


def control():
    note("control and status")
    for cw in (0x37F, 0xFFFF, 0x0000, 0x1F7F, 0x0C3F):
        case("fldcw word ptr [rsi]", f"rsi=@0x43 [0x43]={cw & 255:02x}{cw >> 8:02x}")
    case("fldcw word ptr [rsi]", "rsi=@0x43 [0x43]=7e03 fsw=0x1")
    case("fldcw word ptr [rsi]", "rsi=@0x43 [0x43]=7e03 fsw=0x2")
    case("fldcw word ptr [rsi]", "rsi=@0x43 [0x43]=7f03 fsw=0x8081 fcw=0x37e")
    case("fnstcw word ptr [rsi]", "rsi=@0x43 fcw=0xc7f")
    case("fnstsw word ptr [rsi]", "rsi=@0x43 ftop=5 fsw=0x4721")
    case("fnstsw ax", "ftop=5 fsw=0x4721 rax=0x1122334455667788")
    case("fnstsw ax", "ftop=0 fsw=0x80a1 fcw=0x37e")
    case("fninit", f"{stack(ONE, fcw=0xC7E)} fsw=0x80a1")
    case("fnclex", "ftop=3 fsw=0x47e1")
    case("fnclex", "ftop=3 fsw=0x80a1 fcw=0x37e")
    case("fsqrt; fldcw word ptr [rsi]; fdiv st(0), st(1); fnstsw ax",
         f"rsi=@0x43 [0x43]=7f08 {stack(TWO, P3_5)}", "")
    note("programs: the flags stay until they are cleared")
    case("fdiv st(0), st(1); fnclex; fadd st(0), st(0); fnstsw ax", stack(ONE, P3_5))
    case("fsqrt; fmul st(0), st(1); fstp qword ptr [rsi]; fld qword ptr [rsi]; fcomi st(0), st(1)",
         f"{MEMORY} {stack(TWO, THIRD)}")
    case("fild dword ptr [rsi]; fidiv word ptr [rsi+4]; fxch st(1); fistp dword ptr [rsi]",
         f"{MEMORY} [0x43]=07000000030000000000 {stack(ODD)}")


def environments():
    env = {"": 28, ".byte 0x66; ": 14}
    for prefix, size in env.items():
        note(f"environments of {size} bytes; pointers are left open")
        pointers = f"[0x4c]=?{size - 12}" if size == 28 else "[0x46]=?8"
        for s in (f"{ALL_CODES} {FULL}", stack(ZERO, INF, TINY, UNNORMAL, QNAN, top=1), "fcw=0x37e fsw=0x8081",
                  "fcw=0xc7e fsw=0x2"):
            case(f"{prefix}fnstenv [rsi]", f"rsi=@0x40 {s}", pointers)
            case(f"{prefix}fnsave [rsi]", f"rsi=@0x40 {s}", pointers)
        words = (lambda *w: "".join(f"{x & 255:02x}{x >> 8:02x}" + ("ffff" if size == 28 else "") for x in w))
        for cw, sw, tw in ((0x37F, 0x0000, 0xFFFF), (0xC7F, 0x6721, 0x0A5F), (0x37E, 0x3801, 0x0000),
                           (0xFFFF, 0xFFFF, 0x1234), (0x37E, 0x80FE, 0x1234), (0x37F, 0x8080, 0x5555)):
            image = words(cw, sw, tw)
            case(f"{prefix}fldenv [rsi]", f"rsi=@0x40 [0x40]={image} {stack(ONE, TWO)}")
            case(f"{prefix}frstor [rsi]", f"rsi=@0x40 [0x40]={image} {stack(ONE, TWO)}")
    note("by a segment, and there and back")
    case("fnstenv fs:[rsi]", f"rsi=0x10 {stack(ONE)}", "[0x41c]=?16")
    case("fnsave [rsi]; fld1; frstor [rsi]", f"rsi=@0x40 {FULL} {ALL_CODES}", "[0x40]=?108")


AREA = "rsi=@0x100"
FAULT = "trap=misaligned"  # #GP


def saved():
    note("fxsave and fxrstor; the pointers and the mask of mxcsr are left open")
    opened = "[0x106]=?18 [0x11c]=?4"
    for insn in ("fxsave", "fxsave64"):
        for s in (f"{ALL_CODES} {FULL}", stack(SNAN, TINY, fcw=0xC7F), "fcw=0x37e fsw=0x8081", "mm3=1122334455667788"):
            case(f"{insn} [rsi]", f"{AREA} {s} mxcsr=0x7fa1", opened)
        case(f"{insn} [rsi]", "rsi=@0x108", FAULT)
    good = "[0x118]=a1df0000ffff0000"
    for insn in ("fxrstor", "fxrstor64"):
        for image in ("7f03000000", "7f0cff7fa5", "0000ffff5a", "7e03010000"):
            case(f"{insn} [rsi]", f"{AREA} [0x100]={image} {good}")
        case(f"{insn} [rsi]", "rsi=@0x108 [0x120]=801f0000ffff0000", FAULT)
        case(f"{insn} [rsi]", f"{AREA} [0x118]=801f0100ffff0000")
    case("fxsave64 [rsi]; pxor xmm3, xmm3; fninit; fxrstor64 [rsi]", f"{AREA} {FULL} xmm15=u64:1,2", "[0x100]=?512")
    note("xsave and xrstor: there and back, in any layout")
    scramble = "pxor xmm3, xmm3; fninit; fldpi"
    for save in ("xsave", "xsave64", "xsaveopt", "xsaveopt64", "xsavec", "xsavec64"):
        restore = "xrstor64" if save.endswith("64") else "xrstor"
        header = "[0x300]=" + "00" * 64
        for mask in (0x7, 0x6, 0x2, 0x3, 0x4, 0xE7, 0xE6, 0x1):
            case(f"{save} [rsi]; {scramble}; {restore} [rsi]",
                 f"{AREA} {FULL} rax={mask:#x} rdx=0 {header}", "[0x100]=?2688")
        case(f"{save} [rsi]", "rsi=@0x120 rax=7 rdx=0", FAULT)
    note("xsavec: what is written")
    case("xsavec [rsi]", f"{AREA} rax=6 rdx=0 mxcsr=0x3f80", "[0x11c]=?4")
    case("xsavec [rsi]", f"{AREA} rax=2 rdx=0", "[0x11c]=?4")
    case("xsavec [rsi]", f"{AREA} rax=0x26 rdx=0", "[0x11c]=?4")
    case("xsave [rsi]", f"{AREA} rax=2 rdx=0 [0x300]=0500000000000000", "[0x11c]=?4")
    note("xrstor: components that are not in the area become zero")
    for mask, header in ((7, "0000000000000000" + "00" * 56), (6, "0200000000000000" + "00" * 56),
                         (6, "04000000000000000600000000000080" + "00" * 48),
                         (7, "00000000000000000700000000000080" + "00" * 48),
                         (2, "02000000000000000600000000000080" + "00" * 48)):
        case("xrstor [rsi]", f"{AREA} rax={mask} rdx=0 {FULL} [0x118]=801f0000ffff0000 [0x300]={header}")
    case("xrstor [rsi]", f"{AREA} rax=7 rdx=0 [0x118]=801f0100ffff0000 [0x300]={'00' * 64}", FAULT)
    case("xrstor [rsi]", f"{AREA} rax=7 rdx=0 [0x118]=801f0000ffff0000 [0x300]={'00' * 8}01{'00' * 55}", FAULT)


# ---------------------------------------------------------------------------------------------------------------- files

FILES = {
    "x87_move.txt": (loads, stores, moves),
    "x87_arith.txt": (arithmetic, unary),
    "x87_compare.txt": (compares,),
    "x87_function.txt": (functions,),
    "x87_control.txt": (control, environments),
    "x87_state.txt": (saved,),
}


def main():
    if len(sys.argv) != 2:
        sys.exit("Usage: gen-x87.py FOLDER")
    for name, writers in FILES.items():
        out.clear()
        for write in writers:
            write()
        with open(f"{sys.argv[1]}/{name}", "w") as f:
            f.write("\n".join(out) + "\n")


main()
