#!/usr/bin/env python3
"""Draw measurements of transpose_bench: time and ratio over message size, a column of panels for each group size.

    mpirun -n 8 build/bin/transpose_bench --json transposes.jsonl
    scripts/pictures/plot_transposes.py transposes.jsonl -o transposes.svg
"""

import argparse
import sys
from os import PathLike


def draw(samples: str | PathLike[str], path: str | PathLike[str], reference: str) -> None:
    """Draw a file of transpose_bench in two rows: times above, ratios to the exchange ``reference`` below."""
    from pencilmap.mapper.studies.transposes import by_exchange, ratios, read_transposes
    from pencilmap.scripts.pictures.figures.canvas import figure, save

    cases = read_transposes(samples)
    groups = list(dict.fromkeys(case.group for case in cases))
    with figure(7, 4 * len(groups) + 2) as drawn:
        axes = drawn.subplots(2, len(groups), squeeze=False, sharex=True, sharey="row")
        for column, group in enumerate(groups):
            exchanges = by_exchange([case for case in cases if case.group == group])
            for number, (name, some) in enumerate(exchanges.items()):
                style = {"label": name, "marker": "osv^Dxp*h"[number % 9], "markersize": 4, "color": f"C{number}"}
                axes[0][column].plot([case.message_bytes for case in some], [1e6 * case.time_s for case in some], **style)
                relative = ratios(some, exchanges.get(reference, []))
                axes[1][column].plot(list(relative), [found[group] for found in relative.values()], **style)
            axes[0][column].set(title=f"groups of {group} ranks", xscale="log", yscale="log")
            axes[1][column].set(xlabel="bytes of a message", xscale="log", yscale="log")
        axes[0][0].set_ylabel("microseconds, with packing")
        axes[1][0].set_ylabel(f"ratio to {reference}")
        axes[0][-1].legend(loc="upper left", bbox_to_anchor=(1.02, 1))
        save(drawn, path)


def main(arguments: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("samples", help="JSON lines of transpose_bench")
    parser.add_argument("-o", "--output", default="transposes.svg", help="picture; its suffix sets the format")
    parser.add_argument("--reference", default="alltoallv", help="reference exchange of the ratios")
    options = parser.parse_args(arguments)
    try:
        draw(options.samples, options.output, options.reference)
    except ModuleNotFoundError as error:
        sys.exit(f"plot_transposes: {error}; run it with the Python that pencilmap is installed for: .venv/bin/python")
    except Exception as error:
        sys.exit(f"plot_transposes: {error}")


if __name__ == "__main__":
    main()
