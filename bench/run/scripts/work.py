"""work.py: an interpreter's day: loops, objects, dictionaries, strings, recursion."""


class Point:
    def __init__(self, x, y):
        self.x, self.y = x, y

    def moved(self, dx, dy):
        return Point(self.x + dx, self.y + dy)


def fib(n):
    return n if n < 2 else fib(n - 1) + fib(n - 2)


def primes(limit):
    sieve = bytearray([1]) * limit
    for i in range(2, int(limit**0.5) + 1):
        if sieve[i]:
            sieve[i * i :: i] = bytes(len(range(i * i, limit, i)))
    return sum(sieve[2:])


p = Point(0, 0)
for i in range(300000):
    p = p.moved(i % 7, -(i % 3))
words = {}
for i in range(300000):
    key = "word" + str(i * 7919 % 5003)
    words[key] = words.get(key, 0) + i
text = ",".join(sorted(words))
print(p.x, p.y, fib(24), primes(500000), len(text), sum(len(w) for w in text.split(",")), sorted(words.values())[-1])
