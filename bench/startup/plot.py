"""plot.py: times over sizes as SVG: small panels with logarithmic axes, side by side, and one legend."""
import math
from xml.sax.saxutils import escape

PANEL_W, PANEL_H = 270, 290
LEFT, TOP, GAP, BOTTOM = 62, 78, 52, 78
FONT = "font-family='DejaVu Sans, Helvetica, Arial, sans-serif'"
MARK_SIZE = 4


class Axis:
    """Maps values to coordinates, logarithmically; covers whole or half decades."""

    def __init__(self, values, start, length):
        self.low = math.floor(2 * math.log10(min(values))) / 2
        self.high = math.ceil(2 * math.log10(max(values))) / 2
        self.start, self.length = start, length

    def at(self, value):
        return self.start + self.length * (math.log10(value) - self.low) / (self.high - self.low)

    def ticks(self):
        """Every power of ten, then each of its multiples without a label."""
        for decade in range(math.floor(self.low), math.ceil(self.high) + 1):
            for digit in range(1, 10):
                value = digit * 10.0 ** decade
                if self.low - 1e-9 <= math.log10(value) <= self.high + 1e-9:
                    yield value, digit == 1


def duration(seconds):
    return f"{1e3 * seconds:g} ms" if seconds < 1 else f"{seconds:g} s"


def text(x, y, words, size=12, anchor="middle", extra=""):
    return f"<text x='{x:.1f}' y='{y:.1f}' font-size='{size}' text-anchor='{anchor}' {extra}>{escape(words)}</text>"


def line(x1, y1, x2, y2, colour, extra=""):
    return f"<line x1='{x1:.1f}' y1='{y1:.1f}' x2='{x2:.1f}' y2='{y2:.1f}' stroke='{colour}' {extra}/>"


def mark(shape, x, y, colour):
    r = MARK_SIZE
    if shape == "circle":
        return f"<circle cx='{x:.1f}' cy='{y:.1f}' r='{r}' fill='{colour}'/>"
    if shape == "square":
        side = 2 * r - 1
        return f"<rect x='{x - side / 2:.1f}' y='{y - side / 2:.1f}' width='{side}' height='{side}' fill='{colour}'/>"
    return f"<path d='M{x:.1f} {y - r:.1f}l{r} {2 * r - 1}h-{2 * r}z' fill='{colour}'/>"


def grid(x, y):
    """Lines at the ticks of both axes, and labels at the powers of ten."""
    for value, labelled in x.ticks():
        at = x.at(value)
        yield line(at, y.start, at, y.start + y.length, "#ccc" if labelled else "#eee")
        if labelled:
            yield text(at, y.start + 17, duration(value), 11)
    for value, labelled in y.ticks():
        at = y.at(value)
        yield line(x.start, at, x.start + x.length, at, "#ccc" if labelled else "#eee")
        if labelled:
            yield text(x.start - 6, at + 4, duration(value), 11, "end")


def curve(points, x, y, look):
    """The points of one series, joined; a series without a shape is a dashed line."""
    at = [(x.at(px), y.at(py)) for px, py in points]
    path = " ".join(f"{px:.1f},{py:.1f}" for px, py in at)
    dash = "" if look["shape"] else "stroke-dasharray='5 4'"
    yield f"<polyline points='{path}' fill='none' stroke='{look['colour']}' stroke-width='2' {dash}/>"
    if look["shape"]:
        yield from (mark(look["shape"], px, py, look["colour"]) for px, py in at)


def legend(looks, x, y):
    for look in looks.values():
        dash = "" if look["shape"] else "stroke-dasharray='5 4'"
        yield line(x, y, x + 26, y, look["colour"], f"stroke-width='2' {dash}")
        if look["shape"]:
            yield mark(look["shape"], x + 13, y, look["colour"])
        yield text(x + 33, y + 4, look["label"], 12, "start")
        x += 64 + 6.8 * len(look["label"])


def draw(panels, looks, title, x_label, y_label, note):
    """The SVG's text. panels: (title, {series: [(x, y)]}); looks: {series: {label, colour, shape}}; one scale."""
    points = [p for _, series in panels for line_points in series.values() for p in line_points]
    width = LEFT + len(panels) * PANEL_W + (len(panels) - 1) * GAP + 24
    height = TOP + PANEL_H + BOTTOM
    out = [f"<svg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 {width} {height}' width='{width}' height='{height}' "
           f"{FONT} fill='#222'>", f"<rect width='{width}' height='{height}' fill='white'/>"]
    out.append(text(LEFT, 24, title, 15, "start", "font-weight='bold'"))
    out += legend(looks, LEFT, 44)
    for i, (name, series) in enumerate(panels):
        x = Axis([p[0] for p in points], LEFT + i * (PANEL_W + GAP), PANEL_W)
        y = Axis([p[1] for p in points], TOP + PANEL_H, -PANEL_H)
        out.append(text(x.start + PANEL_W / 2, TOP - 8, name, 13, extra="font-weight='bold'"))
        out += grid(x, y)
        out.append(f"<rect x='{x.start}' y='{TOP}' width='{PANEL_W}' height='{PANEL_H}' fill='none' stroke='#888'/>")
        out.append(text(x.start + PANEL_W / 2, TOP + PANEL_H + 36, x_label, 12))
        for key, look in looks.items():
            if series.get(key):
                out += curve(series[key], x, y, look)
    out.append(text(14, TOP + PANEL_H / 2, y_label, 12, extra=f"transform='rotate(-90 14 {TOP + PANEL_H / 2})'"))
    out.append(text(LEFT, height - 14, note, 11, "start", "fill='#555'"))
    return "\n".join(out + ["</svg>"]) + "\n"
