#!/usr/bin/env python3
"""Draw measurements of transpose_bench: time and ratio over message size, a column of panels for each group size.

    mpirun -n 8 build/bin/transpose_bench --json transposes.jsonl
    scripts/pictures/plot_transposes.py transposes.jsonl -o transposes.svg
"""

import argparse
import sys
from os import PathLike
from pathlib import Path
from typing import TypeAlias

Samples: TypeAlias = dict[int, dict[str, dict[int, float]]]  # ranks of a group, exchange, bytes of a message: seconds


def read_samples(path: str | PathLike[str]) -> Samples:
    """Return the median seconds of the slowest rank, by group size, exchange and message size.

    The file holds JSON lines of transpose_bench. Cases that an exchange refused are left out. The result is
    ``{ranks of a group: {exchange: {bytes of a message: seconds}}}``; several samples of a case give their median.
    """
    from pencilmap.mapper.studies.transposes import read_transposes

    samples: Samples = {}
    for case in read_transposes(path):
        samples.setdefault(case.group, {}).setdefault(case.exchange, {})[case.message_bytes] = case.time_s
    return samples


def ratios(times: dict[int, float], reference: dict[int, float]) -> dict[int, float]:
    """Return the ratio of an exchange's times to another's, for common sizes."""
    return {size: seconds / reference[size] for size, seconds in times.items() if reference.get(size)}


def draw(samples: Samples, path: str | PathLike[str], reference: str) -> None:
    """Draw a figure of two rows: times above, ratios to the exchange ``reference`` below."""
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot

    matplotlib.rcParams["svg.hashsalt"] = "transposes"  # for the same file each time
    figure, axes = pyplot.subplots(2, len(samples), figsize=(4 * len(samples) + 2, 7), squeeze=False, sharex=True,
                                   sharey="row")
    for column, (group, exchanges) in enumerate(samples.items()):
        for number, (name, times) in enumerate(exchanges.items()):
            style = {"label": name, "marker": "osv^Dxp*h"[number % 9], "markersize": 4, "color": f"C{number}"}
            axes[0][column].plot(list(times), [1e6 * seconds for seconds in times.values()], **style)
            relative = ratios(times, exchanges.get(reference, {}))
            axes[1][column].plot(list(relative), list(relative.values()), **style)
        axes[0][column].set(title=f"groups of {group} ranks", xscale="log", yscale="log")
        axes[1][column].set(xlabel="bytes of a message", xscale="log", yscale="log")
    axes[0][0].set_ylabel("microseconds, with packing")
    axes[1][0].set_ylabel(f"ratio to {reference}")
    axes[0][-1].legend(fontsize="small", loc="upper left", bbox_to_anchor=(1.02, 1))
    figure.tight_layout()
    figure.savefig(path, metadata={"Date": None} if Path(path).suffix == ".svg" else None)
    pyplot.close(figure)


def main(arguments: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("samples", help="JSON lines of transpose_bench")
    parser.add_argument("-o", "--output", default="transposes.svg", help="picture; its suffix sets the format")
    parser.add_argument("--reference", default="alltoallv", help="reference exchange of the ratios")
    options = parser.parse_args(arguments)
    try:
        draw(read_samples(options.samples), options.output, options.reference)
    except ModuleNotFoundError as error:
        sys.exit(f"plot_transposes: {error}; run it with the Python that pencilmap is installed for: .venv/bin/python")
    except Exception as error:
        sys.exit(f"plot_transposes: {error}")


if __name__ == "__main__":
    main()
