"""The C units that need no MPI: CMakeLists.txt lists them, ctest runs them."""

import subprocess


def test_c_units(programs):
    done = subprocess.run(["ctest", "--output-on-failure", "--no-tests=error"], cwd=programs.parent, capture_output=True,
                          text=True, timeout=300)
    assert done.returncode == 0, done.stdout
