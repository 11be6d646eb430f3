"""Result files: cells become numbers, and the error for an unreadable file names its line."""

import pytest

from pencilmap.scripts.command_line.documents import ResultFileError, read_result, result_file, write_result


def test_units_and_spreads_become_columns_of_numbers(tmp_path):
    file = result_file(tmp_path / "page.md", "a b:c")
    write_result(file, ["name", ">time", ">ratio", ">share", ">mixed"],
                 [["x,y", "1.5 ms", "0.9 [0.8, 1.0]", "2.0 %", "1 ms"], ["z", "-", "-", "3.1 %", "2"]])
    assert file == tmp_path / "results" / "a-b-c.csv"
    assert read_result(file) == [
        {"name": "x,y", "time ms": "1.5", "ratio": "0.9", "ratio lowest": "0.8", "ratio highest": "1.0", "share %": "2.0",
         "mixed": "1 ms"},
        {"name": "z", "time ms": "", "ratio": "", "ratio lowest": "", "ratio highest": "", "share %": "3.1", "mixed": "2"}]


@pytest.mark.parametrize("content, words", [
    (b"", "it is empty"), (b"a,b\n1,2\n3\n", "line 3: 1 cells, but there are 2 columns"), (b"a\n\xff\n", "cannot be read"),
    (b'a\n"b\n', "cannot be read")])
def test_a_file_that_is_no_table_is_refused(content, words, tmp_path):
    file = tmp_path / "rows.csv"
    file.write_bytes(content)
    with pytest.raises(ResultFileError, match=words):
        read_result(file)
