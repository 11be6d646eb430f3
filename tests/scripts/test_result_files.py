"""Result files: cells become numbers."""

from pencilmap.scripts.command_line.documents import result_file, write_result
from tests.documents import read_result


def test_units_and_spreads_become_columns_of_numbers(tmp_path):
    file = result_file(tmp_path / "page.md", "a b:c")
    write_result(file, ["name", ">time", ">ratio", ">share", ">mixed"],
                 [["x,y", "1.5 ms", "0.9 [0.8, 1.0]", "2.0 %", "1 ms"], ["z", "-", "-", "3.1 %", "2"]])
    assert file == tmp_path / "results" / "a-b-c.csv"
    assert read_result(file) == [
        {"name": "x,y", "time ms": "1.5", "ratio": "0.9", "ratio lowest": "0.8", "ratio highest": "1.0", "share %": "2.0",
         "mixed": "1 ms"},
        {"name": "z", "time ms": "", "ratio": "", "ratio lowest": "", "ratio highest": "", "share %": "3.1", "mixed": "2"}]
