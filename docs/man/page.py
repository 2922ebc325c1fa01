#!/usr/bin/env python3
"""page.py IN.md NAME DATE: the manual page of a tool, made of its page in docs/tools, so that there is one text of it. Tools take the title 'tool: what it does' as their
first line; of Markdown they use headings, paragraphs, lists, code, tables and links, and nothing else may come."""
import re
import sys

LONG_CELL = 30  # characters: a longer cell of a table has several lines


def escape(text):
    """Text as troff reads it."""
    return text.replace("\\", "\\e").replace("-", "\\-").replace("…", "...")


def inline(text):
    """Text with its code in bold and without the addresses of links."""
    text = escape(re.sub(r"!?\[([^]]*)\]\([^)]*\)", r"\1", text))
    text = re.sub(r"`([^`]*)`", r"\\fB\1\\fP", text)
    text = re.sub(r"\*\*([^*]+)\*\*", r"\\fB\1\\fP", text)
    text = re.sub(r"(?<![*\w])\*([^*]+)\*(?![*\w])", r"\\fI\1\\fP", text)
    return protect(text)


def protect(line):
    """A line that begins with a point or an apostrophe would be a request."""
    return "\\&" + line if line[:1] in (".", "'") else line


def cells(row):
    return [cell.strip() for cell in row.strip().strip("|").split("|")]


def table(rows):
    """A table whose first column is of options becomes a list; any other one is tbl's."""
    head, body = cells(rows[0]), [cells(row) for row in rows[2:]]
    if head[0] == "option" and len(head) == 2:
        return [line for option, text in body for line in (".TP", inline(option), inline(text))]
    wide = [max(len(row[number]) for row in [head] + body) > LONG_CELL for number in range(len(head))]
    out = [".TS", "tab(\t);", " ".join("lx" if w else "l" for w in wide) + "."]
    for row in [head] + body:
        out.append("\t".join(f"T{{\n{inline(cell)}\nT}}" if w else inline(cell) for w, cell in zip(wide, row)))
    return out + [".TE"]


def convert(lines):
    out, at = [], 0
    while at < len(lines):
        line = lines[at]
        if line.startswith("```"):
            end = lines.index("```", at + 1)
            out += [".PP", ".RS 2", ".nf", *(protect(escape(code)) for code in lines[at + 1 : end]), ".fi", ".RE"]
            at = end
        elif line.startswith("|"):
            end = at
            while end < len(lines) and lines[end].startswith("|"):
                end += 1
            out += table(lines[at:end])
            at = end - 1
        elif line.startswith("#"):
            out += [".SH " + inline(line.lstrip("# ")).upper().replace("\\FB", "").replace("\\FP", "")]
        elif line.startswith("- "):
            out += [".IP \\(bu 2", inline(line[2:])]
        elif line.startswith("  ") and line.strip():
            out += [inline(line.strip())]
        elif line.strip():
            if at == 0 or not lines[at - 1].strip():
                out += [".PP"]
            out += [inline(line)]
        at += 1
    return out


def main():
    path, name, date = sys.argv[1:]
    with open(path, encoding="utf-8") as f:
        lines = f.read().splitlines()
    title = re.fullmatch(r"# (\w+): (.*)", lines[0])
    if not title:
        sys.exit(f"{path}: its first line is not '# tool: what it does'")
    page = [
        "'\\\" t",
        f".TH LATHE\\-TOOL\\-{title[1].upper()} 7 \"{date}\" Lathe",
        ".SH NAME",
        f"{name.replace('-', chr(92) + '-')} \\- {inline(title[2])}",
        ".SH SYNOPSIS",
        f"\\fBlathe run \\-\\-tool={title[1]}\\fP[,\\fIKEY\\fP=\\fIVALUE\\fP]... \\fB\\-\\-\\fP \\fIPROG\\fP [\\fIARG\\fP]...",
        ".SH DESCRIPTION",
    ]
    page += convert(lines[1:]) + [".SH SEE ALSO", "\\fBlathe\\-run\\fP(1), \\fBlathe\\-tool\\fP(1)"]
    print("\n".join(page))


if __name__ == "__main__":
    main()
