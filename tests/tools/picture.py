#!/usr/bin/env python3
"""picture.py LATHE COVERED: the page of the tool hot as Chromium shows it: a title, tables with bars, and code that is the redder the more of it was executed; nothing is cut off at the
sides, and a link in the first table leads to code. Status 77: there is no Chromium."""
import os
import shutil
import subprocess
import sys
import tempfile

sys.dont_write_bytecode = True
from browser import Browser, pixels
from expecting import expect, fail, finish

WIDTH, HEIGHT = 1100, 1600
BAR = (228, 87, 46)
lathe, covered = (os.path.abspath(a) for a in sys.argv[1:3])


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
    browser = Browser(folder)
    if not browser.found:
        sys.exit(77)
    page = folder + "/hot.html"
    subprocess.run([lathe, "run", "--tool=hot,top=4,out=" + page, "--", covered, "100000"], stdout=subprocess.DEVNULL, check=False)
    picture = browser.picture("file://" + page, WIDTH, HEIGHT)
    if picture:
        check_picture(pixels(picture))
    else:
        fail("Chromium has made no picture")
    check_elements(browser.elements("file://" + page))
    if len(sys.argv) > 3:
        shutil.copy(picture, sys.argv[3])
finish()
