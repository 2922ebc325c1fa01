#!/usr/bin/env python3
"""Writes the integer SIMD, string compare and cryptography cases, without expectations.

Usage: gen-simd.py FOLDER, then isa-cases --update FOLDER/simd_*.txt FOLDER/mmx.txt FOLDER/crypto.txt

Lanes are pairs of boundary values first, then arbitrary ones from a fixed seed: every run gives the same files.
"""
import random
import sys

NAMES = {8: "u8", 16: "u16", 32: "u32", 64: "u64"}
MEMORY = 0x40
rng = random.Random(20)


def boundaries(bits):
    top = 1 << (bits - 1)
    return [0, 1, top - 1, top, top + 1, 2 * top - 1, 2 * top - 2, top // 2, 2 * top // 3]


def text(lanes, bits):
    return NAMES[bits] + ":" + ",".join(f"0x{v:x}" for v in lanes)


def memory_bytes(lanes, bits):
    return b"".join(v.to_bytes(bits // 8, "little") for v in lanes).hex()


def boundary_pair(bits, count, turn):
    """Two vectors whose lanes pair the boundary values, with another offset between them each turn."""
    values = boundaries(bits)
    first = [values[(i + turn * count) % len(values)] for i in range(count)]
    second = [values[(i * (turn + 1) + 2 * turn + 1) % len(values)] for i in range(count)]
    return first, second


def arbitrary(bits, count):
    return [rng.getrandbits(bits) for _ in range(count)]


class File:
    def __init__(self, folder, name, title):
        self.out = open(f"{folder}/{name}.txt", "w")
        self.out.write(f"# {title}; written by gen-simd.py, expectations by isa-cases --update\n")

    def case(self, insns, initial=""):
        self.out.write(f"{insns} | {initial} |\n")

    def group(self, name):
        self.out.write(f"\n# {name}\n")


class Regs:
    """The registers of one width: their names and how a vector of lanes is given to them."""

    def __init__(self, stem, size_bits):
        self.stem, self.bits = stem, size_bits
        self.a, self.b, self.far = stem + "1", stem + "2", "xmm13" if stem == "xmm" else "mm7"

    def lanes(self, bits):
        return self.bits // bits

    def give(self, register, lanes, bits):
        return f"{register}={text(lanes, bits)}"


XMM, MM = Regs("xmm", 128), Regs("mm", 64)


def in_memory(lanes, bits, offset=MEMORY):
    return f"rdi=@0x{offset:x} [0x{offset:x}]={memory_bytes(lanes, bits)}"


def binary(f, r, name, bits, imm="", turns=3, memory_bits=None, odd=False):
    """name a, b and name a, [memory], over boundary and arbitrary lanes."""
    n = r.lanes(bits)
    for turn in range(turns):
        a, b = boundary_pair(bits, n, turn)
        f.case(f"{name} {r.a}, {r.b}{imm}", f"{r.give(r.a, a, bits)} {r.give(r.b, b, bits)}")
    a, b = arbitrary(bits, n), arbitrary(bits, n)
    f.case(f"{name} {r.far}, {r.b}{imm}", f"{r.give(r.far, a, bits)} {r.give(r.b, b, bits)}")
    in_mem = b[: memory_bits // bits] if memory_bits else b
    offset = MEMORY + (3 if odd else 0)
    f.case(f"{name} {r.a}, [rdi]{imm}", f"{r.give(r.a, a, bits)} {in_memory(in_mem, bits, offset)}")


def same(f, r, name, imm=""):
    f.case(f"{name} {r.a}, {r.a}{imm}")


ARITH = {
    8: "paddb psubb paddsb psubsb paddusb psubusb pavgb pminub pmaxub pcmpeqb pcmpgtb psadbw",
    16: "paddw psubw paddsw psubsw paddusw psubusw pavgw pminsw pmaxsw pcmpeqw pcmpgtw pmullw pmulhw pmulhuw pmaddwd",
    32: "paddd psubd pcmpeqd pcmpgtd pmuludq",
    64: "paddq psubq",
}
SSSE3 = {
    8: "pabsb psignb pmaddubsw",
    16: "pabsw psignw phaddw phaddsw phsubw phsubsw pmulhrsw",
    32: "pabsd psignd phaddd phsubd",
}
SSE41 = {
    8: "pminsb pmaxsb",
    16: "pminuw pmaxuw",
    32: "pminsd pminud pmaxsd pmaxud pmulld pmuldq",
    64: "pcmpeqq pcmpgtq",
}
SAME = ["psubb", "psubq", "pcmpeqb", "pcmpeqd", "pcmpgtw", "psubsw", "pminub", "paddd"]


def arithmetic(f, r, table, turns):
    for bits, names in table.items():
        for name in names.split():
            f.group(name)
            binary(f, r, name, bits, turns=turns)


def arith_file(folder):
    f = File(folder, "simd_arith", "SSE integer arithmetic and compares")
    for table in (ARITH, SSSE3, SSE41):
        arithmetic(f, XMM, table, 3)
    f.group("one register twice")
    for name in SAME:
        same(f, XMM, name)
    f.group("phminposuw")
    for lanes in ([5, 4, 3, 3, 9, 3, 8, 7], [0xffff] * 8, [0x8000, 0x7fff, 0, 1, 0, 0, 2, 3], arbitrary(16, 8)):
        f.case("phminposuw xmm1, xmm2", XMM.give("xmm2", lanes, 16))
    f.case("phminposuw xmm1, [rdi]", in_memory([7, 6, 5, 4, 3, 2, 1, 9], 16))
    f.group("mpsadbw")
    for imm in range(8):
        f.case(f"mpsadbw xmm1, xmm2, {imm}",
               f"{XMM.give('xmm1', arbitrary(8, 16), 8)} {XMM.give('xmm2', arbitrary(8, 16), 8)}")
    f.case("mpsadbw xmm1, [rdi], 0xfd", in_memory(arbitrary(8, 16), 8))


SHIFTS = {"psllw": 16, "pslld": 32, "psllq": 64, "psrlw": 16, "psrld": 32, "psrlq": 64, "psraw": 16, "psrad": 32}


def shifts(f, r):
    for name, bits in SHIFTS.items():
        f.group(name)
        values = boundary_pair(bits, r.lanes(bits), 1)[0]
        given = r.give(r.a, values, bits)
        for count in (0, 1, bits - 1, bits, 0x80, 0xff):
            f.case(f"{name} {r.a}, 0x{count:x}", given)
        for count in (0, 3, bits - 1, bits, 0x1_0000_0001, 1 << 63):
            f.case(f"{name} {r.a}, {r.b}", f"{given} {r.give(r.b, [count] + [5] * (r.bits // 64 - 1), 64)}")
        f.case(f"{name} {r.a}, [rdi]", f"{given} {in_memory([bits - 2] + [1] * (r.bits // 64 - 1), 64)}")
        f.case(f"{name} {r.a}, {r.a}", r.give(r.a, [2] * (r.bits // 64), 64))


LOGIC = "pand pandn por pxor"


def bits_file(folder):
    f = File(folder, "simd_bits", "SSE logic, shifts and tests")
    for name in LOGIC.split():
        f.group(name)
        binary(f, XMM, name, 64, turns=1)
        same(f, XMM, name)
    f.group("with floating-point code around it")
    f.case("addps xmm1, xmm2; pxor xmm1, xmm3; mulps xmm1, xmm2",
           "xmm1=f32:1,2,3,4 xmm2=f32:0.5,0.5,0.5,2 xmm3=u32:0x80000000,0,0x80000000,0")
    f.case("addpd xmm1, xmm2; pand xmm1, xmm3; movdqa xmm4, xmm1; movq xmm5, xmm4; addsd xmm5, xmm4",
           "xmm1=f64:-1,2 xmm2=f64:0.5,0.5 xmm3=u64:0x7fffffffffffffff,0x7fffffffffffffff")
    shifts(f, XMM)
    f.group("whole registers")
    for name in ("pslldq", "psrldq"):
        for count in (0, 1, 5, 8, 15, 16, 17, 255):
            f.case(f"{name} xmm1, {count}")
    f.group("pmovmskb")
    for lanes in ([0x80] * 16, [0x7f] * 16, boundaries(8) + [0x80] * 7, arbitrary(8, 16)):
        f.case("pmovmskb ecx, xmm1", XMM.give("xmm1", lanes, 8))
    f.case("pmovmskb r11, xmm13")
    ptest(f)


def ptest(f):
    f.group("ptest")
    ones = (1 << 64) - 1
    for a, b in (([0, 0], [0, 0]), ([1, 0], [1, 0]), ([0, 1], [0, 1]), ([0, 1], [1, 0]), ([ones, ones], [0, 1 << 63]),
                 ([ones, 0], [ones, ones]), ([5, 6], [10, 9])):
        given = f"{XMM.give('xmm1', a, 64)} {XMM.give('xmm2', b, 64)}"
        f.case("ptest xmm1, xmm2", given + " cf=0 zf=0 sf=1 of=1 af=1 pf=1")
    f.case("ptest xmm1, [rdi]", f"{XMM.give('xmm1', [0, 2], 64)} {in_memory([4, 2], 64)}")
    f.case("ptest xmm1, xmm1")


PACKS = {"packsswb": 16, "packuswb": 16, "packssdw": 32, "packusdw": 32}
UNPACKS = {"punpcklbw": 8, "punpcklwd": 16, "punpckldq": 32, "punpckhbw": 8, "punpckhwd": 16, "punpckhdq": 32}
PACK_EDGES = {16: [0x7f, 0x80, 0xff80, 0xff7f, 0xff, 0x100, 0, 0xffff],
              32: [0x7fff, 0x8000, 0xffff8000, 0xffff7fff, 0xffff, 0x10000, 0, 0xffffffff]}
EXTENSIONS = {"bw": (8, 64), "bd": (8, 32), "bq": (8, 16), "wd": (16, 64), "wq": (16, 32), "dq": (32, 64)}


def packs(f, r, names):
    for name in names:
        f.group(name)
        bits = PACKS[name]
        binary(f, r, name, bits, turns=2)
        edges, n = PACK_EDGES[bits], r.lanes(bits)
        for first in range(0, 8, 2 * n):
            a, b = edges[first:first + n], (edges + edges)[first + n:first + 2 * n]
            f.case(f"{name} {r.a}, {r.b}", f"{r.give(r.a, a, bits)} {r.give(r.b, b, bits)}")
        same(f, r, name)


def unpacks(f, r):
    for name, bits in UNPACKS.items():
        f.group(name)
        low = r is MM and "l" in name[5:6]
        binary(f, r, name, bits, turns=1, memory_bits=32 if low else None)
        same(f, r, name)


def shuffle_file(folder):
    f = File(folder, "simd_shuffle", "SSE packing, shuffles, blends and single lanes")
    packs(f, XMM, PACKS)
    unpacks(f, XMM)
    for name in ("punpcklqdq", "punpckhqdq"):
        f.group(name)
        binary(f, XMM, name, 64, turns=1)
        same(f, XMM, name)
    f.case("addps xmm1, xmm2; punpckldq xmm1, xmm2; addps xmm1, xmm1", "xmm1=f32:1,2,3,4 xmm2=f32:5,6,7,8")
    f.case("addpd xmm1, xmm2; punpckhqdq xmm1, xmm2; addpd xmm1, xmm1", "xmm1=f64:1,2 xmm2=f64:5,6")
    extensions(f)
    f.group("pshufd, pshufhw, pshuflw")
    for name in ("pshufd", "pshufhw", "pshuflw"):
        for imm in (0, 0x1b, 0x4e, 0xe4, 0xd8, 0xff):
            f.case(f"{name} xmm1, xmm2, 0x{imm:x}")
        f.case(f"{name} xmm1, [rdi], 0x93", in_memory(arbitrary(8, 16), 8))
        f.case(f"{name} xmm1, xmm1, 0x39")
    f.case("addps xmm1, xmm2; pshufd xmm3, xmm1, 0x4e; addps xmm1, xmm3", "xmm1=f32:1,2,3,4 xmm2=f32:5,6,7,8")
    byte_shuffles(f, XMM)
    blends(f)
    single_lanes(f)


def extensions(f):
    for sign in "sz":
        for suffix, (bits, source_bits) in EXTENSIONS.items():
            name = f"pmov{sign}x{suffix}"
            f.group(name)
            values = boundaries(bits)[2:] * 3
            f.case(f"{name} xmm1, xmm2", XMM.give("xmm2", values[:128 // bits], bits))
            f.case(f"{name} xmm1, xmm1")
            f.case(f"{name} xmm1, [rdi]", in_memory(values[: source_bits // bits], bits, MEMORY + 1))


def byte_shuffles(f, r):
    n = r.bits // 8
    f.group("pshufb")
    given = r.give(r.a, range(1, n + 1), 8)
    for lanes in (range(n), range(n - 1, -1, -1), range(0x80, 0x80 + n), [0x7f, 0xff, 0x0f, 0x10] * (n // 4),
                  arbitrary(8, n)):
        f.case(f"pshufb {r.a}, {r.b}", f"{given} {r.give(r.b, lanes, 8)}")
    f.case(f"pshufb {r.a}, [rdi]", f"{given} {in_memory(arbitrary(8, n), 8)}")
    f.group("palignr")
    for imm in (0, 1, n // 2, n - 1, n, n + 1, 2 * n - 1, 2 * n, 255):
        f.case(f"palignr {r.a}, {r.b}, {imm}", f"{given} {r.give(r.b, range(0x41, 0x41 + n), 8)}")
    f.case(f"palignr {r.a}, [rdi], 3", f"{given} {in_memory(arbitrary(8, n), 8)}")


def blends(f):
    f.group("pblendw, pblendvb")
    for imm in (0, 0xff, 0x55, 0x81, 0x3c):
        f.case(f"pblendw xmm1, xmm2, 0x{imm:x}")
    f.case("pblendw xmm1, [rdi], 0x0f", in_memory(arbitrary(8, 16), 8))
    for lanes in ([0x80] * 16, [0x7f] * 16, arbitrary(8, 16)):
        f.case("pblendvb xmm1, xmm2, xmm0", XMM.give("xmm0", lanes, 8))
    f.case("pblendvb xmm0, xmm2, xmm0", XMM.give("xmm0", arbitrary(8, 16), 8))
    f.case("pblendvb xmm1, [rdi], xmm0", f"{in_memory(arbitrary(8, 16), 8)} {XMM.give('xmm0', arbitrary(8, 16), 8)}")


def single_lanes(f):
    f.group("single lanes")
    for suffix, bits, gp, load in (("b", 8, "ecx", "byte"), ("w", 16, "ecx", "word"), ("d", 32, "ecx", "dword"),
                                   ("q", 64, "rcx", "qword")):
        for lane in (0, 1, 128 // bits - 1, 0xfe):
            f.case(f"pinsr{suffix} xmm1, {gp}, 0x{lane:x}", "rcx=0x8123456789abcdef")
            f.case(f"pextr{suffix} {gp}, xmm1, 0x{lane:x}")
        f.case(f"pinsr{suffix} xmm13, {load} ptr [rdi], 1", f"rdi=@0x{MEMORY + 1:x}")
        f.case(f"pextr{suffix} {load} ptr [rdi], xmm13, 1", f"rdi=@0x{MEMORY + 1:x}")
    f.case("pextrw r9, xmm2, 7")
    f.case(".byte 0x66,0x0f,0x3a,0x15,0xd1,0x05")
    f.case(".byte 0x66,0x48,0x0f,0x3a,0x15,0xd1,0x05")


def move_file(folder):
    f = File(folder, "simd_move", "moves of vector registers")
    at, odd = f"rdi=@0x{MEMORY:x}", f"rdi=@0x{MEMORY + 3:x}"
    f.group("movd, movq")
    for insns in ("movd xmm1, ecx", "movd ecx, xmm1", "movq xmm1, rcx", "movq rcx, xmm1", "movd xmm13, r11d",
                  "movq r11, xmm13", "movq xmm1, xmm2", ".byte 0x66,0x0f,0xd6,0xd1", "movq xmm1, xmm1"):
        f.case(insns, "rcx=0xfedcba9876543210")
    for insns in ("movd xmm1, dword ptr [rdi]", "movd dword ptr [rdi], xmm1", "movq xmm1, qword ptr [rdi]",
                  "movq qword ptr [rdi], xmm1", ".byte 0x66,0x48,0x0f,0x6e,0x0f", ".byte 0x66,0x48,0x0f,0x7e,0x0f",
                  "movdqu xmm1, [rdi]", "movdqu [rdi], xmm1", "lddqu xmm1, [rdi]"):
        f.case(insns, odd)
    f.group("16 bytes")
    for insns in ("movdqa xmm1, [rdi]", "movdqa [rdi], xmm1", "movntdq [rdi], xmm1", "movntdqa xmm1, [rdi]"):
        f.case(insns, at)
    for insns in ("movdqa xmm1, xmm2", "movdqa xmm1, xmm1", ".byte 0x66,0x0f,0x7f,0xd1", "movdqu xmm13, xmm2",
                  ".byte 0xf3,0x0f,0x7f,0xd1", "movdqa xmm3, xmm1; paddd xmm1, xmm2; paddd xmm3, xmm1"):
        f.case(insns)
    f.case("addsd xmm1, xmm2; movq xmm3, xmm1; movq qword ptr [rdi], xmm3; movq rax, xmm3",
           f"xmm1=f64:1,2 xmm2=f64:3,4 {odd}")
    f.case("addps xmm1, xmm2; movdqa [rdi], xmm1; movdqa xmm3, xmm1; addps xmm3, xmm2",
           f"xmm1=f32:1,2,3,4 xmm2=f32:3,4,5,6 {at}")
    f.group("movnti")
    f.case("movnti [rdi], ecx", odd)
    f.case("movnti [rdi], rcx", odd)
    f.group("maskmovdqu")
    for lanes in ([0x80] * 16, [0x7f] * 16, [0, 0x80] * 8, arbitrary(8, 16)):
        f.case("maskmovdqu xmm1, xmm2", f"{XMM.give('xmm2', lanes, 8)} {odd}")
    f.case("addr32 maskmovdqu xmm1, xmm2", f"{XMM.give('xmm2', [0x80, 0, 0] * 5 + [0x80], 8)} rdi=0xffffffff2f000047")
    f.case("fs maskmovdqu xmm1, xmm2", f"{XMM.give('xmm2', [0x80, 0, 0] * 5 + [0x80], 8)} fsbase=@0x20 rdi=0x31")


def mmx_file(folder):
    f = File(folder, "mmx", "MMX")
    arithmetic(f, MM, ARITH, 2)
    arithmetic(f, MM, SSSE3, 2)
    for name in LOGIC.split():
        f.group(name)
        binary(f, MM, name, 64, turns=1)
        same(f, MM, name)
    for name in SAME:
        same(f, MM, name)
    shifts(f, MM)
    packs(f, MM, ("packsswb", "packuswb", "packssdw"))
    unpacks(f, MM)
    byte_shuffles(f, MM)
    f.group("pshufw, single lanes, masks")
    for imm in (0, 0x1b, 0x4e, 0xe4, 0xff):
        f.case(f"pshufw mm1, mm2, 0x{imm:x}", MM.give("mm2", arbitrary(16, 4), 16))
    f.case("pshufw mm1, [rdi], 0x93", in_memory(arbitrary(16, 4), 16))
    for lane in (0, 3, 0xfe):
        f.case(f"pinsrw mm1, ecx, 0x{lane:x}", MM.give("mm1", arbitrary(16, 4), 16))
        f.case(f"pextrw ecx, mm1, 0x{lane:x}", MM.give("mm1", arbitrary(16, 4), 16))
    f.case("pinsrw mm1, word ptr [rdi], 2", f"{MM.give('mm1', arbitrary(16, 4), 16)} rdi=@0x{MEMORY + 1:x}")
    f.case("pmovmskb ecx, mm1", MM.give("mm1", arbitrary(8, 8), 8))
    f.case("pmovmskb ecx, mm1", MM.give("mm1", [0x80] * 8, 8))
    mmx_moves(f)


def mmx_moves(f):
    f.group("moves; they also enter MMX state when the x87 stack was in use")
    odd = f"rdi=@0x{MEMORY + 3:x}"
    for insns in ("movd mm1, ecx", "movd ecx, mm1", "movq mm1, rcx", "movq rcx, mm1", "movq mm1, mm2",
                  ".byte 0x0f,0x7f,0xd1", "movd mm1, dword ptr [rdi]", "movd dword ptr [rdi], mm1", "movq mm1, [rdi]",
                  "movq [rdi], mm1", "movntq [rdi], mm1", "movdq2q mm1, xmm2", "movq2dq xmm1, mm2"):
        f.case(insns, f"{odd} mm1=1122334455667788 mm2=99aabbccddeeff00")
        f.case(insns, f"{odd} ftop=3 st0=3fff8000000000000000 st6=4000c000000000000000")
    f.group("maskmovq")
    for lanes in ([0x80] * 8, [0x7f] * 8, [0, 0x80] * 4, arbitrary(8, 8)):
        f.case("maskmovq mm1, mm2", f"{odd} mm1=1122334455667788 {MM.give('mm2', lanes, 8)}")
    f.case("fs maskmovq mm1, mm2", f"fsbase=@0x20 rdi=0x11 mm1=1122334455667788 {MM.give('mm2', [0x80, 0] * 4, 8)}")
    f.case("maskmovq mm1, mm1", f"{odd} ftop=3 st0=3fff8000000000000000 st6=4000c000000000000000")


STRINGS = (b"Hello, world\0abc", b"Hello, World!!!!", b"lo\0lo\0lo\0lo\0lo\0l", bytes(16), b"azAZ09" + bytes(10),
           bytes(range(0x78, 0x88)))


def string_given(a, b):
    return f"{XMM.give('xmm1', STRINGS[a], 8)} {XMM.give('xmm2', STRINGS[b], 8)} af=1 pf=1"


def string_in_memory():
    return f"{XMM.give('xmm1', STRINGS[0], 8)} {in_memory(STRINGS[1], 8, MEMORY + 3)}"


def string_file(folder):
    f = File(folder, "simd_string", "SSE4.2 string compares")
    for kind in "im":
        f.group(f"pcmpistr{kind}")
        for imm in range(128):
            a, b = rng.choice(((4, 0), (2, 0), (0, 1), (1, 0), (2, 2), (5, 1), (4, 5)))
            f.case(f"pcmpistr{kind} xmm1, xmm2, 0x{imm:x}", string_given(a, b))
        f.case(f"pcmpistr{kind} xmm1, xmm2, 0x0c", string_given(3, 0))
        f.case(f"pcmpistr{kind} xmm1, xmm2, 0x0c", string_given(0, 3))
        f.case(f"pcmpistr{kind} xmm1, [rdi], 0x1a", string_in_memory())
        f.group(f"pcmpestr{kind}")
        sized(f, kind)


def sized(f, kind):
    lengths = (0, 1, 5, 8, 15, 16, 17, -3, -16, -100, 0x7fffffff, -0x80000000)
    for imm in range(0, 128, 3):
        a, b = rng.choice(((4, 0), (2, 0), (0, 1), (1, 0), (2, 2), (5, 1), (4, 5)))
        n, m = rng.choice(lengths) & 0xffffffff, rng.choice(lengths) & 0xffffffff
        given = f"{string_given(a, b)} rax=0xabcd{n:012x} rdx=0x1234{m:012x}"
        f.case(f"pcmpestr{kind} xmm1, xmm2, 0x{imm:x}", given)
    f.case(f"pcmpestr{kind} xmm1, [rdi], 0x08", f"rax=7 rdx=9 {string_in_memory()}")
    opcode = {"m": 0x60, "i": 0x61}[kind]
    for n, m in ((3, 5), (0x1_0000_0000, 2), (-(1 << 63), 2), (7, -0x1_0000_0003), (0xffffffff, 0xffffffff), (-5, 16)):
        given = f"{string_given(0, 1)} rax=0x{n % (1 << 64):x} rdx=0x{m % (1 << 64):x}"
        f.case(f".byte 0x66,0x48,0x0f,0x3a,0x{opcode:x},0xca,0x18", given)


CRYPTO = {"": "aesenc aesenclast aesdec aesdeclast aesimc sha1msg1 sha1msg2 sha1nexte sha256msg1 sha256msg2 gf2p8mulb",
          "imm": "aeskeygenassist pclmulqdq sha1rnds4 gf2p8affineqb gf2p8affineinvqb"}


def crypto_file(folder):
    f = File(folder, "crypto", "AES, SHA, carry-less products, Galois fields, CRC-32")
    for name in CRYPTO[""].split():
        f.group(name)
        binary(f, XMM, name, 32, turns=1)
        same(f, XMM, name)
    for name in CRYPTO["imm"].split():
        f.group(name)
        for imm in (0, 1, 0x10, 0x11, 2, 3, 0xff):
            binary(f, XMM, name, 64, imm=f", 0x{imm:x}", turns=0 if imm != 1 else 1)
    f.group("sha256rnds2")
    binary(f, XMM, "sha256rnds2", 32)
    f.case("sha256rnds2 xmm0, xmm2")
    f.case("sha256rnds2 xmm1, xmm0")
    f.group("crc32")
    for insns in ("crc32 ecx, dl", "crc32 ecx, dh", "crc32 ecx, dx", "crc32 ecx, edx", "crc32 rcx, dl",
                  "crc32 rcx, rdx", "crc32 r9d, r10b", "crc32 r9, r10", "crc32 ecx, ecx", "crc32 ecx, ch"):
        f.case(insns, "rcx=0xfedcba9876543210 rdx=0x0123456789abcdef")
        f.case(insns, "rcx=0 rdx=0xffffffffffffffff")
    for size in ("byte", "word", "dword"):
        f.case(f"crc32 ecx, {size} ptr [rdi]", f"rdi=@0x{MEMORY + 1:x}")
    f.case("crc32 rcx, byte ptr [rdi]", f"rdi=@0x{MEMORY + 1:x}")
    f.case("crc32 rcx, qword ptr [rdi]", f"rdi=@0x{MEMORY + 1:x}")


def main():
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    for write in (arith_file, bits_file, shuffle_file, move_file, string_file, mmx_file, crypto_file):
        write(sys.argv[1])


main()
