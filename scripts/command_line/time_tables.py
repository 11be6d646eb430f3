"""Tables of times beside those of predictions: terms of the model, tasks or threads, a single halo."""

from collections.abc import Callable, Sequence

from pencilmap.mapper.studies.threads import Shared
from pencilmap.model.base.units import counted, milliseconds
from pencilmap.model.predict import Prediction
from pencilmap.scripts.command_line.predictions import Row, move_range, time_cell
from pencilmap.scripts.command_line.tables import fitted, print_table, say


def terms_table(rows_of: Sequence[Row]) -> None:
    """Print every term of the time model, for each exchange and for computing; "-" if the machine's figure is unknown."""
    names, local = ["link", "contention", "injection", "start", "messages", "hops"], ["FFT", "memory"]
    several = len({row.prediction.routing for row in rows_of}) > 1
    for row in rows_of:
        p = row.prediction
        columns = [stage.name for stage in p.moves] + (["computing"] if p.local else [])
        cells = [[milliseconds(value) for value in stage.terms.as_dict().values()] if stage.terms else ["-"] * len(names)
                 for stage in p.moves]
        rows = [[name, *(cell[k] for cell in cells), *(["-"] if p.local else [])] for k, name in enumerate(names)]
        if p.local:
            rows += [[name, *["-"] * len(cells), milliseconds(value)]
                     for name, value in zip(local, p.local.as_dict().values())]
        rows.append(["time", *(milliseconds(stage.time_s) for stage in p.moves),
                     *([milliseconds(p.local.time_s)] if p.local else [])])
        if p.likely:
            rows.append(["range", *(move_range(p, stage) for stage in p.moves), *(["-"] if p.local else [])])
        total = f": {milliseconds(p.total_s)} in total" if p.total_s else ""
        routing = f" under {p.routing}" if several else ""
        print_table(f"{p.grid} {row.title}{routing}{total}", ["term", *(f">{name}" for name in columns)], rows)
    say("time = max(link + contention, injection) + start + messages + hops")


def threads_table(choices: Sequence[Shared], time_of: Callable[[Prediction], float | None]) -> None:
    """Print the same cores as tasks and as threads, side by side."""
    columns = [">tasks/\nnode", ">threads", "grid", ">predicted", ">messages\na node", ">bytes\neach", ">MB a\nnode",
               ">table\nentries"]
    print_table("the same cores as tasks or threads", columns, [
        [s.tasks, s.threads, str(s.prediction.grid), time_cell(time_of(s.prediction)), s.messages,
         f"{s.message_bytes:.0f}", f"{s.node_bytes / 1e6:.4g}", s.peers] for s in choices],
        ["messages to other nodes; MB: the array before and after an exchange; threads are",
         "taken to compute as fast as tasks, and what they cost each other is left out"])


def halo_table(predictions: Sequence[Prediction]) -> None:
    """Print a single halo of each prediction, in order, equal lines once; nothing without halos."""
    halos = [(p, p.halo.stage, p.halo.halo.width) for p in predictions if p.halo]
    rows = dict.fromkeys((str(p.grid), p.placement, str(h.work.messages) if h.work else "-",
                          f"{h.work.task_bytes:.0f}" if h.work else "-", milliseconds(h.t_s), milliseconds(h.time_s),
                          str(h.busiest or "-")) for p, h, _ in halos)
    if halos:
        columns = ["grid", "placement", ">messages", ">off-node\nbytes", ">link time", ">predicted", "busiest link"]
        print_table(f"halo of {counted(halos[0][2], 'plane')}",
                    *fitted(columns, list(map(list, rows)), ["busiest link", ">link time"]),
                    ["no range: halos not measured"] * any(h.time_s is not None for _, h, _ in halos), folds=True)
