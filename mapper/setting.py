"""The question of a Python program: its verbs are methods, and its arguments are the options of the commands, as strings."""

from collections.abc import Callable, Iterable
from dataclasses import fields, replace
from functools import wraps
from os import PathLike
from typing import TYPE_CHECKING, ParamSpec

from pencilmap.mapper.ask import ask, job_of, named_grid
from pencilmap.mapper.base.search import search_of
from pencilmap.mapper.choose import best_grid, predictions
from pencilmap.mapper.formats import Job
from pencilmap.mapper.place import place
from pencilmap.mapper.placements import BEST, check_names
from pencilmap.model.algorithms import DEFAULT_ALGORITHM
from pencilmap.model.placement.allocation import Mapping, Placement
from pencilmap.model.placement.grid import ProcessGrid
from pencilmap.model.predict import Prediction, answer
from pencilmap.model.predict.question import Question
from pencilmap.model.schedules.schedule import FORWARD, SEQUENCE

if TYPE_CHECKING:
    from pencilmap.mapper.inside import Inside
    from pencilmap.mapper.programs import Option, PlacedProgram

P = ParamSpec("P")


class Setting(Question):
    """A machine or network, the usable nodes, and the transform; `setting` makes it from texts.

    Examples
    --------
    >>> where = setting(machine="bluegene-l", fft="512")
    >>> cubes, lines = where.predictions("8x64", ["box:2x2x2", "default"])
    >>> cubes.total_s < lines.total_s
    True
    """

    def grid(self, text: str = BEST, schedule: str = SEQUENCE) -> ProcessGrid:
        """Return the process grid of a text, or the best one.

        Parameters
        ----------
        text : str
            As for `pencilmap.mapper.ask.named_grid`; ``best`` takes the first choice of `plan`.
        schedule : str
            The schedule for which the grid should be best.

        Returns
        -------
        ProcessGrid
        """
        return best_grid(replace(self, schedule=schedule)) if text == BEST else named_grid(self, text)

    def place(self, text: str, grid: ProcessGrid, schedule: str = SEQUENCE) -> Placement:
        """Return the placement of a text; see `pencilmap.mapper.place.place`.

        Parameters
        ----------
        text : str
            A placement of `PLACEMENTS`, for example ``box:2x2x2``, or ``best``.
        grid : ProcessGrid
        schedule : str
            The schedule for which a search should place the ranks.

        Returns
        -------
        Product or Mapping

        Examples
        --------
        >>> where = setting(network="4x4x4")
        >>> str(where.place("box:2x2x2", where.grid("8x8")).network)
        '4x4x4'
        """
        return place(replace(self, schedule=schedule), text, grid)

    def predict(self, placed: Placement, routing: str | None = None, name: str | None = None,
                exchange: str = DEFAULT_ALGORITHM, schedule: str = SEQUENCE, direction: str = FORWARD) -> Prediction:
        """Return the prediction of a placement, with the notes of this setting.

        Parameters
        ----------
        placed : Placement
        routing, name, exchange, schedule, direction
            As for `pencilmap.model.predict.predict`.

        Returns
        -------
        Prediction

        Examples
        --------
        >>> where = setting(network="4x4x4", bandwidth="1 GB/s", fft="64")
        >>> prediction = where.predict(where.place("box:2x2x2", where.grid("8x8")), schedule="two-way")
        >>> prediction.schedule.name
        'two-way'
        """
        return answer(replace(self.towards(direction), routing=routing, exchange=exchange, schedule=schedule), placed, name)

    def predictions(self, grid: str = BEST, placements: Iterable[str] = (BEST,), routing: str | None = None,
                    exchange: str | None = None, schedule: str = SEQUENCE,
                    direction: str = FORWARD) -> list[Prediction]:
        """Return the predictions of all placements.

        Parameters
        ----------
        grid : str
            A process grid, or ``best`` for all grids, ranked.
        placements : iterable of str
        routing, exchange, schedule, direction
            As for `pencilmap.mapper.choose.predictions`.

        Returns
        -------
        list of Prediction

        Examples
        --------
        >>> [p.placement for p in setting(network="4x4x4").predictions("8x8", ["default", "box:2x2x2"])]
        ['default', 'box:2x2x2']
        """
        question = replace(self.towards(direction), routing=routing, schedule=schedule,
                           exchange=exchange or DEFAULT_ALGORITHM)
        check_names(placements := tuple(placements))  # before an error about the grid, which is not at fault then
        return predictions(question, None if grid == BEST else named_grid(self, grid), placements, exchange=exchange)

    def program(self, traffic: str | PathLike[str], placements: Iterable[str] = (BEST,), routing: str | None = None,
                effort: str = "normal", seed: int = 1) -> "PlacedProgram":
        """Return placements of any program from a file of its traffic, the launcher's order first.

        Parameters
        ----------
        traffic : path or str
            A file of any format of `pencilmap.mapper.traffic_files.TRAFFIC_FILES`.
        placements, routing, effort, seed
            As for `pencilmap.mapper.programs.place_program`, as are the errors.

        Returns
        -------
        PlacedProgram

        Examples
        --------
        >>> import tempfile
        >>> with tempfile.NamedTemporaryFile("w") as file:
        ...     _ = file.write("0 3 8000\\n1 2 8000\\n")
        ...     file.flush()
        ...     program = setting(network="4:mesh").program(file.name, ["default"])
        >>> [p.link_bytes for p in program.predictions]
        [16000.0]
        """
        from pencilmap.mapper.programs import place_program, traffic_of  # slow to import

        return place_program(self, traffic_of(self, traffic), tuple(placements), routing, effort, seed)

    def program_options(self, traffics: dict[str, str], code: str | None = None, placement: str = BEST,
                        routing: str | None = None, effort: str = "normal", seed: int = 1) -> "tuple[Option, ...]":
        """Return the options of a program with a placement of each, the fastest first.

        Parameters
        ----------
        traffics : dict of str
            The file of the traffic of each option, by the name of the option.
        code, placement, routing, effort, seed
            As for `pencilmap.mapper.programs.rank_options`, as are the errors.

        Returns
        -------
        tuple of Option

        Examples
        --------
        >>> import tempfile
        >>> with tempfile.NamedTemporaryFile("w") as far, tempfile.NamedTemporaryFile("w") as near:
        ...     for file, pairs in ((far, "0 3 8\\n1 2 8\\n"), (near, "0 1 8\\n2 3 8\\n")):
        ...         _ = file.write(pairs)
        ...         file.flush()
        ...     files = {"far": far.name, "near": near.name}
        ...     options = setting(network="4:mesh").program_options(files, placement="default")
        >>> [(option.name, option.best.link_bytes) for option in options]
        [('near', 8.0), ('far', 16.0)]
        """
        from pencilmap.mapper.programs import rank_options, traffic_of  # slow to import

        return rank_options(self, {name: traffic_of(self, path) for name, path in traffics.items()}, placement, routing,
                            effort, seed, code=code)

    def job(self, hosts: str | PathLike[str] | None = None, cores_per_task: int = 1,
            node: str | PathLike[str] | None = None, program: str = "./a.out") -> Job:
        """Return what the launcher knows besides a placement.

        Parameters
        ----------
        hosts, cores_per_task, node, program
            As for `pencilmap.mapper.ask.job_of`.

        Returns
        -------
        Job

        Examples
        --------
        >>> setting(network="4x4", tasks_per_node=2).job(cores_per_task=4).cores
        ('0-3', '4-7')
        """
        return job_of(self, hosts, cores_per_task, node, program)


    def inside(self, mapping: Mapping, job: Job, traffic: str | PathLike[str] | None = None, alike: bool = False,
               effort: str = "normal", seed: int = 1) -> "Inside":
        """Return the placement inside the nodes of a job with a `node`, whose `mapping` and `job` are for `write_mapping`.

        Without traffic it is that of the transform. For the other parameters see `pencilmap.mapper.inside.place_inside`.
        """
        from pencilmap.mapper.inside import messages_of, messages_of_program, place_inside
        from pencilmap.mapper.programs import traffic_of

        messages = messages_of_program(traffic_of(self, traffic)) if traffic else \
            messages_of(mapping.grid, self.transform, self.halo)
        return place_inside(mapping, messages, job, alike, search_of(effort, seed), bool(traffic or self.transform))


def _with_methods(question_of: Callable[P, Question]) -> Callable[P, Setting]:
    @wraps(question_of)
    def setting(*given: P.args, **named: P.kwargs) -> Setting:
        question = question_of(*given, **named)
        return Setting(**{field.name: getattr(question, field.name) for field in fields(question)})

    return setting


setting = _with_methods(ask)
