"""work.py: containers, classes, exceptions, generators, text, numbers, modules written in C, processes."""
import collections
import hashlib
import json
import math
import os
import re
import struct
import subprocess
import sys
import zlib


class Tree:
    def __init__(self):
        self.left = self.right = None
        self.key = None

    def insert(self, key):
        if self.key is None:
            self.key = key
        elif key < self.key:
            self.left = self.left or Tree()
            self.left.insert(key)
        else:
            self.right = self.right or Tree()
            self.right.insert(key)

    def __iter__(self):
        if self.left:
            yield from self.left
        yield self.key
        if self.right:
            yield from self.right


tree = Tree()
for n in range(300):
    tree.insert(n * 7919 % 1009)
print(list(tree)[::30])
words = re.findall(r"[a-z]+", "the cat and the dog and the bird" * 10)
print(sorted(collections.Counter(words).items()))
print(json.dumps({"b": [1, 2.5, None, True], "a": "text\u00e9"}, sort_keys=True))
print(hashlib.sha256(b"abc").hexdigest(), hashlib.md5(b"abc").hexdigest(), zlib.crc32(b"123456789"))
print(zlib.decompress(zlib.compress(b"x" * 10000)) == b"x" * 10000)
print(struct.pack("<IHd", 1, 2, 3.5).hex(), 2**200 // 3**50, math.factorial(30))
print([round(math.sin(x / 10), 6) for x in range(5)], 0.1 + 0.2, 1e300 * 1e10, float("nan"))
try:
    {}["missing"]
except KeyError as e:
    print("caught", repr(e))
try:
    def deep(n):
        return deep(n + 1)
    deep(0)
except RecursionError:
    print("too deep")
print(subprocess.run(["echo", "from a child"], stdout=subprocess.PIPE, check=True).stdout)
pid = os.fork()
if pid == 0:
    os._exit(4)
print(os.WEXITSTATUS(os.waitpid(pid, 0)[1]), f"{1234567.891:,.2f}", "é".encode())
sys.exit(7)
