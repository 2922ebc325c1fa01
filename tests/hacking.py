#!/usr/bin/env python3
"""hacking.py SOURCE BUILD: follows the sections "Add ..." of HACKING.md literally.

Each of them has an example that is in the tree already. The example is taken out of a copy of the files it names, put in again as the section
says, and must be there as before. In detail, a section says, and this test does:

    an indented path, and deeper lines below it     lines to add to that file: they are taken out and added again, and the file is complete
    an indented line that begins with '$ '          a command, which must succeed; build/ is the build's directory
    `a path in backquotes`                          is there; NAME stands for each guest (or host) that there is, * for anything
    `name()` or `NAME(...)` in backquotes           a function or macro, which is somewhere in the sources

And in all pages (README.md, HACKING.md, docs), what a link leads to is there, and so is every file that is named in backquotes.
"""
import glob, os, re, subprocess, sys, tempfile

source, build = os.path.abspath(sys.argv[1]), os.path.abspath(sys.argv[2])
SECTIONS = ['an instruction', 'a guest', 'a host', 'a system call']
failures, done = [], 0


def check_page(ok, where, what):
    global done
    done += 1
    if not ok:
        failures.append(f'FAIL: {where}: {what}')


def check(ok, section, what):
    check_page(ok, f'HACKING.md, add {section}', what)


def names(section):
    """What NAME stands for: all guests, or all hosts that programs run on."""
    if section == 'a host':
        return sorted(os.path.basename(os.path.dirname(p)) for p in glob.glob(source + '/src/run/client/host/*/start.S'))
    return re.findall(r'^ISA\((\w+)', open(source + '/src/isa/isas.def').read(), re.M)


def has_client(name):
    return re.search(rf'^ISA\({name},.*, true\)$', open(source + '/src/isa/isas.def').read(), re.M) is not None


def paths(section, text):
    """The paths that are meant, one for each NAME; of clients only those that there are."""
    of_client = section == 'a guest' and text.startswith('src/run/client/')
    chosen = [name for name in names(section) if not of_client or has_client(name)]
    return [text.replace('NAME', name) for name in chosen] if 'NAME' in text else [text]


def exists(path):
    where = build + path[len('build'):] if path.startswith('build/') else source + '/' + path
    return bool(glob.glob(where))


def sections():
    """The text of each section by its title, without the words 'in four steps'."""
    parts = re.split(r'^## (.*)\n', open(source + '/HACKING.md').read(), flags=re.M)
    titles = [re.sub(r' in \w+ steps$', '', t) for t in parts[1::2]]
    return {t[len('Add '):]: body for t, body in zip(titles, parts[2::2]) if t.startswith('Add ')}


def blocks(body):
    """(path, lines) of what is to be added, and the commands as (None, command)."""
    path, indent = None, 0
    for line in body.split('\n'):
        text, depth = line.strip(), len(line) - len(line.lstrip())
        if depth >= 7 and text.startswith('$ '):
            yield None, text[2:]
        elif depth >= 7 and re.fullmatch(r'[\w./*-]+/[\w.*-]+', text):
            path, indent = text, depth
        elif depth > indent and path and text:
            yield path, text
        else:
            path = None


def squeeze(line):
    """Columns of a table are aligned with its neighbours, which a new line need not be."""
    return re.sub(r'\s+', ' ', line.strip())


def follow_line(section, path, line):
    """Takes the line out of a copy of the file, adds it at the end, and looks whether the same lines are there as before."""
    lines = [squeeze(l) for l in open(source + '/' + path)]
    without = [l for l in lines if l != squeeze(line)]
    check(sorted(without + [squeeze(line)]) == sorted(lines), section, f'{path} with the line "{line}" is not what the tree has')


def follow_command(section, command):
    """As somebody in the source folder would; what programs leave behind goes elsewhere."""
    command = re.sub(r'\bbuild/', build + '/', command)
    with tempfile.TemporaryDirectory() as folder:
        for name in os.listdir(source):
            os.symlink(os.path.join(source, name), os.path.join(folder, name))
        result = subprocess.run(command, shell=True, cwd=folder, capture_output=True, text=True)
    check(result.returncode == 0, section, f'"{command}" ends with {result.returncode}: {(result.stdout + result.stderr)[-300:]}')


def is_in_sources(name):
    pattern = r'\b' + name + r'\b'
    return subprocess.run(['grep', '-rqP', pattern, 'src', 'include', 'tests'], cwd=source).returncode == 0


def follow(section, body):
    for path, text in blocks(body):
        if path is None:
            follow_command(section, text)
        elif exists(path):
            follow_line(section, path, text)
        else:
            check(False, section, f'there is no {path}')
    for word in re.findall(r'`([^`]+)`', body):
        if re.fullmatch(r'[\w.*-]+(/[\w.*-]+)+', word):
            for path in paths(section, word):
                check(exists(path), section, f'there is no {path}')
        elif re.fullmatch(r'\w+\(.*\)', word):
            for name in paths(section, word.split('(')[0]):
                check(is_in_sources(name), section, f'nothing in the sources is called {name}')


def anchors(page):
    """The anchors of a page's headings, as Markdown makes them."""
    titles = re.findall(r'^#+ (.*)', open(page).read(), re.M)
    return {re.sub(r'[^\w -]', '', title.lower()).strip().replace(' ', '-') for title in titles}


def check_links(page, text):
    for link in re.findall(r'\]\(([^)\s]+)\)', text):
        path, _, anchor = link.partition('#')
        to = os.path.join(source, os.path.dirname(page), path) if path else os.path.join(source, page)
        if not link.startswith('http'):
            check_page(os.path.exists(to), page, f'the link {link} leads to no file')
        if anchor and to.endswith('.md') and os.path.exists(to):
            check_page(anchor in anchors(to), page, f'the link {link} leads to no heading')


def source_files():
    """Every file of the tree that pages may name, from the tree's root on with a slash in front."""
    for folder in ('src', 'include', 'tests', 'fuzz', 'bench', 'examples', 'scripts'):
        for where, _, files in os.walk(os.path.join(source, folder)):
            yield from (os.path.join(where, name)[len(source):] for name in files)


def check_files(page, text, files):
    for name in re.findall(r'`([\w./-]+\.(?:c|h|S|cpp|hpp|def|py))`', text):
        if 'NAME' not in name:
            check_page(any(f.endswith('/' + name) for f in files), page, f'there is no file {name}')


def check_pages():
    files = list(source_files())
    for page in ['README.md', 'HACKING.md'] + sorted('docs/' + os.path.basename(p) for p in glob.glob(source + '/docs/*.md')):
        text = open(os.path.join(source, page)).read()
        check_links(page, text)
        check_files(page, text, files)


check_pages()
found = sections()
for section in SECTIONS:
    before = done
    if section in found:
        follow(section, found[section])
    check(section in found and done - before >= 5, section, 'there is no such section, or nothing in it can be followed')
print('\n'.join(failures + [f'{done - len(failures)} passed, {len(failures)} failed']))
sys.exit(bool(failures))
