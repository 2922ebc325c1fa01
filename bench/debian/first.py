"""first.py: long runs with an empty cache, in times of the same runs when all is warm: `bench-debian --first`."""
import shutil

import work
from measuring import Run
from ways import environment

TIMES = 12  # the work of the usual table: most programs take 4 s or more natively
LATER_RUNS = 4  # the last two of them are warm


def first_and_warm(command, env):
    """CPU seconds of the first run and of a warm one, and whether they did the same."""
    shutil.rmtree(env["XDG_CACHE_HOME"], ignore_errors=True)
    first = Run(command, env)
    later = [Run(command, env) for _ in range(LATER_RUNS)]
    return first.cpu, min(run.cpu for run in later[-2:]), all(run.same_as(first) for run in later)


def run_first(options, ways, folder):
    """Prints the table; the ratios, and how many programs did not do the same each time."""
    native, way = ways[:2]
    env, ratios, failed = environment(folder), [], 0
    print(f"{'':12} {'native s':>8} {'first':>9} {'warm':>9} {'first/warm':>11}", flush=True)
    for name, program in work.programs(options.guest, folder).items():
        commands = [native.command(program), way.command(program)]
        if (options.only and name not in options.only.split(",")) or not all(commands):
            continue
        plain = Run(commands[0], env)
        first, warm, same = first_and_warm(commands[1], env)
        failed += not same
        ratios.append(first / warm)
        row = f"{name:12} {plain.cpu:8.2f} {first / plain.cpu:9.2f} {warm / plain.cpu:9.2f} {first / warm:11.2f}"
        print(row + ("" if same else "  RESULTS DIFFER"), flush=True)
    return ratios, failed
