"""`pencilmap map`: write a placement for the launcher, or a placement file for another launcher."""

from collections.abc import Iterator
from dataclasses import asdict, replace

import click
import numpy as np

from pencilmap.mapper import formats
from pencilmap.mapper.ask import job_of, named_grid
from pencilmap.mapper.base.files import check_writable
from pencilmap.mapper.base.search import ONE_GRID, Search, search_of
from pencilmap.mapper.choose import ALL_ROUTINGS, faster_choice, plan
from pencilmap.mapper.formats.format import RANK
from pencilmap.mapper.inside import messages_of
from pencilmap.mapper.launchers import Choice
from pencilmap.mapper.place import best_placement, place
from pencilmap.mapper.placements import BEST
from pencilmap.model.base.errors import GridError
from pencilmap.model.base.units import counted
from pencilmap.model.decompositions import PENCIL
from pencilmap.model.placement.allocation import Mapping, Placement, slots_in_order
from pencilmap.model.placement.grid import ProcessGrid, is_in_words, parse_grid
from pencilmap.model.predict import Prediction, answer
from pencilmap.model.predict.question import Question
from pencilmap.scripts.command_line import answers, inside, options, predictions, time_tables
from pencilmap.scripts.command_line.comparisons import between_bricks
from pencilmap.scripts.command_line.node_choices import (
    chosen_as_dict,
    idle_lines,
    job_lines,
    on_nodes_to_ask_for,
    program_on_nodes,
)
from pencilmap.scripts.command_line.pages import FILES, JSON, NOTES, OUTPUT_FILE, WIDE, Page, with_options
from pencilmap.scripts.command_line.programs import TRAFFICS, map_program, rank_program
from pencilmap.scripts.command_line.tables import echo, hearing, labelled, print_json, say, say_lines

FROM = (click.option("--from", "from_file", metavar="FILE", shell_complete=FILES,
                     help="Convert this file; make no new placement."),
        options.format_option(("--from-format",), None, "Format of that file [recognised].", formats.READABLE))


def _convert(where: Question, job: formats.Job, file: str, from_format: str | None, form: Choice, grid: str | None,
             output: str, as_json: bool) -> None:
    """Read and check a placement file, write it in another format, and print the answer.

    Raises
    ------
    GridError
        If the format needs the process grid, which is not given.
    """
    if formats.format_named(form.name).says_grid and not grid:
        raise GridError(f"format {form.name} is written in the shape of the process grid; name it with `grid` "
                        f"{where.decomposition.usage}")
    document = formats.read_document(file)
    given = parse_grid(grid, where.decomposition) if grid else None
    name, mapping = (from_format, formats.mapping_of(document, job, given, from_format)) if from_format else \
        formats.read_first(document, job, given, formats.matching(document))
    where.site.check_mapping(mapping)
    formats.write_mapping(mapping, output, form.name, job)
    launch, notes = formats.launch_of(mapping, output, form.name, job), list(_notes(mapping, name, form.name, job))
    if as_json:
        print_json({"file": file, "from": name, "output": output, "ranks": mapping.n_tasks,
                    **options.launch_as_dict(launch, form), "notes": notes})
        return
    say(f"{output} has the {counted(mapping.n_tasks, 'rank')} of {file} in the same places.",
        f"Format {name} became {form}.")
    echo()
    options.show_launch(launch, form, output)
    say_lines(("note", note) for note in notes)


def _notes(mapping: Mapping, from_name: str, format_name: str, job: formats.Job) -> Iterator[str]:
    forms = formats.READABLE[from_name], formats.READABLE[format_name]
    from_slots, to_slots = (form.says_slots or (form.binds == RANK and job.node is not None) for form in forms)
    if not from_slots:
        yield f"{from_name} does not give slots: the ranks of a node take them in order"
    if not to_slots and not np.array_equal(mapping.slot_of_rank,
                                                                  slots_in_order(mapping.node_of_rank)):
        yield (f"{format_name} does not give slots: the ranks of a node will take them in order, not as in {from_name} "
               "(traffic between nodes does not change)")


PLACING = ("placement", "routing", "exchange", "schedule", "direction", "robust")  # options of a new placement alone


@click.command("map", cls=Page, usual="machine network nodes fft traffic grid placement format output from")
@options.on_machine
@with_options(options.ANY_GRID, options.placements(multiple=False, default=None), options.ROUTING, options.EXCHANGE,
              options.SCHEDULE, options.DIRECTION, options.ROBUST, options.SEARCH, options.HALO, TRAFFICS, *FROM,
              options.FORMAT_TO_WRITE)
@click.option("--output", "-o", required=True, type=OUTPUT_FILE, help="The file to write.")
@with_options(*options.LAUNCHER, WIDE, NOTES, JSON)
@click.pass_context
def command(ctx: click.Context, where: Question, grid: str | None, placement: str | None, routing: str | None, exchange: str,
            schedule: str, effort: str, seed: int, time_limit: float | None,
            traffic: tuple[str, ...], code: str | None, from_file: str | None, from_format: str | None,
            format_name: str | None, output: str, hosts: str | None,
            cores_per_task: int, node: str | None, program: str, wide: bool, all_notes: bool, as_json: bool) -> None:
    """Write a placement for your launcher, or convert one.

    Grid and placement, unless named, are those of `pencilmap plan`. --from converts a file. Of several traces (--traffic),
    the fastest is placed.
    """
    if from_file is not None and (foreign := [name for name in PLACING if name in options.named()]):
        raise click.UsageError(f"--{foreign[0]} is for a new placement; leave it out with --from", ctx)
    if from_format and from_file is None:
        raise click.UsageError("--from-format is the format of a placement file; name the file with --from", ctx)
    if routing == ALL_ROUTINGS:
        raise GridError("`routing` all compares the rules for one placement; write a file, and use pencilmap check")
    check_writable(output)
    where = on_nodes_to_ask_for(where)
    form = options.format_to_write(format_name, where)
    if from_file is not None:
        _convert(where, job_of(where, hosts, cores_per_task, node, program), from_file, from_format, form, grid, output,
                 as_json)
        return
    if traffic:
        where = asked = replace(where, routing=routing)
        chosen_lines = list[tuple[str, str]]()
        if asked.among is not None:
            with hearing():
                where, own_nodes = program_on_nodes(asked, traffic[0])
            chosen_lines = [*job_lines(where), ("other", own_nodes)]
        job = job_of(where, hosts, cores_per_task, node, program)
        ranked = rank_program(where, traffic, code, placement, effort, seed, time_limit)
        map_program(where, ranked, output=output, form=form, job=job,
                    effort=effort if placement in (None, BEST) else "", within=search_of(effort, seed, time_limit),
                    all_notes=all_notes, as_json=as_json, more=chosen_as_dict(asked, where, "slurm"))
        say_lines([] if as_json else chosen_lines)
        return
    if not where.shapes:  # wrong names of hosts are reported before the search
        job_of(where, hosts, cores_per_task, node, program)
    within = search_of(effort, seed, time_limit)
    question = replace(where, routing=routing, exchange=exchange, schedule=schedule)
    with hearing():
        here, chosen, best = _chosen(question, grid, placement, effort, within)
    question = replace(here, routing=routing, exchange=exchange, schedule=schedule)
    job = job_of(here, hosts, cores_per_task, node, program)
    mapping = chosen.mapping(best.placement)
    inner = inside.placed_inside(mapping, messages_of(best.grid, here.transform, here.halo), job, form.name,
                                 replace(search_of(effort, seed), deadline=within.deadline), here.transform is not None)
    if inner:
        mapping, job = inner.mapping, inner.job
    formats.write_mapping(mapping, output, form.name, job)
    launch = answers.launched(question, best, best.grid.n_tasks, is_quick=not within.budget)
    how, says_grid = formats.launch_of(mapping, output, form.name, job), formats.format_named(form.name).says_grid
    if as_json:
        shown = [best, *(p for _, p in launch.orders if p.placement != best.placement)]
        print_json({"output": output, **options.launch_as_dict(how, form),
                    "grid_words": {} if says_grid else grid_words(best.grid),
                    "launch_order": asdict(here.site.launch), **inside.inside_as_dict(inner),
                    "predictions": [p.as_dict() for p in shown], **chosen_as_dict(where, here, "slurm")})
        return
    said = answers.Answer(best, launch, effort=effort if placement in (None, BEST) else "",
                          library=answers.library_in(grid, where), is_worst=where.robust and routing is None)
    between = said.sentences(output, f", {between_bricks(best, (), said.by)}" if best.remaps else "")
    gained = predictions.factor(*(predictions.gains(best, launch.first) or (None,))) if said.is_faster else ""
    say(*inside.sentences(between, gained, output, inner))
    echo()
    options.show_launch(how, form, output, said.has_gain or inner is not None)
    say_lines([*(job_lines(here) if where.among and not here.among else ()), *idle_lines(here, mapping)])
    if form.name == "jax" and here.transform is not None and here.transform.precision == "double":
        labelled("needs", f"--fft {here.transform}:single if the arrays are complex64, which is JAX's default")
    if inside.is_alone(inner):
        return
    echo()
    rows = [predictions.Row(p, launch.first, name) for name, p in ((output, best), *launch.orders)]
    predictions.prediction_table(rows, predictions.title(here), wide)
    time_tables.halo_table([row.prediction for row in rows])
    if not says_grid and grid and not is_in_words(grid):
        right = faster_choice(question, best, answers.turned_grids(best), least=0.0)
        say_lines(answers.turned_lines(question, best, right, said.library, mapping))
    faster = answers.faster_lines(question, best, "--placement best", placements=placement is not None,
                                  library=said.library) if grid else []
    static = answers.static_lines(question, best, launch if said.has_gain else answers.Launched(), "--robust for both")
    say_lines(faster + said.idle + static + said.search)
    predictions.show_notes([*predictions.table_notes([row.prediction for row in rows], wide=wide), *form.caveats,
                            *([options.CUT] if within.cut_short else []),
                            _code_note(here, chosen, best.grid, output * (form.name == "hostfile")),
                            *answers.launch_notes(here, best.grid)], all_notes)


def grid_words(grid: ProcessGrid) -> dict[str, int]:
    """Return the numbers of pencils in the words of 2DECOMP&FFT and P3DFFT; none for other decompositions.

    >>> grid_words(ProcessGrid(64, 24))
    {'p_row': 24, 'p_col': 64, 'iproc': 64, 'jproc': 24}
    """
    if grid.decomposition != PENCIL:
        return {}
    row, column = grid.shape
    return {"p_row": column, "p_col": row, "iproc": row, "jproc": column}


def _chosen(question: Question, grid: str | None, placement: str | None, effort: str,
            within: Search) -> tuple[Question, Placement, Prediction]:
    """The question with the shape that is taken, the placement, and its prediction."""
    if grid and placement:
        one = named_grid(question, grid)
        placed = best_placement(question, one, within.part(ONE_GRID))[0] if placement == BEST \
            else place(question, placement, one)
        return question, placed, answer(question, placed, placement)
    best = plan(question, grids=(named_grid(question, grid),) if grid else None,
                placements=(placement,) if placement else None, exchanges=(str(question.exchange),),
                schedules=(question.schedule,), effort=effort, within=within).best
    return best.where, best.placed, best.prediction


def _code_note(where: Question, placed: Placement, grid: ProcessGrid, file: str = "") -> str:
    """Return a note with the call that reorders a communicator to a placement, for codes whose launcher reads no file.

    `file` names the host of each rank.
    """
    text = placed.name if placed.is_product or placed.name.startswith("lattice:") else ""
    tasks = f" tasks={where.tasks_per_node}" if where.tasks_per_node > 1 else ""
    place = f"{where.network}{tasks} placement={text}" if text and where.network.has_products else f"hosts:{file or 'FILE'}"
    wrote = "" if text or file else "; --format hostfile writes FILE"
    return f'for a code without a file: pm_comm_reorder(comm, "{place}", "{grid}", &placed){wrote} (docs/formats.md)'
