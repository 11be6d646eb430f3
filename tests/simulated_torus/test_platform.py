"""The platform plugin alone: routes, its text file, ties as measured, the commands of its README."""

import os
import subprocess
from pathlib import Path

import pytest

from tests.patience import patience

TIMEOUT_S = 60
BYTES_PER_S = 148e6


@pytest.fixture(scope="session")
def tie_program(build, tmp_path_factory):
    program = tmp_path_factory.mktemp("tie") / "tie"
    source = Path(__file__).with_name("tie.c")
    subprocess.run(["smpicc", "-O2", "-Wall", "-o", program, source], check=True, timeout=patience(TIMEOUT_S))
    return program


@pytest.fixture
def smpirun(build, tie_program, tmp_path):
    """Run the tie program on the nodes of a ring with a platform file; None leaves the file out."""

    def run(platform_text, nodes=8, distance=4):
        (tmp_path / "hosts").write_text("".join(f"node-{i}\n" for i in range(nodes)))
        if platform_text is not None:
            (tmp_path / "platform.txt").write_text(platform_text)
        command = ["smpirun", "-np", str(nodes), "-platform", build.platform, "-hostfile", "hosts",
                   "--log=root.thresh:warning", "--cfg=network/model:CM02", "--cfg=network/crosstraffic:0",
                   "--cfg=smpi/simulate-computation:no", tie_program, str(distance), str(BYTES_PER_S)]
        return subprocess.run([str(word) for word in command], cwd=tmp_path, capture_output=True, text=True,
                              timeout=patience(TIMEOUT_S), env=os.environ | {"PENCILMAP_PLATFORM": "platform.txt"})

    return run


def test_routes_and_platform_files_by_hand(build):
    done = subprocess.run([build.directory / "bin" / "torus_test"], capture_output=True, text=True,
                          timeout=patience(TIMEOUT_S))
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("shape, distance, more, ways", [
    ("8", 3, "", "0+ 1+ 2+ 3+ 4+ 5+ 6+ 7+"),
    ("8", 5, "", "0- 1- 2- 3- 4- 5- 6- 7-"),
    ("8", 4, "", "0+ 1- 2+ 3- 4+ 5- 6+ 7-"),
    ("8", 4, "tie = plus\n", "0+ 1+ 2+ 3+ 4+ 5+ 6+ 7+"),
    ("4", 2, "", "0+ 1- 2+ 3-"),
])
def test_ties_go_up_from_even_and_down_from_odd_coordinates(smpirun, shape, distance, more, ways):
    done = smpirun(f"shape = {shape}\nbandwidth_bytes_per_s = {BYTES_PER_S}\n{more}", int(shape), distance)
    assert done.returncode == 0, done.stderr
    assert sorted(done.stdout.split()) == ways.split()


@pytest.mark.parametrize("text, message", [
    (None, "network_platform: PENCILMAP_PLATFORM='platform.txt' cannot be opened: No such file or directory"),
    ("", "network_platform: platform.txt: shape is missing"),
    ("shape = 8\n", "network_platform: platform.txt: bandwidth_bytes_per_s is missing"),
    ("shape = 8y\n", "network_platform: platform.txt: bandwidth_bytes_per_s is missing"),
    ("shape = 8\nbandwidth_bytes_per_s = 1e6\nhops = 3\n",
     "network_platform: platform.txt line 3: unknown key 'hops'; known are "),
    ("shape = 8\nbandwidth_bytes_per_s = 1e6\nusage_file = no/such/folder\n",
     "network_platform: usage_file 'no/such/folder' cannot be written: No such file or directory"),
])
def test_bad_platforms_end_the_run_with_one_clear_message(smpirun, text, message):
    done = smpirun(text)
    assert done.returncode != 0
    assert next(line for line in done.stderr.splitlines() if line.startswith("network_platform")).startswith(message)


TABLE = """# two hosts
host node-0
host node-1
link wire 148e6
route node-0 node-1 0 wire
route node-1 node-0 0 wire*2  # twice the time
"""


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
def test_bad_tables_end_the_run_with_the_line(smpirun, tmp_path, old, new, message):
    assert old in TABLE
    (tmp_path / "routes.txt").write_text(TABLE.replace(old, new, 1))
    done = smpirun("routes = routes.txt\n", 2, 1)
    assert done.returncode != 0
    assert next(line for line in done.stderr.splitlines() if line.startswith("network_platform")).startswith(
        f"network_platform: {message}")


@pytest.mark.parametrize("text, message", [
    ("routes = nowhere.txt\n", "routes='nowhere.txt' cannot be opened: No such file or directory"),
    ("routes = routes.txt\nshape = 8\n", "platform.txt line 2: shape belongs to a shape, and routes are given"),
])
def test_a_platform_has_a_shape_or_a_table(smpirun, tmp_path, text, message):
    (tmp_path / "routes.txt").write_text(TABLE)
    done = smpirun(text, 2, 1)
    assert done.returncode != 0 and f"network_platform: {message}" in done.stderr


def test_the_commands_of_the_readme_work(build, tmp_path):
    readme = (build.source / "simulated_network" / "README.md").read_text()
    commands = [line.strip() for line in readme.splitlines() if line.startswith("    ")]
    assert commands[0].startswith("cmake ")
    (tmp_path / "build").symlink_to(build.directory)
    done = subprocess.run(["bash", "-ec", "\n".join(commands[1:])], cwd=tmp_path, capture_output=True, text=True,
                          timeout=patience(TIMEOUT_S))
    assert done.returncode == 0, done.stderr
    assert "verification passed" in done.stdout
