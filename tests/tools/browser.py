"""browser.py: a page as Chromium shows it: what is in it when its scripts have run, and a picture of it, as colours of points."""
import os
import shutil
import struct
import subprocess
import zlib

from expecting import expect


class Browser:
    """Keeps what it writes in a folder of its own. `found` is false where there is no Chromium."""

    def __init__(self, folder):
        self.folder = folder
        self.found = shutil.which("chromium")

    def run(self, *options):
        command = [self.found, "--headless", "--no-sandbox", "--disable-gpu", "--hide-scrollbars", f"--user-data-dir={self.folder}/profile", *options]
        return subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, env=dict(os.environ, HOME=self.folder)).stdout

    def elements(self, address, *options):
        """The page's HTML after it was loaded."""
        return self.run(*options, "--dump-dom", address)

    def picture(self, address, width, height, *options):
        """A PNG file of the page in a window of that size."""
        path = f"{self.folder}/page-{width}.png"
        self.run(f"--window-size={width},{height}", *options, "--screenshot=" + path, address)
        return path if os.path.exists(path) else None


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
