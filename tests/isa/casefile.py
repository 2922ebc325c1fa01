"""casefile.py: a file of instruction cases being written, for the scripts that write them."""

import random


class Cases:
    """One case file being written."""

    def __init__(self, about, writer, program):
        self.lines = [f"# {about}", f"# Written by {writer}; the expected column is qemu's word ({program} --update)."]
        self.random = random.Random(about)

    def section(self, title):
        self.lines += ["", f"# {title}"]

    def add(self, insn, expect="", **state):
        """One case; state values are numbers or text, a key `m0x40` is memory at that offset."""
        words = []
        for name, value in state.items():
            name = f"[{name[1:]}]" if name.startswith("m0x") else name
            if isinstance(value, int):
                value = hex(value) if value > 9 else str(value)
            words.append(f"{name}={value}")
        self.lines.append(" ".join(f"{insn} | {' '.join(words)} | {expect}".split()))

    def text(self):
        return "\n".join(self.lines) + "\n"

