"""Texts from other programs at the limits: the longest accepted line and number, and the next longer one; all kinds of
line ends; positions in errors."""

import numpy as np
import pytest

from pencilmap.mapper.formats import lines
from pencilmap.mapper.formats.lines import MAX_DIGITS, MAX_LINE, Document, is_integer
from pencilmap.model.base.errors import MapfileError


def refused(call, *arguments, **more):
    with pytest.raises(MapfileError) as error:
        call(*arguments, **more)
    return str(error.value)


def test_a_line_of_4096_characters_is_read_and_one_of_4097_is_not():
    longest = b"7" + b" " * (MAX_LINE - 1)
    assert Document(b"1\n" + longest, "m").lines() == [(1, "1"), (2, longest.decode())]
    said = refused(Document(b"1\n" + longest + b" ", "m").lines)
    assert said == "m line 2: 4097 characters long; at most 4096 are read"
    assert refused(Document(b"#" + longest, "m").lines).startswith("m line 1: 4097")  # a comment, too
    assert Document(longest + b"77", "m").lines(longest=None) == [(1, longest.decode() + "77")]
    assert Document(b"1 2 3", "m").lines(longest=5) and "5 characters" in refused(Document(b"1 2 3", "m").lines, longest=4)


def test_files_and_lists_are_bounded(monkeypatch, tmp_path):
    monkeypatch.setattr(lines, "MOST_BYTES", 6)
    monkeypatch.setattr(lines, "MAX_PLACES", 3)
    assert len(Document(b"1\n2\n3\n", "m").lines()) == 3
    assert refused(Document, b"1\n2\n3\n4", "m") == "m is longer than 6 bytes; that is not a placement file"
    monkeypatch.setattr(lines, "MOST_BYTES", 99)
    assert refused(Document(b"1\n2\n\n3\n4\n5", "m").lines) == "m line 5: more than 3 lines; that is not a placement file"


def test_marks_that_launchers_take_for_names_are_refused_where_they_are():
    marked, returned = Document(b"\xef\xbb\xbfa\n", "m"), Document(b"a\nb\nc\r\nd\r\n", "m")
    assert marked.lines() == [(1, "a")] and refused(marked.refuse_marks, "srun") == (
        "m line 1: begins with a byte order mark, which srun does not read; dos2unix m repairs the file")
    assert refused(returned.refuse_marks, "srun") == (
        "m line 3: a carriage return, which srun does not take for an end of line; dos2unix m repairs the file")
    assert refused(Document(b"a\rb\n", "m").refuse_marks, "srun").endswith("an end of line; write a line feed")
    returned.refuse_marks("srun", returns=False)
    Document(b"a\nb\n", "m").refuse_marks("srun")


@pytest.mark.parametrize("word, is_one", [
    ("0", True), ("+7", True), ("-12", True), ("9" * MAX_DIGITS, True), ("-" + "9" * MAX_DIGITS, True),
    ("9" * (MAX_DIGITS + 1), False), ("0" * MAX_DIGITS + "1", False), ("", False), ("-", False), ("+-1", False),
    ("1.0", False), ("1e3", False), ("0x1", False), ("٣", False), ("1 2", False), ("1_0", False)])
def test_integers_have_at_most_twelve_digits(word, is_one):
    assert is_integer(word) == is_one


@pytest.mark.parametrize("text, numbers, table", [
    ("1 2\n3 4\n", [1, 2], [[1, 2], [3, 4]]), ("\n 1\t-2\r\n\r\n+3 4", [2, 4], [[1, -2], [3, 4]]),
    ("1 2 # one\n3 4", [1, 2], [[1, 2], [3, 4]]),
    (f"{'9' * 12} 0\n-{'9' * 12} 0", [1, 2], [[10**12 - 1, 0], [1 - 10**12, 0]]),
    ("", [], np.zeros((0, 2)).tolist())])
def test_tables_of_integers_are_read_as_a_whole_or_line_by_line(text, numbers, table):
    found, where = Document(text.encode(), "m").integers(2, "x y")
    assert found.dtype == np.int64 and found.tolist() == table and list(where) == numbers and found.shape[1] == 2


@pytest.mark.parametrize("text, words", [
    ("1 2\n3\n", "m line 2: 1 columns, but 2 are needed (x y)"), ("1 2 3\n4 5 6\n", "m line 1: 3 columns, but 2 are needed"),
    ("1 2\n3 4 5\n", "m line 2: 3 columns"), ("1\n2\n", "m line 1: 1 columns"),
    ("1 2\n3 +-4\n", "m line 2 column 3: '+-4' is not"), ("1 2\n- 4\n", "m line 2 column 1: '-' is not an integer (x y)"),
    ("1 2 # a\n3 b", "m line 2 column 3: 'b' is not an integer"),
    (f"1 {'9' * 13}", "m line 1 column 3: '9999999999999' is not an integer"), ("5-3 1", "m line 1 column 1: '5-3' is not"),
    (f"1 {'a' * 30}", f"column 3: '{'a' * 20}' is not"), ("\n\n1 2\n3\n", "m line 4: 1 columns")])
def test_tables_that_are_none_are_refused_at_their_place(text, words):
    assert words in refused(Document(text.encode(), "m").integers, 2, "x y")
