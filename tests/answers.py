"""The form of an answer: a verdict in the first two lines, few lines and notes, a unit at each number, no retired word."""

import re
from collections.abc import Iterator

LINES, COLUMNS, NOTES = 24, 80, 3
JUDGES = ("map", "plan", "predict", "check", "report", "draw", "study demo", "study reproduce")
FACTOR = r"\d+\.\d\dx"
TIME = r"[\d.]+(?: \[[\d.e+]+, [\d.e+]+\])? m?s"
VERDICT = re.compile(rf"{FACTOR} (?:to {FACTOR} )?(?:faster|slower)|gains {FACTOR}|as fast as|no file is needed|"
                     rf"cannot help|is valid|\d+ of \d+|{TIME} to {TIME}|nothing is faster|no placement is faster|"
                     r"placements are alike|takes? [\d.]+ |in the same places|, the fastest |x less on the busiest link|"
                     r"nodes in segments of ", re.IGNORECASE)
NO_VERDICT = re.compile(r"&& echo|^report .*jsonl|^draw .*(?:-o|--output) ")  # records, files
RETIRED = {  # words that an answer does not use: the words in their place
    "to limit": "could gain", "proved least": "could gain", "proved limit": "proved", "certificate": "could gain",
    "load 1 is": "times the data of a node", "scale of m": "a unit", "and not in it": "a note",
    "best so far": "a quick look",
    "default:": "the launcher's name", "digits:": "the name of the order", "usual launch order": "block order",
    "in sequence": "one exchange after the other", "slowest link": "busiest link", "measure also": "too near to tell",
    "without a search": "a quick look", "launch with:": "launch", "needs:": "needs", "e+0": "a larger unit"}
FORMS = {  # retired forms
    "a recommendation that is no sentence": re.compile(r"^take \S+x\S+ ", re.MULTILINE),
    "a file with the word file:": re.compile(r"\bfile:\S+\.\w+"),
    "a gain in percent": re.compile(r"-\d+ %|% (?:faster|slower|above)"),
    "a load without a unit": re.compile(r"(?:carries|carry|load of) [\d.]+(?! ?(?:MB|GB|kB|times|of|B\b))")}


def faults(command: str, text: str) -> Iterator[str]:
    """Yield what is wrong with the output `text` of a command line; ``...`` stands for lines that are left out."""
    lines, is_cut = text.rstrip("\n").split("\n"), "..." in text.split("\n")
    name = command.removeprefix("pencilmap ")
    if not text.strip():
        return
    wide = "--wide" in command or "--notes" in command or "--terms" in command
    if len(lines) > LINES and not wide:
        yield f"{len(lines)} lines"
    yield from (f"{len(line)} columns: {line}" for line in lines if len(line) > COLUMNS)
    if lines[0].startswith("error: "):
        if [line[:6] for line in lines if line.startswith(("error:", "help: "))] != ["error:", "help: "]:
            yield "an error is a line error: and a line help:"
    elif not is_cut and name.startswith(JUDGES) and not NO_VERDICT.search(name):
        if not VERDICT.search(" ".join(lines[:4])):
            yield f"no verdict in the first sentence: {lines[0]}"
        if not re.match(r"[\w./'-]+ ", lines[0]):
            yield f"the first line is no sentence: {lines[0]}"
    if not wide and sum(line.lstrip().startswith(("note  ", "warning")) for line in lines) > NOTES:
        yield "too many notes"
    yield from (f"{word!r}; write {instead}" for word, instead in RETIRED.items() if word in text)
    yield from (f"{meaning}: {found[0]!r}" for meaning, form in FORMS.items() for found in form.finditer(text))
