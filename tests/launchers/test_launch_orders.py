"""Launchers without a placement fill several hosts in the claimed order, also with settings of the job."""

import json

import pytest

from pencilmap.mapper.allocations import look_around
from pencilmap.mapper.base.hosts import Hosts
from pencilmap.mapper.launchers import launch_order
from pencilmap.mapper.seeds.default_order import default
from pencilmap.model.placement.allocation import Allocation, Site
from pencilmap.model.placement.grid import ProcessGrid
from tests.launchers.conftest import AGENT, intel_mpi, needs, open_mpi, succeed
from tests.launchers.placed import REPORT, TORUS, reported
from tests.launchers.slurm_cluster import CPUS

SLOTS = 2
LISTS = ((0, 1, 2, 3), (3, 0, 2, 1))  # nodes in the order that the launcher gets
N_RANKS = TORUS.n_nodes * SLOTS  # half of the nodes have twice as many slots, as Slurm's nodes have


def host_names(nodes):
    return Hosts(TORUS).names(list(nodes))


def claimed(nodes, launcher=None, environ=None, tasks=SLOTS):
    """Return the host of each rank by pencilmap's order for the launcher or the job."""
    site = Site(TORUS, tasks, Allocation(TORUS, list(nodes)))
    orders = launch_order(site, launcher=launcher, environ=environ).orders
    assert orders, "no order is claimed"
    return host_names(default(orders[0], site, ProcessGrid(site.n_slots, 1)).node_of_rank)


def hosts_of_ranks(text):
    return [host for host, _ in reported(text)]


def written(folder, line, nodes):
    """Write a file with a line for each host."""
    path = folder / "hosts"
    path.write_text("".join(line.format(host) for host in host_names(nodes)))
    return path


# ---- Open MPI ------------------------------------------------------------------------------------------------------------

MPI_4 = [{}] + [{f"OMPI_MCA_rmaps_base_{name}": policy} for name, policy in (
    ("mapping_policy", "node"), ("mapping_policy", "slot"), ("mapping_policy", "core"), ("ranking_policy", "node"),
    ("ranking_policy", "slot"), ("schedule_policy", "node"), ("bynode", "1"))]
MPI_5 = [{}] + [{f"PRTE_MCA_rmaps_default_{name}_policy": policy} for name, policy in (
    ("mapping", "node"), ("mapping", "slot"), ("mapping", "core"), ("ranking", "node"), ("ranking", "slot"))]


FOREIGN = [{"SLURM_DISTRIBUTION": "cyclic"}, {"I_MPI_PERHOST": "1"}, {"MPICH_RANK_REORDER_METHOD": "0"}]
MPI_4 += [*FOREIGN, {"OMPI_MCA_rmaps_base_mapping_policy": ":OVERSUBSCRIBE"},
          {"PRTE_MCA_rmaps_default_mapping_policy": "node"}]
MPI_5 += [*FOREIGN, {"OMPI_MCA_rmaps_base_mapping_policy": "node"}]


@pytest.mark.sampled(1)
@pytest.mark.parametrize("version, setting", [*((5, each) for each in MPI_5), *((4, each) for each in MPI_4)], ids=str)
def test_open_mpi(tmp_path, hosts_tmp, version, setting):
    program, environment = open_mpi(version)
    for nodes in LISTS if not setting else LISTS[1:]:
        found = succeed([program, "--hostfile", written(tmp_path, f"{{}} slots={SLOTS}\n", nodes), "-np", N_RANKS, REPORT],
                        {**environment, "HOSTS_TMP": hosts_tmp, **setting})
        assert hosts_of_ranks(found) == claimed(nodes, f"openmpi{version}", setting)


def test_the_runner_assumes_what_open_mpi_does(tmp_path, hosts_tmp, programs):
    """Coordinates from the hosts' names and assumed coordinates agree, in launch order."""
    program, environment = open_mpi(4)
    launch = [program, "--hostfile", written(tmp_path, f"{{}} slots={SLOTS}\n", LISTS[0]),
              "-np", N_RANKS, "--mca", "pml", "ob1", "--mca", "btl", "tcp,self", "--mca", "mpi_yield_when_idle", "1"]
    options = ["--size", 8, 8, 8, "--grid", f"{SLOTS}x{TORUS.n_nodes}", "--rigor", "estimate", "--reps", 1, "--warmup", 0,
               "--machine-torus", TORUS, "--json", tmp_path / "runs.jsonl"]
    for source in ("environment", "assumed"):
        succeed([*launch, programs / "fft_runner", *options, "--coordinates", source],
                {**environment, "HOSTS_TMP": hosts_tmp})
    known, assumed = (json.loads(line)["placement"] for line in (tmp_path / "runs.jsonl").read_text().splitlines())
    assert (known["launch_order"], assumed["launch_order"]) == (None, "tn")
    assert [(rank["world_rank"], rank["coordinate"], rank["slot"]) for rank in known["ranks"]] == [
        (rank["world_rank"], rank["coordinate"], rank["slot"]) for rank in assumed["ranks"]]


# ---- MPICH and Intel MPI -------------------------------------------------------------------------------------------------

HYDRA = {"hosts with counts": (f"{{0}}:{SLOTS}\n", ()), "hosts named once for each slot": ("{0}\n" * SLOTS, ()),
         "-ppn": ("{0}\n", ("-ppn", SLOTS))}


def by_mpich(hostfile, options):
    return hosts_of_ranks(succeed([needs("mpiexec.mpich", "mpich"), "-f", hostfile, *options, "-n", N_RANKS, REPORT],
                                  {"HYDRA_LAUNCHER": "ssh", "HYDRA_LAUNCHER_EXEC": str(AGENT)}))


@pytest.mark.parametrize("line, options", HYDRA.values(), ids=HYDRA)
def test_mpich(tmp_path, line, options):
    for nodes in LISTS:
        assert by_mpich(written(tmp_path, line, nodes), options) == claimed(nodes, "hydra")


def test_mpich_goes_round_hosts_without_counts(tmp_path):
    """As the source of its order handles hosts without counts."""
    found = by_mpich(written(tmp_path, "{}\n", LISTS[1]), ())
    assert found == host_names(LISTS[1]) * SLOTS


@pytest.mark.parametrize("setting", [{}, {"I_MPI_PERHOST": "1"}, {"I_MPI_PERHOST": str(SLOTS)}], ids=str)
def test_intel_mpi(tmp_path, setting):
    folder, environment = intel_mpi()
    line = "{}\n" if setting else f"{{}}:{SLOTS}\n"
    for nodes in LISTS:
        found = succeed([folder / "mpiexec.hydra", "-f", written(tmp_path, line, nodes), "-n", N_RANKS, REPORT],
                        {**environment, **setting})
        assert hosts_of_ranks(found) == claimed(nodes, "intel", setting)


# ---- Slurm ---------------------------------------------------------------------------------------------------------------

JOB = f"env | grep ^SLURM_; echo; srun {REPORT}"


def run_job(environment, nodes, options=()):
    return succeed(["salloc", "-N", nodes, f"--ntasks-per-node={N_RANKS // nodes}", *options, "sh", "-c", JOB], environment)


def job_of(text):
    """Return the environment of a job and the hosts of its ranks."""
    variables, _, ranks = text.partition("\n\n")
    return dict(line.split("=", 1) for line in variables.splitlines()), hosts_of_ranks(ranks)


def check_job(text, tasks):
    """Check that the order from the job's environment is the order in which srun filled its nodes."""
    environ, found = job_of(text)
    picture = look_around(environ, torus=str(TORUS))
    assert picture.tasks_per_node == tasks and sorted(set(found)) == sorted(host_names(picture.nodes))
    assert found == claimed(picture.nodes, environ=environ, tasks=tasks)


@pytest.mark.parametrize("nodes, options", [
    (4, ()), (4, ("-m", "block")), (4, ("-m", "cyclic")), (2, ()), (2, ("-m", "cyclic:block")), (2, ("-m", "plane=2")),
    (2, ("-m", "plane=1")), (2, ("-w", "node-1-1,node-0-0"))], ids=str)
def test_slurm(slurm, nodes, options):
    check_job(run_job(slurm, nodes, options), N_RANKS // nodes)


@pytest.mark.parametrize("distribution", ["block", "cyclic"])
def test_slurm_sorts_the_nodes_by_name(slurm, distribution):
    """Without a list of the nodes, this is either of the two claimed orders."""
    environ, found = job_of(run_job(slurm, 4, ("-w", ",".join(host_names(LISTS[1])), "-m", distribution)))
    site = Site(TORUS, N_RANKS // 4)
    by_list, by_name = launch_order(site, environ=environ).orders
    assert found == host_names(default(by_name, site, ProcessGrid(site.n_slots, 1)).node_of_rank)
    assert found != host_names(default(by_list, site, ProcessGrid(site.n_slots, 1)).node_of_rank)


@pytest.mark.parametrize("distribution", ["block", "cyclic", "cyclic:cyclic", "block:cyclic", "*:cyclic", "plane=2",
                                          "plane=4"])
def test_slurm_with_a_variable_of_the_user(slurm, distribution):
    check_job(run_job({**slurm, "SLURM_DISTRIBUTION": distribution}, 2), CPUS)
