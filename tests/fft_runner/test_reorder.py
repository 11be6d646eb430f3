"""pm_comm_reorder() with wrong arguments: no hang, and one message on all ranks; of two MPIs."""

import pytest

RANKS = 4
DIFFERS = "the arguments of pm_comm_reorder differ between ranks: {} is "
WRONG = {  # if one rank gives this argument: pattern of the message
    "machine null": 'machine and grid must be texts such as "8x8x8" and "8x64", not NULL',
    "machine unreadable": "torus '4q' is not understood",
    "machine other": DIFFERS.format("machine"),
    "machine larger": DIFFERS.format("machine"),
    "placement other": DIFFERS.format("machine"),
    "grid null": 'machine and grid must be texts such as "8x8x8" and "8x64", not NULL',
    "grid unreadable": "process grid 'two' does not fit",
    "grid too small": "process grid '2x1' does not fit",
    "grid other": DIFFERS.format("grid"),
    "grid slabs": DIFFERS.format("grid"),
    "newcomm null": "pm_comm_reorder: newcomm is NULL",
}
UNUSABLE = {
    "null communicator": "pm_comm_reorder: null communicator",
    "intercommunicator": "pm_comm_reorder: an intercommunicator; use MPI_Intercomm_merge",
    "after MPI_Finalize": "pm_comm_reorder: MPI has been finalized",
}
FIRST = {"machine": "'4 where=assumed'", "grid": "'2x2'"}


@pytest.fixture(params=["mpirun", pytest.param("mpich_run", marks=pytest.mark.slow)])
def start(request):
    """The launcher of each of two MPIs."""
    return request.getfixturevalue(request.param)


def test_a_wrong_argument_on_one_rank_is_refused_on_all(start):
    done = start(RANKS, program="reorder_arguments")
    assert done.returncode == 0, done.stdout + done.stderr
    lines = [line for line in done.stdout.splitlines() if line]
    assert lines[0] == "right -1 0 "
    told = {}
    for line in lines[1:]:
        name = next(case for case in [*WRONG, *UNUSABLE] if line.startswith(f"{case} "))
        bad, status, message = line.removeprefix(f"{name} ").split(" ", 2)
        assert status == "1", line
        told[name, int(bad)] = message
    assert set(told) == {(name, bad) for name in WRONG for bad in range(RANKS)} | {(name, -1) for name in UNUSABLE}
    for (name, bad), message in told.items():
        assert (WRONG | UNUSABLE)[name] in message, (name, bad, message)
        if bad > 0 and "differ between ranks" in message:
            assert any(value in message for value in FIRST.values()), message


def test_a_call_before_mpi_init_is_refused(start):
    done = start(1, "before", program="reorder_arguments")
    assert done.returncode == 0 and "pm_comm_reorder: MPI is not running; call MPI_Init first" in done.stdout, done.stderr
