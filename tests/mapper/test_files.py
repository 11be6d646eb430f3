import os
import stat
import threading

import pytest

from pencilmap.mapper.files import write_whole
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
