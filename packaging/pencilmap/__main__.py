"""Entry point of the command `pencilmap`, also as `python -m pencilmap`."""

from pencilmap.scripts.command_line.interrupts import listen

listen()  # before all else, because the following imports take a tenth of a second


def main() -> None:
    """Run the command line."""
    from pencilmap.scripts.command_line.cli import main as command_line

    command_line()


if __name__ == "__main__":
    main()
