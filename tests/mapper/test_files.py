import os
import stat
import threading

import pytest

from pencilmap.mapper.files import check_writable, write_whole
from pencilmap.model.errors import MapfileError


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


@pytest.mark.parametrize("path", [".", ""])
def test_a_folder_is_refused(tmp_path, monkeypatch, path):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(MapfileError, match="directory"):
        write_whole(path, "text")
    assert os.listdir(tmp_path) == []


def test_asked_before_the_work_and_nothing_is_left(tmp_path):
    check_writable(tmp_path / "a.map")
    check_writable("/dev/stdout")
    assert os.listdir(tmp_path) == []
    with pytest.raises(MapfileError, match="cannot be written: No such file or directory"):
        check_writable(tmp_path / "nowhere" / "a.map")


@pytest.mark.parametrize("words", [
    ("map", "-m", "bluegene-l", "-g", "8x64", "-f", "bgl"), ("draw", "-m", "bluegene-l", "-g", "8x64"),
    ("calibrate", "--published", "bluegene-l")])
def test_commands_ask_before_they_search(words, pencilmap, tmp_path, monkeypatch):
    monkeypatch.setattr("pencilmap.mapper.setting.Setting.place", lambda *_: pytest.fail("searched"))
    monkeypatch.setattr("pencilmap.scripts.command_line.commands.calibrate.calibrate", lambda *_: pytest.fail("fitted"))
    suffix = {"map": "map", "draw": "svg", "calibrate": "toml"}[words[0]]
    status, _, err = pencilmap(*words, "-o", tmp_path / "nowhere" / f"a.{suffix}")
    assert status == 2 and "cannot be written" in " ".join(err.split())
