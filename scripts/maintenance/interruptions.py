"""Send signals at random moments: the remains of commands after Ctrl-C, SIGTERM or SIGKILL.

    .venv/bin/python -m pencilmap.scripts.maintenance.interruptions --moments 50 --seed 1 [COMMAND...]

The program runs in its own namespaces (mounts, processes, network), so that only the command can leave anything behind;
this needs root or user namespaces. A first complete run of each command measures its time and its output. Then the command
starts again for each moment and gets one of the three signals, in turn. The command may leave no half-written file, process,
network device, named namespace, shared memory or temporary file. After SIGKILL, the next run must remove the remains. No
traceback may appear, except Python's own for Ctrl-C in the first hundredths of a second, before any of our code runs.

``interruptions setup``, alone, tests `scripts/setup` in a copy of the checkout, each time in the state after the last
signal. This needs the network, and takes a minute or two for each moment. Processes that SIGKILL leaves behind end by
themselves. At the end, a set-up must finish, and its result must work.
"""

import json
import os
import random
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path

import click

ROOT = Path(__file__).resolve().parents[2]
INSIDE = "PENCILMAP_INTERRUPTIONS"
NAMESPACES = ("unshare", "--mount", "--net", "--pid", "--fork", "--kill-child", "--mount-proc")
SET_UP = 'mount -t tmpfs tmpfs /dev/shm && mount -t tmpfs tmpfs /run && mkdir /run/netns && ip link set lo up && exec "$@"'
SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGKILL)
STATUS = {signal.SIGINT: {130, -signal.SIGINT}, signal.SIGTERM: {143, -signal.SIGTERM}, signal.SIGKILL: {-signal.SIGKILL}}
SMALL = ("--network", "4x4", "--bandwidth", "100 MB/s", "--fft", "32", "--grid", "4x4")
COMMANDS: Mapping[str, tuple[str, ...]] = {
    "discover": ("network",),
    "shapes": ("study", "shapes", "--nodes", "64", "--torus-dimensions", "2", "--bandwidth", "1 GB/s", "--fft", "128",
               "--top", "2", "--plot", "shapes.svg"),
    "simulate": ("simulate", *SMALL, "--placement", "default", "--output", "runs.jsonl"),
    "report": ("report", "given.jsonl", "--output", "page.html"),
    "validate": ("validate", "simulated", "--suite", "quick", "--at-most", "32"),
    "namespaces": ("validate", "namespaces", "--network", "2x2:mesh", "--fft", "16", "--placement", "default",
                   "--reps", "2"),
}
OURS = f"{os.sep}pencilmap{os.sep}"  # in a traceback of our code; otherwise Python itself was starting
SETUP = "setup"
LEFT_ALONE_S = 300.0  # limit for the processes that a killed set-up leaves behind, until they end
PATIENCE_S = 20.0  # limit for a process to end after a signal


def processes() -> set[int]:
    """Return all processes of this namespace but this process."""
    return {int(p.name) for p in Path("/proc").iterdir() if p.name.isdecimal()} - {os.getpid()}


def surroundings() -> dict[str, list[str]]:
    """Return everything but processes and files that a command must not leave behind."""
    devices = subprocess.run(["ip", "-o", "link"], capture_output=True, text=True, check=True).stdout
    return {"network devices": sorted(line.split(": ")[1] for line in devices.splitlines()),
            "namespaces": sorted(os.listdir("/run/netns")), "shared memory": sorted(os.listdir("/dev/shm")),
            "mounts": sorted(line.split()[1] for line in Path("/proc/self/mounts").read_text().splitlines())}


def is_whole(path: Path) -> bool:
    """Whether a file is complete."""
    text = path.read_text("utf-8")
    if path.suffix == ".jsonl":
        return text.endswith("\n") and all(isinstance(json.loads(line), dict) for line in text.splitlines())
    return text.rstrip().endswith(f"</{path.suffix[1:]}>")


class Case:
    """A command in its own folder."""

    def __init__(self, words: Sequence[str], folder: Path, record: bytes) -> None:
        self.words, self.folder, self.temporary = words, folder, folder / "temporary"
        self.temporary.mkdir(parents=True)
        (folder / "given.jsonl").write_bytes(record)
        self.given = {"given.jsonl", "temporary"}

    def start(self) -> subprocess.Popen[str]:
        command = [sys.executable, "-m", "pencilmap", *self.words]
        return subprocess.Popen(command, cwd=self.folder, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                                stderr=subprocess.PIPE, text=True, start_new_session=True,
                                env=os.environ | {"TMPDIR": str(self.temporary)})

    def written(self) -> set[str]:
        return set(os.listdir(self.folder)) - self.given

    def clear(self) -> None:
        for name in self.written():
            (self.folder / name).unlink()

    def wrong(self, before: dict[str, list[str]]) -> list[str]:
        """Return descriptions of the forbidden remains."""
        end = time.monotonic() + PATIENCE_S
        while (left := processes()) and time.monotonic() < end:
            reap()
            time.sleep(0.02)
        found = [f"process {command_of(pid)!r}" for pid in left]
        now = surroundings()
        found += [f"{kind}: {sorted(set(now[kind]) - set(names))}" for kind, names in before.items() if now[kind] != names]
        found += [f"half-written {name}" for name in self.written() if not name.startswith(".") and not is_whole(
            self.folder / name)]
        return found

    def left(self) -> list[str]:
        """Return the temporary files, in their folder and next to the output."""
        return [*(f"temporary {name}" for name in os.listdir(self.temporary)), *(
            f"temporary {name}" for name in self.written() if name.startswith("."))]


def command_of(pid: int) -> bytes:
    """Return the words of a process; none if the process has ended."""
    try:
        return Path(f"/proc/{pid}/cmdline").read_bytes()[:80]
    except OSError:
        return b""


def reap() -> None:
    """Collect orphans, which become children of this process, the first of its namespace."""
    try:
        while os.waitpid(-1, os.WNOHANG)[0]:
            pass
    except ChildProcessError:
        pass


def ended(process: subprocess.Popen[str]) -> tuple[int | None, str]:
    """Wait for a process and return its status and messages; None if the process does not end."""
    try:
        return (lambda said: (process.returncode, said))(process.communicate(timeout=PATIENCE_S)[1])
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)
        return None, process.communicate()[1]


def one_moment(case: Case, number: signal.Signals, moment: float, before: dict[str, list[str]]) -> list[str]:
    """Send a signal to a command after so many seconds; return a description of each failure."""
    process = case.start()
    try:
        process.wait(timeout=moment)
    except subprocess.TimeoutExpired:
        if number == signal.SIGINT:
            os.killpg(process.pid, number)  # as a terminal does
        else:
            process.send_signal(number)
    status, said = ended(process)
    found = case.wrong(before)
    if status is None:
        found.append("did not end")
    elif status and status not in STATUS[number]:
        found.append(f"status {status}: {said[-200:]!r}")
    if "Traceback" in said and OURS in said:
        found.append(f"traceback: {said[-300:]!r}")
    if number != signal.SIGKILL:
        found += case.left()
    return found


def whole_run(case: Case) -> float:
    """Run a command to its end and return the seconds."""
    for name in case.left():
        path = case.folder / name.removeprefix("temporary ")
        if path.exists():
            os.utime(path, (0, 0))  # the command removes old files next to its output
    start = time.monotonic()
    _, said = (process := case.start()).communicate()
    if process.returncode:
        sys.exit(f"error: {' '.join(case.words)} fails by itself: {said[-500:]}")
    return time.monotonic() - start


def try_command(name: str, folder: Path, record: bytes, moments: int, draw: random.Random) -> tuple[Counter[str], list[str]]:
    """Try all moments of a command; return the number of successes by signal, and the failures."""
    case, before, failures, well = Case(COMMANDS[name], folder, record), surroundings(), list[str](), Counter[str]()
    whole_run(case)  # keep the files that the first run compiles or builds
    case.clear()
    seconds, expected = whole_run(case), case.written()
    for n in range(moments):
        case.clear()
        number, moment = SIGNALS[n % len(SIGNALS)], draw.random() * seconds
        found = one_moment(case, number, moment, before)
        failures += [f"{name}, {number.name} after {moment:.3f} s: {what}" for what in found]
        well[number.name] += not found
        told = "; ".join(found) or "well"
        print(f"{name} {n + 1}/{moments} {number.name} after {moment:.3f} s: {told}", file=sys.stderr, flush=True)
        if case.left():
            whole_run(case)
            failures += [f"{name}, the run after {number.name} at {moment:.3f} s: {what}" for what in (
                *case.left(), *case.wrong(before), *(["not all is written"] if case.written() != expected else []))]
    return well, failures


def try_setup(folder: Path, moments: int, draw: random.Random) -> tuple[Counter[str], list[str]]:
    """Interrupt a set-up again and again in the state after the last signal; then run a set-up to its end."""
    subprocess.run(["git", "clone", "--quiet", ROOT, folder], check=True)
    (folder.parent / "temporary").mkdir()
    environment = {name: value for name, value in os.environ.items() if name not in ("PYTHONPATH", "VIRTUAL_ENV")}
    environment["TMPDIR"] = str(folder.parent / "temporary")

    said = folder.parent / "said"  # a file, because processes that survive SIGKILL hold a pipe open
    failures, well = list[str](), Counter[str]()
    for n in range(moments):
        number, moment = SIGNALS[n % len(SIGNALS)], draw.random() * 2 * 60 / (1 + n % 5)  # from the first steps to the last
        with said.open("w") as messages:
            process = subprocess.Popen(["scripts/setup"], cwd=folder, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                                       stderr=messages, start_new_session=True, env=environment)
        try:
            process.wait(timeout=moment)
            subprocess.run(["rm", "-rf", ".venv", "build"], cwd=folder, check=True)  # the set-up was complete
        except subprocess.TimeoutExpired:
            (os.killpg if number == signal.SIGINT else os.kill)(process.pid, number)
        try:
            status = process.wait(timeout=PATIENCE_S)
            found = [f"status {status}: {said.read_text()[-200:]!r}"] if status and status not in STATUS[number] else []
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            found = ["did not end"]
        end = time.monotonic() + (PATIENCE_S if number != signal.SIGKILL else LEFT_ALONE_S)
        while left := processes():
            reap()
            if time.monotonic() > end:
                found += [f"process {command_of(pid)!r}" for pid in left]
                break
            time.sleep(0.05)
        failures += [f"setup, {number.name} after {moment:.1f} s: {what}" for what in found]
        well[number.name] += not found
        print(f"setup {n + 1}/{moments} {number.name} after {moment:.1f} s: {'; '.join(found) or 'well'}", file=sys.stderr)
    done = subprocess.run(["scripts/setup"], cwd=folder, env=environment, capture_output=True, text=True)
    failures += [f"the set-up after them: {done.stderr[-500:]}"] if done.returncode else []
    for words in (".venv/bin/pencilmap --version", "build/bin/fft_runner --size 8 8 8 --grid 1x1 --verify"):
        if not done.returncode and subprocess.run(words.split(), cwd=folder, env=environment,
                                                  capture_output=True).returncode:
            failures.append(f"after them {words} fails")
    return well, failures


@click.command()
@click.argument("names", nargs=-1, type=click.Choice([*COMMANDS, SETUP]))
@click.option("--moments", default=50, show_default=True, help="Of each command.")
@click.option("--seed", default=1, show_default=True)
def main(names: tuple[str, ...], moments: int, seed: int) -> None:
    """Send signals to commands at random moments, and look for what they leave behind."""
    if SETUP in names and len(names) > 1:
        raise click.UsageError("setup needs the network that the others must not have; name it alone")
    if INSIDE not in os.environ:
        as_root = [] if os.getuid() == 0 else ["--map-root-user"]
        options, first = (NAMESPACES, SET_UP) if SETUP not in names else (
            [word for word in NAMESPACES if word != "--net"], 'exec "$@"')
        os.execvpe("unshare", [options[0], *as_root, *options[1:], "sh", "-c", first, "-", *sys.orig_argv],
                   os.environ | {INSIDE: "1"})
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))  # otherwise the first process of a namespace ignores the signal
    bad = 0
    if SETUP in names:
        with tempfile.TemporaryDirectory() as folder:
            well, failures = try_setup(Path(folder, "checkout"), moments, random.Random(seed))
        print(f"setup: {moments} moments, {sum(well.values())} went well", *failures, sep="\n  ")
        sys.exit(bool(failures))
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run([sys.executable, "-m", "pencilmap", *COMMANDS["simulate"]], check=True, cwd=folder,
                       stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        text = Path(folder, "runs.jsonl").read_bytes()
        for name in names or COMMANDS:
            well, failures = try_command(name, Path(folder, name), text, moments, random.Random(f"{seed} {name}"))
            bad += len(failures)
            each = ", ".join(f"{kind} {number}" for kind, number in well.items())
            print(f"{name}: {moments} moments, {sum(well.values())} went well ({each})", *failures, sep="\n  ", flush=True)
    print(f"interruptions: {bad} failures")
    sys.exit(bad > 0)


if __name__ == "__main__":
    main()
