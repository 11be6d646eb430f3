import fcntl
import os
import resource
import stat
import subprocess
import sys
import threading
from contextlib import contextmanager

import pytest

from pencilmap.mapper.base.files import append_whole, check_appendable, check_writable, temporary_folder, write_whole
from pencilmap.model.base.errors import MapfileError
from pencilmap.model.base.reading import noting_inputs, read_whole
from tests.patience import patience


def test_what_is_not_a_file_is_written_to_and_not_replaced(tmp_path):
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    heard = []
    reader = threading.Thread(target=lambda: heard.append(pipe.read_bytes()), daemon=True)
    reader.start()
    write_whole(pipe, "0 0 0 0\n")
    reader.join(10)
    assert heard == [b"0 0 0 0\n"]
    assert stat.S_ISFIFO(pipe.stat().st_mode)


def test_a_link_stays_and_the_file_behind_it_is_replaced(tmp_path):
    target, link = tmp_path / "placements" / "best.map", tmp_path / "current.map"
    target.parent.mkdir()
    target.write_text("old")
    link.symlink_to(target)
    write_whole(link, "new")
    assert link.is_symlink() and target.read_text() == "new"
    assert os.listdir(target.parent) == ["best.map"]


@contextmanager
def file_limit(size):
    """Limit the size of all files, in bytes."""
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, limits[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)


def test_asked_before_the_work_and_nothing_is_left(tmp_path):
    check_writable(tmp_path / "a.map")
    check_writable("/dev/stdout")
    assert os.listdir(tmp_path) == []
    with pytest.raises(MapfileError, match="cannot be written: No such file or directory"):
        check_writable(tmp_path / "nowhere" / "a.map")
    with file_limit(0), pytest.raises(MapfileError, match="cannot be written: File too large"):  # stands for a full disk
        check_writable(tmp_path / "a.map")
    assert os.listdir(tmp_path) == []


def test_asked_before_something_is_appended_and_nothing_is_made(tmp_path):
    path = tmp_path / "r"
    check_appendable(path)
    assert os.listdir(tmp_path) == []
    path.write_text("first\n")
    os.mkfifo(tmp_path / "pipe")
    check_appendable(path)
    check_appendable("/dev/stdout")
    check_appendable(tmp_path / "pipe")
    assert path.read_text() == "first\n"
    for wrong, why in ((tmp_path, "Is a directory"), (path / "r", "Not a directory"), (tmp_path / "no" / "r", "No such")):
        with pytest.raises(MapfileError, match=f"cannot be written: {why}"):
            check_appendable(wrong)


@pytest.mark.parametrize("words", [
    ("map", "-m", "bluegene-l", "-g", "8x64", "-f", "bgl"), ("draw", "-m", "bluegene-l", "-g", "8x64"),
    ("study", "calibrate", "--published", "bluegene-l"), ("report", "runs.jsonl"), ("map", "--from", "a.map", "-m",
                                                                                    "bluegene-l"),
    ("study", "shapes", "-N", "64", "-d", "2", "-n", "64", "--bandwidth", "1 GB/s")])
def test_commands_ask_before_they_search(words, pencilmap, tmp_path, monkeypatch):
    monkeypatch.setattr("pencilmap.scripts.command_line.commands.map.place", lambda *_: pytest.fail("searched"))
    monkeypatch.setattr("pencilmap.scripts.command_line.commands.calibrate.calibrate", lambda *_: pytest.fail("fitted"))
    for name in ("scripts.command_line.commands.report.read_entries", "mapper.formats.read_document",
                 "scripts.command_line.commands.shapes.scale"):
        monkeypatch.setattr(f"pencilmap.{name}", lambda *_, **__: pytest.fail("worked"))
    suffix = {"calibrate": "toml", "report": "html", "draw": "svg", "shapes": "svg"}.get(words[words[0] == "study"], "map")
    option = "--plot" if words[1] == "shapes" else "-o"
    status, _, err = pencilmap(*words, option, tmp_path / "nowhere" / f"a.{suffix}")
    assert status in (1, 2) and "cannot be written" in " ".join(err.split())


def test_what_several_append_at_once_stays_whole(tmp_path):
    lines = [str(i) * 100_000 + "\n" for i in range(8)]

    def often(line):
        for _ in range(5):
            append_whole(tmp_path / "r", line)

    threads = [threading.Thread(target=often, args=[line]) for line in lines]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    assert sorted((tmp_path / "r").read_text().splitlines(keepends=True)) == sorted(5 * lines)


def test_what_a_killed_process_left_is_removed_and_what_another_writes_now_is_not(tmp_path):
    path = tmp_path / "a[1].map"
    killed = ("import os, sys; from pencilmap.mapper.base.files import write_whole; "
              "os.replace = lambda *_: os.kill(os.getpid(), 9); write_whole(sys.argv[1], 'half')")
    done = subprocess.run([sys.executable, "-c", killed, path], timeout=patience(60))
    [left] = tmp_path.iterdir()
    assert done.returncode == -9
    busy = tmp_path / ".a[1].map.busy.pencilmap-aside"
    assert left.name.startswith(".a[1].map.") and left.suffix == busy.suffix
    linked, elsewhere = tmp_path / ".a[1].map.linked.pencilmap-aside", tmp_path / "elsewhere"
    elsewhere.write_text("")
    os.utime(elsewhere, (0, 0))
    linked.symlink_to(elsewhere)
    with open(busy, "w") as other:
        fcntl.flock(other, fcntl.LOCK_EX)
        write_whole(path, "whole")
        assert left.exists(), "too young"
        for each in (left, busy):
            os.utime(each, (0, 0))
        write_whole(path, "whole")
    assert {each.name for each in tmp_path.iterdir()} == {"a[1].map", busy.name, linked.name, "elsewhere"}


def test_only_folders_that_are_marked_by_a_file_of_ours_are_removed(tmp_path):
    """A mark that is a link belongs to another user; a locked mark is in use."""
    target = tmp_path / "target"
    target.write_text("")
    for name in ("pencilmap-left", "pencilmap-linked", "pencilmap-used", "another"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "work").write_text("")
        if name != "pencilmap-linked":
            (tmp_path / name / ".in-use").write_text("")
    (tmp_path / "pencilmap-linked" / ".in-use").symlink_to(target)
    with open(tmp_path / "pencilmap-used" / ".in-use") as used:
        fcntl.flock(used, fcntl.LOCK_EX)
        with temporary_folder(str(tmp_path)) as mine:
            assert mine.parent == tmp_path and os.listdir(mine) == [".in-use"]
            there = set(os.listdir(tmp_path))
            assert there == {"target", "pencilmap-linked", "pencilmap-used", "another", mine.name}
    assert set(os.listdir(tmp_path)) == {"target", "pencilmap-linked", "pencilmap-used", "another"}


def test_a_file_with_two_names_keeps_both_and_its_content_if_there_is_no_room(tmp_path):
    path, other = tmp_path / "a.map", tmp_path / "b.map"
    path.write_text("old and longer")
    other.hardlink_to(path)
    write_whole(path, "new")
    assert other.read_text() == "new" and other.samefile(path)
    with file_limit(1000), pytest.raises(MapfileError, match="cannot be written: File too large"):
        write_whole(path, 2000 * "x")
    assert other.read_text() == "new"


@pytest.mark.parametrize("write", [write_whole, append_whole, lambda path, text: check_writable(path),
                                   lambda path, text: check_appendable(path)])
def test_protected_files_and_inputs_stay(tmp_path, write):
    path, link, other = tmp_path / "a b", tmp_path / "link", tmp_path / "other"
    path.write_text("old")
    link.symlink_to(path)
    other.hardlink_to(path)
    with noting_inputs():
        read_whole(other, MapfileError)
        for name in (path, link, other):
            with pytest.raises(MapfileError, match="it is an input of this command; name another file"):
                write(name, "new")
    path.chmod(0o444)
    with pytest.raises(MapfileError, match=r"it is write-protected; .* chmod u\+w '.*/a b'"):
        write(path, "new")
    assert path.read_text() == "old"


@pytest.mark.parametrize("write", ["write_whole", "append_whole"])
def test_standard_output_that_is_a_file_keeps_the_lines_before_and_after(tmp_path, write):
    code = f"from pencilmap.mapper.base.files import {write} as w; print('1'); w('/dev/stdout', '2\\n'); print('3')"
    with open(tmp_path / "out", "w") as out:
        subprocess.run([sys.executable, "-c", code], stdout=out, check=True, timeout=patience(60))
    assert (tmp_path / "out").read_text() == "1\n2\n3\n"


def test_a_pipe_that_nobody_reads_and_a_disk_are_refused(tmp_path, monkeypatch):
    monkeypatch.setattr("pencilmap.mapper.base.files.READER_S", 0.0)
    os.mkfifo(tmp_path / "pipe")
    for write in (write_whole, append_whole):
        with pytest.raises(MapfileError, match="it is a pipe that nobody reads"):
            write(tmp_path / "pipe", "text")
    state = os.stat_result((stat.S_IFBLK | 0o660, *[0] * 9))
    monkeypatch.setattr(os, "stat", lambda path: state)
    with pytest.raises(MapfileError, match="Is a disk"):
        write_whole("/dev/sda", "text")
