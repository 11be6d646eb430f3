"""Entry point of the command `pencilmap`, also as `python -m pencilmap`."""

import os
import sys

from pencilmap.scripts.command_line.interrupts import listen

if sys.argv[1:2] != ["trace"]:  # whose program inherits the variable
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # further threads mostly wait, which doubles the processor time
listen()  # before all else, because the following imports take a tenth of a second


def main() -> None:
    """Run the command line."""
    from pencilmap.scripts.command_line.cli import main as command_line

    command_line()


if __name__ == "__main__":
    main()
