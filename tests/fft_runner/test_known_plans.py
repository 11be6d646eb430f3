"""Known plans (known_plans_test.c): a change of a block or a message changes a checksum.

`known_plans.txt` has the checksum of every plan: a line has the number of ranks, the number of its first plan, and the
checksums. If a checksum differs, the failure names a command that prints the plan; run this command with the previous
library, too. After an intended change, run ``python -m tests.fft_runner.test_known_plans``; every changed plan must belong
to this change.
"""

import subprocess
from pathlib import Path

import pytest

from tests.fft_runner.conftest import ENVIRONMENT, OPEN_MPI_OPTIONS, ROOT

MPI = "Open MPI v4.1"
KNOWN = Path(__file__).with_name("known_plans.txt")
A_LINE, DIGITS = 20, 5  # a line's checksums, and their digits, of which 16 are printed
PLANS = {1: 200, 2: 100, 3: 80, 4: 100, 6: 40}  #: by ranks; plans of a single rank have the most variants
AT_EACH_COMMIT = 0.5  #: of the plans; all with --slow


def read(printed):
    """Return checksums by ranks and number from the file, or from the output of the program."""
    lines = [line.split() for line in printed.splitlines()[1:]]
    return {(int(ranks), int(first) + k): checksum[:DIGITS] for ranks, first, *found in lines
            for k, checksum in enumerate(found)}


@pytest.mark.examples
@pytest.mark.parametrize("ranks", PLANS)
def test_plans_are_what_they_were(mpirun, ranks, pytestconfig):
    plans = round(PLANS[ranks] * (1 if pytestconfig.getoption("--slow") else AT_EACH_COMMIT))
    done = mpirun(ranks, "0", str(plans - 1), program="known_plans_test")
    assert done.returncode == 0, done.stdout + done.stderr
    mpi = done.stdout.partition("\n")[0]
    if not mpi.startswith(MPI):
        pytest.skip(f"these are calls of {MPI}; the library makes other ones of {mpi}")
    known, found = read(KNOWN.read_text("utf-8")), read(done.stdout)
    assert [*found] == [(ranks, number) for number in range(plans)]
    changed = [number for (_, number), checksum in found.items() if checksum != known[ranks, number]]
    assert not changed, f"{len(changed)} plans differ; mpirun -n {ranks} known_plans_test {changed[0]} prints the first"


def test_all_that_a_checksum_is_of_is_printed_rank_by_rank(mpirun):
    printed = [mpirun(2, "2", program="known_plans_test").stdout for _ in range(2)]
    assert printed[0] == printed[1]
    one, other = printed[0].removeprefix("---- rank 0\n").split("---- rank 1\n")
    assert "exchange" in one and "exchange" in other and one != other


if __name__ == "__main__":
    lines = [MPI]
    for ranks, plans in PLANS.items():
        told = subprocess.run(["mpirun", *OPEN_MPI_OPTIONS, "-n", str(ranks), ROOT / "build/bin/known_plans_test", "0",
                               str(plans - 1)], env=ENVIRONMENT, stdout=subprocess.PIPE, text=True, check=True).stdout
        found = [*read(told).values()]
        lines += [" ".join([str(ranks), str(k), *found[k:k + A_LINE]]) for k in range(0, plans, A_LINE)]
    KNOWN.write_text("\n".join(lines) + "\n", "utf-8")
