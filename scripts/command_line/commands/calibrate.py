"""`pencilmap study calibrate`: the figures of a machine from measured times."""

import re
from collections.abc import Sequence
from dataclasses import asdict
from functools import lru_cache
from pathlib import Path

import click

from pencilmap.mapper.base.files import check_writable
from pencilmap.mapper.runs import probes
from pencilmap.mapper.runs.compare import bandwidth_of_record, published_samples, record_samples
from pencilmap.mapper.runs.records import read_records
from pencilmap.model.base.errors import CalibrationError
from pencilmap.model.machines.machine import Machine, load_machine
from pencilmap.model.machines.probe import Cut, fit_probe
from pencilmap.model.times.calibrate import RULES, Sample, calibrate, honest_errors, quality, split
from pencilmap.model.times.published import PUBLISHED
from pencilmap.scripts.command_line.pages import JSON, MACHINE, OUTPUT_FILE, Name, Page
from pencilmap.scripts.command_line.tables import honest_table, print_json, print_table, quality_table, say

ANY_BANDWIDTH = (1e9,)  # scaled by the fit


@click.command("calibrate", cls=Page)
@click.argument("records", nargs=-1, type=click.Path())
@click.option("--probe", is_flag=True, help="The files are results of network_probe.")
@click.option("--osu", multiple=True, metavar="NODES=FILE",
              help="Output of osu_alltoall on full nodes.\nTwo numbers of nodes fit the ports; needs --machine.")
@click.option("--published", type=Name(list(PUBLISHED)), help="Fit published measurements instead of run records.")
@MACHINE
@click.option("--rule", type=Name(list(RULES)), help=f"Samples to fit: {' or '.join(RULES)}.\nThe others are predicted.")
@click.option("--honest", is_flag=True, help="Also hold out placements, sizes, tasks.\nWhole groups of samples at a time.")
@click.option("--output", "-o", type=OUTPUT_FILE, help="Write a machine file (TOML) with the figures found.")
@JSON
def command(records: tuple[str, ...], probe: bool, osu: tuple[str, ...], published: str | None, machine: str | None,
            rule: str | None, honest: bool, output: str | None, as_json: bool) -> None:
    """Fit the figures of a machine to measured times.

    RECORDS are run records of fft_runner, or with --probe results of network_probe. Figures that they do not determine are
    left out.
    """
    if output:
        if not output.endswith(".toml"):
            raise CalibrationError(f"{output}: a machine file ends in .toml")
        check_writable(output, CalibrationError)
    if osu:
        if records or published or probe or rule or honest or not machine:
            raise click.UsageError("--osu takes no other results; give it alone, with --machine NAME")
        _osu(osu, machine, output, as_json)
        return
    if bool(records) == bool(published):
        raise click.UsageError("no results are named; name files of run records, or --published NAME")
    if probe and (rule or honest):
        raise click.UsageError("--rule and --honest hold run records out; a probe is fitted whole")
    if probe:
        _probe(records, machine, output, as_json)
        return
    rule = rule or ("every-second" if published else "all")
    if published:
        base, fit_bandwidth, refused = load_machine(machine or published), False, list[str]()
        samples = published_samples(published, base.torus)
    else:
        base, samples, fit_bandwidth, refused = _of_records(records, machine, Path(output).stem if output else "calibrated")
    training, held_out = split(samples, rule)
    found = calibrate(training, base.costs, fit_bandwidth)
    source = f"{f'--published {published}' if published else ' '.join(records)} (rule {rule}, {found.n_samples} of " \
             f"{len(samples)} times fitted)"
    errors = quality(training, held_out, found.time_s)
    fit = lru_cache(lambda some: calibrate(some, base.costs, fit_bandwidth))
    held = honest_errors(samples, fit) if honest else []
    if output:
        if "link_bandwidth" in found.left_out:
            raise CalibrationError("a machine file needs the link bandwidth, which the samples do not determine: "
                                   f"{found.left_out['link_bandwidth']}; name the machine with --machine, or label the runs "
                                   "link_bandwidth='148 MB/s'")
        probes.write_machine(base, probes.calibrated_figures(base, found, source, training), output)
    if as_json:
        print_json({"source": source, "rule": rule, "machine": base.name, "file": output, "left_out": found.left_out,
                    "figures": {key: asdict(f) | {"text": probes.figure_text(key, f, base)}
                                for key, f in found.figures.items()},
                    "quality": [asdict(row) for row in errors], "honest": [asdict(row) | {"mean": row.mean} for row in held],
                    "refused": refused})
        return
    rows = [[key, probes.figure_text(key, f, base), f"{100 * f.uncertainty:.2g} %", f.note]
            for key, f in found.figures.items()]
    rows += [[key, "-", "-", reason] for key, reason in found.left_out.items()]
    print_table(f"figures of {base.name} by {source}", ["figure", ">value", ">1 sigma", "note"], rows,
                [f"note: {line}" for line in refused])
    quality_table(errors, "errors |predicted/measured - 1|: mean and largest")
    if held:
        honest_table(held, "errors |predicted/measured - 1| of what was not fitted")
    if output:
        say(f"wrote {output}")


def _osu(texts: tuple[str, ...], machine: str, output: str | None, as_json: bool) -> None:
    files = dict[int, str]()
    for text in texts:
        nodes, _, path = text.partition("=")
        if not nodes.isdigit() or not path:
            raise click.UsageError(f"--osu {text[:40]!r} is no NODES=FILE; write such as 2=two.txt")
        if int(nodes) in files:
            raise click.UsageError(f"two files are of {int(nodes)} nodes; give one of them")
        files[int(nodes)] = path
    base = load_machine(machine)
    figures = probes.osu_figures(base, files)
    fitted = {key: figures[key].value for key in ("injection_per_node", "node_message_cost", "fitted_nodes")}
    if output:
        probes.write_machine(base, figures, output)
    if as_json:
        print_json({"machine": base.name, "file": output, "figures": fitted})
        return
    say(f"The ports of a node pass {fitted['injection_per_node']}, and take {fitted['node_message_cost']} for a message "
        f"(fitted up to {fitted['fitted_nodes']} nodes).")
    if output:
        say(f"wrote {output}")


def _probe(paths: Sequence[str], machine: str | None, output: str | None, as_json: bool) -> None:
    found = probes.read_probes(paths)
    fit, source = fit_probe(found), f"--probe {' '.join(paths)}"
    name = _machine_name(Path(output).stem) if output else "probed"
    base = load_machine(machine) if machine else probes.machine_of_probe(found, name) if output or found.torus else None
    figures = probes.probed_figures(base, fit, source) if base else {}
    if output and base:
        probes.write_machine(base, figures, output)
    peaks = dict(zip(base.torus.axes, base.torus.bandwidth or ())) if machine and base else {}
    if as_json:
        print_json({"source": source, "machine": base and base.name, "file": output, "messages": [
            probes.range_dict(each) for each in fit.messages], "hop_latency_s": fit.hop_latency_s,
            "cuts": [asdict(cut) | {"of_peak": _of_peak(cut, peaks)} for cut in fit.cuts],
            "quality": [asdict(row) for row in fit.quality], "notes": fit.notes})
        return
    rows = [[f"up to {each.get('up_to', 'any size')}", each["start"], each["ports"], each.get("rate", "-"),
             each.get("together", "-")] for each in map(probes.range_text, fit.messages)]
    hops = "hop latency: one distance only, so it is in the start" if fit.hop_latency_s is None else \
        f"hop latency: {probes.text_with_unit(fit.hop_latency_s, 's')}"
    print_table(f"messages by {source}", ["messages", ">start", ">ports", ">rate of one", ">of all at once"], rows,
                [hops, "-: no slower than the links", *(f"note: {note}" for note in fit.notes)])
    if fit.cuts:
        print_table("streams across the middle of each dimension, each way", [
            "across", ">streams", ">one", ">all", ">a link", ">bisection", *([">of peak"] if peaks else [])],
            [[cut.axis or "list", cut.streams,
              *(probes.text_with_unit(rate, "byte/s") for rate in (cut.alone, cut.together)), _link_text(cut),
              probes.text_with_unit(cut.bisection, "byte/s"), *(
                  [f"{100 * (_of_peak(cut, peaks) or 0):.0f} %"] if peaks else [])] for cut in fit.cuts],
            [">=: streams did not slow each other, so links may be faster"] if not all(c.slowed for c in fit.cuts) else [])
    print_table("errors |fitted/measured - 1|", ["of", ">number", ">mean", ">largest"], [
        [q.of, q.number, f"{100 * q.mean:.2f} %", f"{100 * q.largest:.2f} %"] for q in fit.quality])
    if output:
        say(f"wrote {output}")


def _of_peak(cut: Cut, peaks: dict[str, float]) -> float | None:
    return cut.link_bandwidth / peaks[cut.axis] if cut.link_bandwidth and cut.axis in peaks else None


def _link_text(cut: Cut) -> str:
    if cut.link_bandwidth is None:
        return "-"
    return ("" if cut.slowed else ">=") + probes.text_with_unit(cut.link_bandwidth, "byte/s")


def _of_records(paths: Sequence[str], machine: str | None, name: str) -> tuple[Machine, list[Sample], bool, list[str]]:
    """The machine, the samples, whether the bandwidth is fitted, and the omitted records."""
    by_path = {path: read_records(path) for path in paths}
    records = [record for found in by_path.values() for record in found]
    said = {bandwidth_of_record(record) for record in records}
    common = said.pop() if len(said) == 1 else None
    fit, bandwidth = machine is None and common is None, ANY_BANDWIDTH if common is None else common
    base = load_machine(machine) if machine else probes.machine_of_records(records, _machine_name(name), bandwidth)
    if machine:
        bandwidth = base.torus.bandwidth if len(set(base.torus.bandwidth)) > 1 else base.torus.bandwidth[:1]
    samples, refused = record_samples({f"{Path(path).name}:{number}": record for path, found in by_path.items()
                                       for number, record in enumerate(found, 1)}, bandwidth)
    return base, samples, fit, refused


def _machine_name(text: str) -> str:
    return re.sub(r"[^a-z0-9.-]+", "-", text.lower()).strip("-.") or "calibrated"
