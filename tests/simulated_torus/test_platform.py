"""The platform plugin alone: routes, its text files, the commands of its README."""

import os
import subprocess

import pytest

from tests.patience import patience

TIMEOUT_S = 60
TABLE = """# two hosts
host node-0
host node-1
link wire 148e6
route node-0 node-1 0 wire
route node-1 node-0 0 wire*2  # twice the time
"""


@pytest.fixture
def refusal(build, tmp_path):
    """Start a run with a platform file, None for no file, and a table of routes; return the message with which it ends."""

    def run(platform, table):
        (tmp_path / "hosts").write_text("node-0\nnode-1\n")
        (tmp_path / "routes.txt").write_text(table)
        if platform is not None:
            (tmp_path / "platform.txt").write_text(platform)
        program = build.program("fft_runner_smpi")
        command = ["smpirun", "-np", "2", "-platform", build.platform, "-hostfile", "hosts", program]
        done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=patience(TIMEOUT_S),
                              env=os.environ | {"PENCILMAP_PLATFORM": "platform.txt"})
        assert done.returncode != 0
        head = "network_platform: "
        return next(line.removeprefix(head) for line in done.stderr.splitlines() if line.startswith(head))

    return run


def test_routes_and_platform_files_by_hand(build):
    done = subprocess.run([build.directory / "bin" / "torus_test"], capture_output=True, text=True,
                          timeout=patience(TIMEOUT_S))
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("text, message", [
    (None, "PENCILMAP_PLATFORM='platform.txt' cannot be opened: No such file or directory"),
    ("", "platform.txt: shape is missing"),
    ("shape = 8\nbandwidth_bytes_per_s = 1e6\nusage_file = no/such/folder\n",
     "usage_file 'no/such/folder' cannot be written: No such file or directory"),
    ("routes = nowhere.txt\n", "routes='nowhere.txt' cannot be opened: No such file or directory"),
    ("routes = routes.txt\nshape = 8\n", "platform.txt line 2: shape belongs to a shape, and routes are given"),
])
def test_bad_platforms_end_the_run_with_one_clear_message(refusal, text, message):
    assert refusal(text, TABLE).startswith(message)


@pytest.mark.parametrize("old, new, message", [
    ("wire 148e6", "wire fast", "routes.txt line 4: 'fast' is not a number"),
    ("wire 148e6", "wire 0", "routes.txt line 4: '0' must be above 0"),
    ("wire 148e6", "wire", "routes.txt line 4: 'link' with 1 words is not of the form link NAME BYTES_PER_S"),
    ("host node-1", "host node-0", "routes.txt line 3: host 'node-0' is given twice"),
    ("host node-1", "node node-1", "routes.txt line 3: 'node' is unknown; a line begins with host, link or route"),
    ("0 wire\n", "0 cable\n", "routes.txt line 5: link 'cable' is not in an earlier line"),
    ("node-0 0 wire*2", "node-2 0 wire*2", "routes.txt line 6: host 'node-2' is not in an earlier line"),
    ("wire*2", "wire*0", "routes.txt line 6: '0' must be a whole number from 1 to 1048576"),
    ("0 wire*2", "-1 wire*2", "routes.txt line 6: '-1' must be 0 or above"),
    ("route node-1 node-0", "route node-0 node-1", "routes.txt line 6: the route from 'node-0' to 'node-1' is given twice"),
    ("route node-1 node-0 0 wire*2", "", "routes.txt: the route from 'node-1' to 'node-0' is missing"),
    ("# twice the time", "\nhost node-2", "routes.txt line 7: host 'node-2' follows a route"),
    (TABLE, "", "routes.txt: there is no host"),
])
def test_bad_tables_end_the_run_with_the_line(refusal, old, new, message):
    assert old in TABLE and refusal("routes = routes.txt\n", TABLE.replace(old, new, 1)).startswith(message)


def test_the_commands_of_the_readme_work(build, tmp_path):
    readme = (build.source / "simulated_network" / "README.md").read_text()
    commands = [line.strip() for line in readme.splitlines() if line.startswith("    ")]
    assert commands[0].startswith("cmake ")
    (tmp_path / "build").symlink_to(build.directory)
    done = subprocess.run(["bash", "-ec", "\n".join(commands[1:])], cwd=tmp_path, capture_output=True, text=True,
                          timeout=patience(TIMEOUT_S))
    assert done.returncode == 0, done.stderr
    assert "verification passed" in done.stdout
