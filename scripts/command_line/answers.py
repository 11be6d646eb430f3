"""The first lines of an answer: which placement to use, how much faster it is, and what no placement can exceed."""

from dataclasses import dataclass, replace

from pencilmap.mapper.base.search import EFFORTS
from pencilmap.mapper.choose import MUCH, faster_choice, faster_choices
from pencilmap.mapper.choose.choices import Choice
from pencilmap.mapper.place import place
from pencilmap.mapper.placements import BEST
from pencilmap.mapper.placements.best import is_searched
from pencilmap.model.base.errors import RoutingError
from pencilmap.model.base.units import capitalised
from pencilmap.model.decompositions import PENCIL
from pencilmap.model.kinds import kind_of
from pencilmap.model.placement.allocation import Mapping
from pencilmap.model.placement.grid import LIBRARIES, USUAL, Library, ProcessGrid, is_in_words, library_of, words_of
from pencilmap.model.placement.product import product_of
from pencilmap.model.predict import Prediction, answer, under
from pencilmap.model.predict.question import Question
from pencilmap.model.predict.ranking import TRANSFORM, quick, worth
from pencilmap.model.schedules.schedule import SEQUENCE
from pencilmap.scripts.command_line.options import format_of_launcher
from pencilmap.scripts.command_line.predictions import (
    SAME,
    about,
    could_gain,
    ends,
    exchanges_s,
    factor,
    gain,
    gains,
    range_words,
    seconds,
    value,
)

DEFAULT = "default"
MOST_TASKS_ROUTED = 4096  # up to this many, the launch order is routed message by message, in less than a second
SAME_TIME = 1e-9
SMALL, SURE_GAIN = "messages below", 2.0  # the reason of small messages; a predicted gain from which on links matter
STATIC, STATICALLY = "static", " under static routes, as InfiniBand has them"
IN_WORDS = ("order ", "pattern ", "tiling ", "the ", "block order")  # begin names of placements that are words of a sentence


@dataclass(frozen=True)
class Launched:
    """The launch order on the grid of an answer.

    Parameters
    ----------
    orders : tuple of (str, Prediction)
        The name of each possible order of the launcher, and its prediction; empty if no prediction was made.
    unknown : str
        The reason if the order is unknown, else "".
    title : str
        Name of the launcher's orders in a sentence.
    """

    orders: tuple[tuple[str, Prediction], ...] = ()
    unknown: str = ""
    title: str = ""

    @property
    def first(self) -> Prediction | None:
        """The prediction of the fastest possible order, so no gain is overstated; of equal orders the most likely."""
        return next(iter(self.fastest_first), None)

    @property
    def fastest_first(self) -> tuple[Prediction, ...]:
        """The predictions of the possible orders."""
        return tuple(sorted((p for _, p in self.orders), key=worth))

    @property
    def name(self) -> str:
        """Name of that order in a sentence: the title, unless it is a less likely order of this launcher."""
        return next((name for name, p in self.orders[1:] if p is self.first), self.title)


def launched(question: Question, like: Prediction, most: int = MOST_TASKS_ROUTED, is_quick: bool = False) -> Launched:
    """Predict the launch order on the same grid under the same schedule, otherwise asked alike.

    Above `most` tasks only products are predicted.
    """
    site, launch, orders = question.site, question.site.launch, []
    question = replace(question, schedule=like.schedule_name)
    if not launch.orders:
        return Launched(unknown=f"{launch.title}, {launch.reason}")
    for k, text in enumerate(launch.orders):
        name = f"{DEFAULT}:{text}" if k else DEFAULT
        placement = place(question, name, like.grid)
        if like.grid.n_tasks <= most or product_of(placement):
            shown = answer(question, placement, name)
            orders.append((site.launch_name(text), quick(shown) if is_quick else shown))
    return Launched(tuple(orders), title=launch.title)


@dataclass(frozen=True)
class Answer:
    """The sentences about a prediction beside the launch order.

    Parameters
    ----------
    best : Prediction
    launch : Launched
        The launch order on a grid, asked alike.
    by : {"transform", "exchanges"}
        Which time counts.
    effort : str
        Name of the effort with which `best` was asked for; "" if only other placements were.
    library : Library
        In whose words the grid is repeated.
    is_worst : bool
        Whether each time is that under the worst routing rule.
    """

    best: Prediction
    launch: Launched = Launched()
    by: str = TRANSFORM
    effort: str = ""
    library: Library = USUAL
    is_worst: bool = False

    @property
    def grid(self) -> str:
        """The grid in its own numbers, and in the words of a library."""
        return grid_title(self.best.grid, self.library)

    @property
    def is_range(self) -> bool:
        """Whether the gain depends on how the routers adapt."""
        least, most = self._gains() or (1.0, 1.0)
        return most - least > SAME

    @property
    def is_faster(self) -> bool:
        """Whether the best is faster than some possible launch order, and under no rule of adaptive routers slower."""
        gains_ = [gains(self.best, other, self.by) or (1.0, 1.0) for _, other in self.launch.orders]
        return any(most >= 1 + SAME and least > 1 - SAME for least, most in gains_)

    def first(self, file: str) -> str:
        """Return the sentence about a placement `file` of a grid that the user named."""
        return if_sent(joined(self._under_rule(self._first(file))), self.best)

    @property
    def is_one_rule(self) -> bool:
        """Whether routers adapt, but a quick look asked one rule."""
        return not EFFORTS.get(self.effort, 1) and self.best.adapts and not self.best.bracket

    def _under_rule(self, sentence: str) -> str:
        """The sentence, with the routing for which its times hold."""
        rule = ("each under its worst routing" if self.is_worst else
                f"under {self.best.routing} routing" if self.is_one_rule else "")
        return sentence.replace("(predicted)", f"(predicted, {rule})", 1) if rule else sentence

    def _first(self, file: str) -> str:
        """The same without the schedule."""
        result = spent(self.best, self.by) + self.starts
        if self.launch.unknown:
            return (f"{agrees(file, 'takes')} {result} (predicted). How much faster that is cannot be said, because the "
                    f"launch order is not known: {self.launch.unknown}.")
        other, gained = self.launch.first, self._gains()
        if gained is None or other is None:  # no launch order, or nothing is sent
            return f"{agrees(file, 'takes')} {result} (predicted)."
        name = self.launch.name
        if self.is_launch:
            if self.best.all_alike:
                return f"Placement does not matter, as all are alike (proved): {name} takes {result} (predicted)."
            return (f"No file is needed: {name} takes {result} (predicted), and nothing is faster{self._under} (proved)."
                    if self.is_proved else f"{capitalised(name)} takes {result} (predicted).")
        if self.is_same:
            return f"{agrees(file, 'is')} as fast as {self._than_others or name}: {result} (predicted)."
        if self.is_unsure:
            less = "no faster than" if self.is_faster else "as fast as"
            return (f"{agrees(file, 'may be')} {less} {name}: {factor(*gained)}{self._gain_range()}, {result} "
                    "(predicted).")
        said = f"{agrees(file, 'is')} {factor(*gained)} than {name}{self._gain_range()}"
        if self.is_range or self.has_range:
            return f"{said} (predicted)."
        return f"{said}: {taken(self.best, other, self.by)}{self.starts} (predicted)."

    @property
    def is_unsure(self) -> bool:
        """Whether the measured gain may well be none: its range includes 1, or messages are so small that they decide."""
        likely = self._likely()
        if self._gains() is None or self.is_same:
            return False
        return (likely[0] <= 1 <= likely[1] if likely else
                self.best.likely_gain is None and SMALL in self.best.unmeasured and self._most_gain < SURE_GAIN)

    @property
    def starts(self) -> str:
        """A clause if starting messages takes most of the time and no placement is much faster than the launch order."""
        time_s, terms = seconds(self.best, self.by), [stage.terms for stage in self.best.moves if stage.terms]
        spent_s = sum((part.start_s or 0.0) + (part.messages_s or 0.0) for part in terms)
        return ", mostly message starts, so placement hardly matters" \
            if time_s and spent_s > time_s / 2 and self._most_gain < MUCH else ""

    @property
    def _most_gain(self) -> float:
        return max(max(ratio, 1 / ratio) for ratio in self._gains() or (1.0,))

    def _gain_range(self) -> str:
        """The range of measured gains in parentheses, "" if it is not known."""
        return "" if self.launch.first is None else gain_words(self.best, self.launch.first, self.by)

    def _likely(self) -> tuple[float, float] | None:
        return None if self.launch.first is None else likely_gains(self.best, self.launch.first, self.by)

    @property
    def _than_others(self) -> str:
        """The name of a launch order that is as fast, and the gain over another possible order, if there is a gain."""
        slowest, order = max(self.launch.orders, key=lambda one: worth(one[1], self.by))
        ratio = gain(self.best, order, self.by) or 1.0
        fastest = next(name for name, p in self.launch.orders if p is self.launch.first)
        return f"{fastest} and {factor(ratio)} than {slowest}" if ratio >= 1 + SAME else ""

    @property
    def is_launch(self) -> bool:
        """Whether the best is the launch order itself."""
        return self.launch.first is not None and self.best.placement == self.launch.first.placement

    @property
    def is_same(self) -> bool:
        """Whether the best takes the time of the launch order, within 1 %, under all rules of adaptive routers."""
        gains_ = self._gains()
        return gains_ is not None and max(abs(ratio - 1) for ratio in gains_) < SAME

    @property
    def is_slower(self) -> bool:
        """Whether the best takes longer than the launch order under all rules of adaptive routers."""
        gains_ = self._gains()
        return gains_ is not None and max(gains_) <= 1 - SAME

    def no_file(self, file: str = "") -> str:
        """Return the sentence that no file is needed, if the best is no faster than any possible launch order."""
        return if_sent(self._no_file(file), self.best)

    def _no_file(self, file: str) -> str:
        """The same without the schedule."""
        name, gained = self.launch.name, self._gains() or (1.0, 1.0)
        if self.is_range:
            return f"No file is needed: {file or 'the best'} is {factor(*gained)} than {name} (predicted)."
        if self.best.all_alike:
            return "No file is needed, as placement does not matter: all are alike (proved)."
        if self.is_proved:
            return f"No file is needed: nothing is faster than {name}{self._under} (proved)."
        if not self.effort:
            if self.is_launch and (file or name) == name:
                return f"{capitalised(name)} needs no file."
            like = "" if self.is_launch else " as fast as" if self.is_same else \
                f" {factor(*gained)} than"
            return f"{agrees(file or 'This placement', 'is')}{like} {name}, which needs no file."
        if self.may_search:
            return (f"No file is needed: the search found nothing {1 + SAME:.2f}x faster than {name}."
                    if EFFORTS.get(self.effort) else f"No file is needed by a quick look: {name} is as fast.")
        return f"No file is needed: no known placement is {1 + SAME:.2f}x faster than {name}."

    @property
    def has_gain(self) -> bool:
        """Whether a file is worth writing, or the launch order is not known."""
        return self.is_faster or not self.launch.orders

    def sentences(self, file: str, also: str = "") -> list[str]:
        """Return the sentences about a placement that may be written to a file: whether one is needed, and the grid.

        `also` follows the sentence about the grid.
        """
        said = self.first(file) if self.has_gain else self.no_file(file)
        return [said, self.second(also) if self.has_gain else self.takes(also)]

    def takes(self, also: str = "") -> str:
        """Return the sentence about the grid in the launch order, whose time the first sentence leaves out."""
        assert self.launch.first is not None
        return joined(self._under_rule(f"{self.grid} takes {spent(self.launch.first, self.by)}{also} (predicted)."))

    def second(self, also: str = "") -> str:
        """Return the sentence about the grid: its words, what it takes if the first sentence does not say it, the bound."""
        if self.has_range and not self.is_unsure and not (self.is_same or self._gains() is None or self.is_launch):
            return f"{self.grid}: {spent(self.best, self.by)}{also}."
        return f"{self.grid}: {self.bound}{also}."

    @property
    def may_search(self) -> bool:
        """Whether a search for a better placement of the grid exists, and may find one."""
        p = self.best
        return not self.is_proved and (p.halo is not None or is_searched(p.bounds.site, p.grid, p.bounds.transform))

    @property
    def search(self) -> list[tuple[str, str]]:
        """Lines about a longer search, if the effort was one that searches nothing and leaves out rules of routers."""
        if EFFORTS.get(self.effort, 1):
            return []
        return [("search", "this was a quick look; --effort normal may find a better placement")] * self.may_search + [
            ("range", f"times are those of {self.best.routing} routing; --effort normal knows adaptive routers")
        ] * self.is_one_rule

    @property
    def idle(self) -> list[tuple[str, str]]:
        """A line about tasks of the grid that hold nothing."""
        number, tasks = self.best.idle_tasks, self.best.grid.n_tasks
        return [("warning", f"{number} of its {tasks} tasks hold nothing, as an axis has fewer planes than parts")] \
            if number else []

    @property
    def is_proved(self) -> bool:
        """Whether no placement of the grid is faster."""
        most, _ = could_gain(self.best, self.by)
        return self.best.all_alike or (most is not None and most < 1 + SAME_TIME)

    @property
    def bound(self) -> str:
        """How much faster any placement of the grid could be, as a clause."""
        most, whole = could_gain(self.best, self.by)
        if self.best.all_alike:
            return "all placements are alike (proved)"
        if self.has_range and (said := self._bounds()):
            return said
        if most is None:
            return "no bound is known"
        if most < 1 + SAME_TIME:
            return f"no placement is faster{self._under} (proved)"
        ratio = f"{max(most, 1.01):.2f}x"
        return (f"at most {ratio} more is possible{self._under} (proved)" if whole
                else f"the links could gain {ratio} at most{self._under} (proved)")

    def _bounds(self) -> str:
        """The bound under the rules between which routers adapt, "" if one is not known."""
        known = [(could_gain(p, self.by)[0] or 0.0, p.routing) for p in self.best.bracket]
        (least, lower), (most, upper) = (choose(known, key=lambda one: one[0]) for choose in (min, max))
        low, high = (f"{ratio:.2f}x" if ratio >= 1.005 else "nothing" for ratio in (least, most))
        other = f", {low} under {lower}" if low != high else ""
        return f"at most {high} more is possible under {upper} routing{other} (proved)" if least else ""

    @property
    def _under(self) -> str:
        """The schedule, and the rule of routers that adapt, for which a bound is proved: under others less may be proved."""
        schedule = "" if self.best.schedule_name == SEQUENCE else f" under {self.best.schedule_name}"
        return schedule + (f" under {self.best.routing} routing" if self.has_range or self.is_one_rule else "")

    @property
    def has_range(self) -> bool:
        """Whether the time depends on how the routers adapt."""
        low, high = adaptive_range(self.best, self.by)
        return low != high

    def _gains(self) -> tuple[float, float] | None:
        """The least and the largest gain over the launch order."""
        return gains(self.best, self.launch.first, self.by)


def joined(sentence: str) -> str:
    """Return a sentence in which two parentheses that follow each other are one.

    >>> joined("It takes 18 ms (17 to 22) (predicted).")
    'It takes 18 ms (17 to 22; predicted).'
    """
    return sentence.replace(") (predicted", "; predicted")


def if_sent(sentence: str, p: Prediction) -> str:
    """Return a sentence about a prediction, with the schedule for which it holds."""
    return sentence if p.schedule_name == SEQUENCE else \
        f"{sentence.removesuffix('.')}, if your code sends {exchanges_beside(p)} ({p.schedule_name})."


def grid_title(grid: ProcessGrid, library: Library = USUAL) -> str:
    """Return a grid in its own numbers and in the words of a library.

    >>> grid_title(ProcessGrid(48, 64))
    'Grid 48x64 (p_row=64, p_col=48)'
    """
    words = words_of(grid, library)
    kind = "Grid" if len(grid.shape) > 1 else grid.decomposition.name.capitalize()
    return f"{kind} {grid}{f' ({words})' if words else ''}"


def library_in(text: str | None, where: Question) -> Library:
    """Return the library in whose words a grid was typed, by default that of the launcher, JAX, or else 2DECOMP&FFT."""
    if text and is_in_words(text):
        return library_of(text)
    return LIBRARIES["jax"] if format_of_launcher(where) == "jax" else USUAL


def adaptive_range(p: Prediction, by: str = TRANSFORM) -> tuple[str, str]:
    """Return the least and the largest time, or load, under the rules between which routers adapt."""
    first, last = ends(p, by)
    return value(first, by), value(last, by)


def spent(p: Prediction, by: str = TRANSFORM) -> str:
    """Return the time or load of a prediction, or its range by how the routers adapt."""
    low, high = adaptive_range(p, by)
    if low == high:
        return value(p, by, likely=True)
    first, last = ends(p, by)
    return f"{between(low, high)}{range_words(first, by, last)}, by how the routers adapt"


def faster_lines(question: Question, prediction: Prediction, command: str = "pencilmap plan",
                 placements: bool = True, library: Library = USUAL) -> list[tuple[str, str]]:
    """Return labels and texts: a much faster placement of the grid, another grid, another schedule, each by a quick look.

    Parameters
    ----------
    command : str
        The command that writes the better placement.
    placements : bool
        Whether other placements of the grid are looked at.
    library : Library
        In whose words a grid is repeated.
    """
    placement, grid = faster_choices(question, prediction)
    lines = []
    if placement and placements:
        ratio = gain(placement.prediction, prediction) or 1.0
        lines.append(("better", f"{factor(ratio)} with another file for this grid: {command}"))
    if grid:
        words = words_of(grid.grid, library)
        title = f"{grid.grid} ({words})" if words else str(grid.grid)
        p = answer(question, grid.placed, BEST) if prediction.bracket else grid.prediction
        time = spent(p) if p.likely or p.t_s is None or p.bracket else about(p)
        is_usual = grid.grid.decomposition == PENCIL and 1 not in grid.grid.shape  # else a slab may come first
        kind = [] if is_usual else ["--decomposition", grid.grid.decomposition.name]
        schedule = [] if question.schedule == SEQUENCE else ["--schedule", question.schedule]
        lines.append(("faster", f"{time} on grid {title}, {_with_file(question, p)}: "
                                f"{' '.join(['pencilmap plan', *kind, *schedule])}"))
    scheduled = question.schedule == SEQUENCE and faster_choice(question, prediction, any_schedule=True)
    return lines + schedule_line(scheduled or None)


def schedule_line(faster: Choice | None) -> list[tuple[str, str]]:
    """Return a line about a faster schedule, if there is one."""
    return [("faster", f"{about(faster.prediction)} if your code sends {exchanges_beside(faster.prediction)}: "
                       "--schedule best")] if faster else []


def _with_file(question: Question, p: Prediction) -> str:
    """Whether a prediction needs its file."""
    orders = launched(question, p, most=MOST_TASKS_ROUTED // 4, is_quick=True).orders
    none = p.all_alike or (orders and all((gains(p, other) or (1.0,))[-1] < 1 + SAME for _, other in orders))
    return "no file needed" if none else "with its file"


def static_lines(question: Question, prediction: Prediction, launch: Launched, command: str) -> list[tuple[str, str]]:
    """Return a line about static routes if an answer differs under these: most networks of switches may have them.

    Parameters
    ----------
    question : Question
    prediction : Prediction
    launch : Launched
    command : str
        Options or a command that take these routes into account.
    """
    if not is_static_likely(question, prediction.grid.n_tasks):
        return []
    try:
        p = under(prediction, STATIC)
    except RoutingError:  # of a tree with different numbers of cables no static routes are known
        return []
    if p is None:
        return []
    order = launch.first and under(launch.first, STATIC)
    mine, theirs = gain(prediction, launch.first) or 1.0, gain(p, order) or 1.0
    if max(mine / theirs, theirs / mine, float(worth(p)) / float(worth(prediction))) < MUCH:
        return []
    beside = "" if order is None or prediction.placement == order.placement else \
        f", as fast as {launch.name}" if abs(theirs - 1) < SAME else f", {factor(theirs)} than {launch.name}"
    return [(STATIC, f"{value(p, likely=True)}{beside}{STATICALLY}: {command}")]


def is_static_likely(question: Question, n_tasks: int) -> bool:
    """Return whether switches may have static routes that the question leaves open, and these are soon predicted."""
    kind, is_open = kind_of(question.network), not (question.routing or question.robust)
    return STATIC in kind.routings and is_open and not kind.bracket and n_tasks <= MOST_TASKS_ROUTED


def turned_grids(prediction: Prediction) -> list[ProcessGrid]:
    """Return the grid in the other order, CxR for RxC, if a quick look can compare it."""
    turned = None if prediction.grid.decomposition.has_bricks else prediction.grid.turned
    return [] if turned is None or prediction.grid.n_tasks > MOST_TASKS_ROUTED else [turned]


def turned_lines(question: Question, prediction: Prediction, choice: Choice | None, library: Library = USUAL,
                 mapping: Mapping | None = None) -> list[tuple[str, str]]:
    """Return a line if the placement of grid RxC is not the right one for CxR: perhaps the grid was turned.

    The choice is the best placement of CxR, None if it is unknown. Without a mapping, the line is left out unless the
    right one gains much more on CxR than this one on RxC.
    """
    if choice is None:
        return []
    best, turned = choice.prediction, choice.grid
    order = launched(question, best, is_quick=True).first
    right = gain(best, order) if order else None
    if not right:
        return []
    typed = f"if your code has {words_of(turned, library) if turned.decomposition == PENCIL else turned}, type that"
    if mapping is None:
        mine = gain(prediction, launched(question, prediction, is_quick=True).first)
        return [("check", f"{typed}: a file for it gains {right:.2f}x, for this grid {mine:.2f}x")] \
            if mine and right >= MUCH * mine else []
    theirs = gain(answer(replace(question, schedule=best.schedule_name), replace(mapping, grid=turned)), order)
    return [("check", f"{typed}: there this file is {factor(theirs)}, the right one {factor(right)}")] \
        if theirs and right >= MUCH * theirs else []


def launch_notes(where: Question, grid: ProcessGrid) -> list[str]:
    """Return a note about a launch order that is assumed, with the order in words."""
    site = where.site
    if grid.n_tasks != site.n_slots:  # launchers differ in the slots that stay idle
        site = replace(site, launch=replace(site.launch, certain=False))
    if site.launch.certain or not site.launch.orders:
        return []
    phrase = site.launch_phrase(*site.launch.orders).replace("; assumed)", ")")
    return [f"the launch order is assumed: {phrase}"]


def exchanges_beside(p: Prediction) -> str:
    """Return the exchanges of a schedule in words.

    The names are those of the decomposition: rows and columns of pencils.
    """
    names = [f"{dimension.name}s" for dimension in p.grid.decomposition.dimensions]
    return " beside ".join(names) if len(names) == 2 else "its exchanges in parts"


def taken(best: Prediction, other: Prediction, by: str = TRANSFORM) -> str:
    """Return the time of the better of two placements with its range, or the loads of both."""
    return compared(value(best, by), value(other, by)) if seconds(best, by) is None else spent(best, by)


def gain_words(best: Prediction, other: Prediction, by: str = TRANSFORM) -> str:
    """Return the range of the measured gain over another placement in parentheses, "" if it is not known."""
    likely = likely_gains(best, other, by)
    if likely and likely[1] < 1:
        likely = 1 / likely[1], 1 / likely[0]  # times slower
    return f" ({likely[0]:.2f}x to {likely[1]:.2f}x)" if likely else ""


def likely_gains(best: Prediction, other: Prediction, by: str = TRANSFORM) -> tuple[float, float] | None:
    """Return the range of the measured gain over another placement, None if it is not known; under all rules of routers."""
    gains_ = [_likely(p, other if p.routing == other.routing else under(other, p.routing), by)
              for p in best.bracket or (best,)]
    known = [ends for ends in gains_ if ends]
    return (min(low for low, _ in known), max(high for _, high in known)) if len(known) == len(gains_) else None


def _likely(best: Prediction, other: Prediction | None, by: str) -> tuple[float, float] | None:
    """The range of the measured gain, None without one. Only exchanges have an error that is known."""
    mine, theirs = exchanges_s(best), None if other is None else exchanges_s(other)
    if other is None or not (mine and theirs and best.likely_gain):
        return None
    low, high = (end * theirs / mine for end in best.likely_gain)
    whole, computing = float(worth(best, by)), float(worth(other, by)) - theirs
    return (low * mine + computing) / whole, (high * mine + computing) / whole


def between(low: str, high: str) -> str:
    """Return a range of two values with a unit, which is said once if it is of words.

    >>> between("1.2 ms", "1.4 ms"), between("3 times the data of a node", "4 times the data of a node")
    ('1.2 ms to 1.4 ms', '3 to 4 times the data of a node')
    """
    number, _, unit = low.partition(" ")
    return f"{number} to {high}" if high.endswith(f" {unit}") and " " in unit else f"{low} to {high}"


def compared(first: str, second: str) -> str:
    """Return two values of which the first holds; a unit of words is said once.

    >>> compared("1.5 times the data of a node", "2 times the data of a node"), compared("1.5 ms", "2.0 ms")
    ('1.5 times the data of a node, not 2', '1.5 ms, not 2.0 ms')
    """
    number, _, unit = second.partition(" ")
    return f"{first}, not {number if ' ' in unit and first.endswith(f' {unit}') else second}"


def agrees(name: str, verb: str) -> str:
    """Return the name of a placement as the subject of a sentence with its verb, "is" or "takes".

    >>> agrees("rows on 2x2x2 cubes", "is"), agrees("ranks.map", "takes"), agrees("order nt", "is")
    ('Rows on 2x2x2 cubes are', 'ranks.map takes', 'Order nt is')
    """
    if name.startswith("rows on "):
        return f"{capitalised(name)} {'are' if verb == 'is' else verb.removesuffix('s')}"
    return f"{capitalised(name) if name.startswith(IN_WORDS) else name} {verb}"
