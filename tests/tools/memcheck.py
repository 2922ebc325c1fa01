#!/usr/bin/env python3
"""memcheck.py LATHE FAULTY SOURCE [native]: memcheck reports each mistake of faulty.cpp, once, at its function and line, with the block that is near;
and nothing where there is none. native: the same with a C library that has no symbols but those of the dynamic linker; programs of the system are silent, and
lose what valgrind says."""
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile

lathe, faulty, source, *native = sys.argv[1:]
lathe, faulty = os.path.realpath(lathe), os.path.realpath(faulty)
failed = False


def fail(text):
    global failed
    failed = True
    print("FAIL:", text)


def watch(tool, *command):
    """What memcheck says, and what the program prints, and its status."""
    done = subprocess.run([lathe, "run", "--tool=memcheck" + tool, "--", *command], capture_output=True)
    return done.stderr.decode(errors="replace"), done.stdout, done.returncode


def lines_of(path):
    """The line of each function with a mistake."""
    lines, function = {}, None
    for number, line in enumerate(open(path), 1):
        begin = re.match(r"static .*?\b(\w+)\(.*\) {$", line)
        if begin:
            function = begin[1]
        if line.rstrip().endswith("// here"):
            lines[function] = number
    return lines


def reports_of(text):
    """Reports by the announced function, and those at the end; the number of the process is left out."""
    reports, name = {}, ""
    for line in text.splitlines():
        if line.startswith("case "):
            name = line[5:]
            continue
        said = re.sub(r"^==\d+== ?", "", line)
        if not said:
            reports.setdefault(name, []).append([])
        elif reports.get(name):
            reports[name][-1].append(said)
    return reports


def first_frame(report):
    """The innermost frame that is in the source."""
    for line in report:
        found = re.match(r"   (?:at|by) 0x[0-9a-f]+: (\w+).*\(faulty\.cpp:(\d+)\)", line)
        if found:
            return found[1], int(found[2])
    return None


def check_report(case, report, near, function, line):
    if first_frame(report) != (function, line):
        fail(f"{case}: at {first_frame(report)} instead of {function}, line {line}: {report}")
    if near and not any(near in text for text in report):
        fail(f"{case}: does not say '{near}': {report}")


def check_bad(expected, lines):
    text, _, status = watch(",error-exitcode=9", faulty, "bad")
    if status != 9:
        fail(f"status {status} instead of 9")
    reports = reports_of(text)
    at_end = [r for name in reports for r in reports[name] if any("definitely lost" in t and "bytes in" in t and ":" not in t for t in r[:1])]
    for case, said, near, function in expected:
        is_leak = "lost" in said
        own = at_end if is_leak else [r for r in reports.get(case, []) if r not in at_end and "SUMMARY" not in "".join(r[:1])]
        own = [r for r in own if r and (not is_leak or r[0] == said)]
        if len(own) != bool(said):
            fail(f"{case}: {len(own)} reports: {own}")
        for report in own:
            if not report[0].startswith(said):
                fail(f"{case}: '{report[0]}' instead of '{said}'")
            check_report(case, report, near, function, lines.get(function))
    count = sum(bool(said) for _, said, _, _ in expected)
    if f"from {count} contexts" not in text:
        fail(f"not {count} contexts: {text[-200:]}")
    return count


def check_good():
    text, _, status = watch("", faulty, "good")
    rest = [line for line in text.splitlines() if not line.startswith("case ")]
    if status != 7 or not rest or "ERROR SUMMARY: 0 errors" not in rest[-1] or any("lid" in line for line in rest):
        fail(f"good: status {status}: {rest}")
    if not any("definitely lost: 0 bytes" in line or "in use at exit: 0 bytes" in line for line in rest):
        fail(f"good: something is lost: {rest}")


def check_null(lines):
    """A report comes before the fault."""
    text, _, status = watch("", faulty, "null")
    report = reports_of(text).get("", [[]])[0]
    if status != -signal.SIGSEGV or report[:1] != ["Invalid read of size 8"]:
        fail(f"null: status {status}: {text}")
    check_report("null", report, "Address 0x0 is not in a block", "read_null", lines["read_null"])


def check_silent(directory):
    """Programs of the system: nothing is found, and they do what they do."""
    text = os.path.join(directory, "text")
    with open(text, "w") as out:
        out.writelines(f"line {i * 7919 % 1000} of some text\n" for i in range(300))
    for command in (["ls", "-l", "/usr"], ["grep", "-c", "7.*9", text], ["sort", text], ["gzip", "-c", text],
                    ["bash", "-c", "for i in 1 2 3; do a=$a$i; done; echo $a | cat"], ["perl", "-e", "print join ',', sort map { $_ * 7 % 11 } 1 .. 20"],
                    ["/usr/bin/python3", "-S", "-c", "print(sorted({i * 7 % 11: str(i) for i in range(50)}.items()))"],
                    ["sqlite3", ":memory:", "create table t(a, b); insert into t values(1, 'x'), (2, 'y'); select sum(a), max(b) from t;"]):
        native = subprocess.run(command, capture_output=True)
        said, out, status = watch(",quiet,leak-check=no", *command)
        if (out, status) != (native.stdout, native.returncode) or said != native.stderr.decode(errors="replace"):
            fail(f"{command}: status {status}, says: {said[:1000]}")


def lost(text):
    """How much is lost, as both tools say it."""
    return sorted(re.findall(r"== ([\d,]+(?: \([^)]*\))? bytes in [\d,]+ blocks) are definitely lost", text))


def check_losses():
    """What programs lose is what valgrind finds."""
    for command in (["expr", "3", "+", "4"], ["stat", "/"], ["date", "-d", "2020-01-01"], ["sort", "/dev/null"]):
        theirs = subprocess.run(["valgrind", "--leak-check=full", *command], capture_output=True, text=True).stderr
        ours = watch("", *command)[0]
        if lost(theirs) != lost(ours):
            fail(f"{command}: loses {lost(ours)} instead of {lost(theirs)}")


def sort_in_lua(count, after):
    """What the run counted; None: it failed, and that was said."""
    work = f"t = {{}}; for i = 1, {count} do t[i] = tostring(i * 7907 % 10007) end; table.sort(t); print(#table.concat(t))"
    done = subprocess.run([lathe, "run", "--tool=memcheck,quiet", f"--hot-after={after}", "--compile-after=0", "--stats=json", "--", "lua5.4", "-e", work], capture_output=True)
    said = done.stderr.decode().splitlines()
    if done.returncode or done.stdout != subprocess.run(["lua5.4", "-e", work], capture_output=True).stdout or len(said) != 1:
        fail(f"lua5.4: status {done.returncode}, says {said[:20]}")
        return None
    return json.loads(said[0])


def check_kept():
    """What was compiled is in the cache for later runs, though functions of the C library have names that only a run knows. The last run has nothing that is hot for the first time."""
    count, compiled = 30000, 0
    while not compiled and count < 10**7: # how much work takes until some of it is seen to be hot depends on the machine
        count *= 2
        counts = sort_in_lua(count, 2)
        if not counts:
            return
        compiled = counts["translated"] - counts["refused"]
    for after in (2, 1000000):
        for _ in range(10): # on a busy machine a run may end before all of it was loaded
            counts = sort_in_lua(count, after)
            if not counts:
                return
            known = compiled
            compiled += counts["translated"] - counts["refused"]
            if counts["from_cache"] >= known:
                break
        else:
            fail(f"{known} functions were compiled, and {counts['from_cache']} are found")
    if not compiled or counts["translated"]:
        fail(f"{compiled} functions were compiled, {counts['translated']} of them again")


def strip_libraries(directory):
    """Copies of the libraries without what debuggers know."""
    for line in subprocess.run(["ldd", faulty], capture_output=True, text=True, check=True).stdout.splitlines():
        path = re.search(r"=> (/\S+)", line)
        if path:
            subprocess.run(["objcopy", "--strip-all", "--remove-section=.note.gnu.build-id", path[1], os.path.join(directory, os.path.basename(path[1]))], check=True)


expected = [line.split("|") for line in subprocess.run([lathe, "run", "--", faulty, "list"], capture_output=True, text=True).stdout.splitlines()]
with tempfile.TemporaryDirectory() as directory:
    os.environ["LATHE_CACHE"] = os.path.join(directory, "cache")
    os.environ.pop("LATHE_TOOL", None)
    count = check_bad(expected, lines_of(source))
    check_good()
    check_null(lines_of(source))
    if native:
        check_silent(directory)
        check_kept()
        if shutil.which("valgrind"):
            check_losses()
        else:
            print("valgrind is missing: losses are not compared")
        strip_libraries(directory)
        os.environ["LD_LIBRARY_PATH"] = directory
        check_bad(expected, lines_of(source))
        check_good()
print(f"{count} mistakes" if not failed else "failed")
sys.exit(failed)
