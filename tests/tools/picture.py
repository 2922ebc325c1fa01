#!/usr/bin/env python3
"""picture.py LATHE COVERED: the page of the tool hot as Chromium shows it: a title, tables with bars, and code that is the redder the more of it was executed; nothing is cut off at the
sides, and a link in the first table leads to code. Status 77: there is no Chromium."""
import os
import shutil
import struct
import subprocess
import sys
import tempfile
import zlib

sys.dont_write_bytecode = True
from expecting import expect, fail, finish

WIDTH, HEIGHT = 1100, 1600
BAR = (228, 87, 46)
lathe, covered = (os.path.abspath(a) for a in sys.argv[1:3])
browser = shutil.which("chromium") or sys.exit(77)


def chromium(folder, *options):
    """What it prints; it writes what it likes to its own folder only."""
    command = [browser, "--headless", "--no-sandbox", "--disable-gpu", "--hide-scrollbars", f"--user-data-dir={folder}/profile", *options]
    return subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, env=dict(os.environ, HOME=folder)).stdout


def unfiltered(kind, line, above, step):
    """A line of a PNG's picture."""
    line = bytearray(line)
    for i, byte in enumerate(line):
        left, up = line[i - step] if i >= step else 0, above[i]
        corner = above[i - step] if i >= step else 0
        guess = left + up - corner
        nearest = min((left, up, corner), key=lambda v: abs(guess - v))
        line[i] = byte + (0, left, up, (left + up) // 2, nearest)[kind] & 255
    return line


def pixels(name):
    """The picture's lines, as lists of (red, green, blue)."""
    data = open(name, "rb").read()
    at, packed = 8, b""
    while at < len(data):
        size, kind = struct.unpack(">I4s", data[at:at + 8])
        body = data[at + 8:at + 8 + size]
        if kind == b"IHDR":
            width, height, depth, colours = struct.unpack(">IIBB", body[:10])
            step = {2: 3, 6: 4}[colours]
            expect("bits of a colour", depth, 8)
        packed += body if kind == b"IDAT" else b""
        at += size + 12
    raw, lines, above = zlib.decompress(packed), [], bytearray(width * step)
    for y in range(height):
        start = y * (width * step + 1)
        above = unfiltered(raw[start], raw[start + 1:start + 1 + width * step], above, step)
        lines.append([tuple(above[i:i + 3]) for i in range(0, width * step, step)])
    return lines


def is_text(p):
    return max(p) < 120


def is_reddish(p):
    """The background of code that was executed often."""
    return p[0] > 240 and 150 < p[1] < 235 and p[2] < p[1]


def check_picture(lines):
    expect("size", (len(lines[0]), len(lines)), (WIDTH, HEIGHT))
    bars = [y for y, line in enumerate(lines) if line.count(BAR) > 20]
    red = [y for y, line in enumerate(lines) if sum(map(is_reddish, line)) > WIDTH // 2]
    text = [y for y, line in enumerate(lines) if any(map(is_text, line))]
    if not bars or not red or len(text) < 200:
        fail(f"{len(bars)} lines with bars, {len(red)} of red code, {len(text)} with text")
    elif not text[0] < bars[0] < red[0]:
        fail(f"the first text is at {text[0]}, the first bar at {bars[0]}, the first red code at {red[0]}")
    for line in lines:
        if any(map(is_text, line[:4])) or any(map(is_text, line[-4:])):
            fail("something is cut off at a side")
            break


def check_elements(page):
    for what in ("<title>covered</title>", "<h2>Functions</h2>", '<a href="#f0">', '<details id="f0" open'):
        if what not in page:
            fail(f"the page, as Chromium has read it, lacks {what}")


with tempfile.TemporaryDirectory(prefix="lathe-picture-") as folder:
    page, picture = folder + "/hot.html", folder + "/hot.png"
    subprocess.run([lathe, "run", "--tool=hot,top=4,out=" + page, "--", covered, "100000"], stdout=subprocess.DEVNULL, check=False)
    chromium(folder, f"--window-size={WIDTH},{HEIGHT}", "--screenshot=" + picture, "file://" + page)
    if os.path.exists(picture):
        check_picture(pixels(picture))
    else:
        fail("Chromium has made no picture")
    check_elements(chromium(folder, "--dump-dom", "file://" + page))
    if len(sys.argv) > 3:
        shutil.copy(picture, sys.argv[3])
finish()
