"""Entry point of the command `pencilmap`, also as `python -m pencilmap`."""

import sys


def main() -> None:
    """Run the command line; Ctrl-C during loading is reported as it is later."""
    try:
        from pencilmap.scripts.command_line.cli import main as command_line  # takes a tenth of a second
    except KeyboardInterrupt:
        print("pencilmap: interrupted", file=sys.stderr)
        sys.exit(130)
    command_line()


if __name__ == "__main__":
    main()
