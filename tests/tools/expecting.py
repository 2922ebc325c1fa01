"""expecting.py: how tests of tools say what is wrong, and end."""
import sys

failed = False


def fail(text):
    global failed
    print("FAIL:", text)
    failed = True


def expect(what, got, expected):
    if got != expected:
        fail(f"{what}: {got!r} instead of {expected!r}")


def finish():
    print("failed" if failed else "ok")
    sys.exit(failed)
