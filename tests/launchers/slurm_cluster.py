"""A Slurm cluster of four nodes on this machine: munged, slurmctld and four slurmd on loopback, ended with the test."""

import os
import pwd
import secrets
import socket
import subprocess
import time
from contextlib import ExitStack, contextmanager
from typing import NamedTuple

from tests.launchers.placed import TASKS
from tests.patience import patience

HOSTS = tuple(f"node-{x}-{y}" for y in range(2) for x in range(2))
CPUS = 2 * TASKS  # of a node, so that a plane can be less than a node
START_S, STOP_S = 30, 10

CONFIGURATION = """\
ClusterName=pencilmap
SlurmctldHost={host}(127.0.0.1)
SlurmctldPort={port}
SlurmUser={user}
SlurmdUser={user}
AuthType=auth/munge
AuthInfo=socket={folder}/munge.sock
CryptoType=crypto/munge
StateSaveLocation={folder}/state
SlurmdSpoolDir={folder}/spool/%n
SlurmctldPidFile={folder}/slurmctld.pid
SlurmdPidFile={folder}/%n.pid
SlurmctldLogFile={folder}/slurmctld.log
SlurmdLogFile={folder}/%n.log
ProctrackType=proctrack/pgid
TaskPlugin=task/{plugin}
SelectType=select/cons_tres
SelectTypeParameters=CR_CPU
SchedulerType=sched/builtin
SwitchType=switch/none
MpiDefault=none
ReturnToService=2
SlurmdParameters=config_overrides
{nodes}
PartitionName=all Nodes=ALL Default=YES State=UP
{topology}
"""
TOPOLOGY = """\
SwitchName=leaf0 Nodes=node-0-0,node-1-0
SwitchName=leaf1 Nodes=node-0-1,node-1-1
SwitchName=spine Switches=leaf[0-1]
"""
NODE = "NodeName={name} NodeHostname={host} NodeAddr=127.0.0.1 Port={port} CPUs={cpus} State=UNKNOWN"
CLOUD = """\
NodeName={nodes} CPUs=1 State=CLOUD
SuspendProgram=/bin/true
ResumeProgram=/bin/true
SuspendTime=60000
"""


class NoCluster(Exception):
    """The cluster does not start here; the message says why."""


class Cloud(NamedTuple):
    """Nodes without daemons, that would be started for a job: `srun --test-only` tells which of them a job would get."""

    nodes: str  #: a list of hosts
    topology: str
    setting: str  #: lines of slurm.conf about the topology


@contextmanager
def cluster(folder, cloud=None, binds=False):
    """Start the daemons, which bind tasks to processors if wanted, yield the environment for srun, stop the daemons."""
    folder.chmod(0o755)
    for name in ("state", "spool", *(f"spool/{host}" for host in HOSTS)):
        (folder / name).mkdir()
    configure(folder, cloud, binds)
    environment = {**os.environ, "SLURM_CONF": str(folder / "slurm.conf")}
    with ExitStack() as running:
        start(running, folder, environment, ["munged", "--foreground", "--force", f"--socket={folder}/munge.sock",
                                             f"--key-file={folder}/munge.key", f"--pid-file={folder}/munged.pid",
                                             f"--log-file={folder}/munged.log", f"--seed-file={folder}/munge.seed"])
        wait_for((folder / "munge.sock").exists, folder)
        start(running, folder, environment, ["slurmctld", "-D"])
        for host in HOSTS if cloud is None else ():
            start(running, folder, environment, ["slurmd", "-D", "-N", host])
        wait_for(lambda: idle_nodes(environment) >= (len(HOSTS) if cloud is None else 0), folder)
        yield {"SLURM_CONF": environment["SLURM_CONF"]}


def configure(folder, cloud=None, binds=False):
    key = folder / "munge.key"
    key.touch(mode=0o600)
    key.write_bytes(secrets.token_bytes(1024))
    host, user = socket.gethostname().partition(".")[0], pwd.getpwuid(os.getuid()).pw_name
    port, *ports = free_ports(1 + len(HOSTS))
    cpus = TASKS if binds else CPUS
    nodes = "\n".join(NODE.format(name=name, host=host, port=p, cpus=cpus) for name, p in zip(HOSTS, ports))
    if cloud:
        nodes = CLOUD.format(nodes=cloud.nodes)
    setting = cloud.setting if cloud else "TopologyPlugin=topology/tree"
    (folder / "slurm.conf").write_text(CONFIGURATION.format(host=host, user=user, port=port, folder=folder, nodes=nodes,
                                                            topology=setting, plugin="affinity" if binds else "none"))
    (folder / "topology.conf").write_text(cloud.topology if cloud else TOPOLOGY)


def free_ports(count):
    with ExitStack() as stack:
        sockets = [stack.enter_context(socket.socket()) for _ in range(count)]
        for s in sockets:
            s.bind(("127.0.0.1", 0))
        return [s.getsockname()[1] for s in sockets]


def start(running, folder, environment, command):
    """Start a daemon that stops at the end of `running`."""
    with open(folder / f"{command[0]}.out", "ab") as out:
        process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=out, stderr=out, env=environment)
    running.callback(stop, process)


def stop(process):
    process.terminate()
    try:
        process.wait(patience(STOP_S))
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()


def idle_nodes(environment):
    done = subprocess.run(["sinfo", "-h", "-N", "-o", "%N %T"], capture_output=True, text=True, env=environment,
                          timeout=patience(START_S))
    return -1 if done.returncode else sum(line.split()[1:] == ["idle"] for line in done.stdout.splitlines())


def wait_for(ready, folder):
    end = time.monotonic() + patience(START_S)
    while not ready():
        if time.monotonic() > end:
            raise NoCluster(f"not ready after {START_S} s; the last lines of its daemons: {last_words(folder)}")
        time.sleep(0.1)


def last_words(folder):
    return " / ".join(path.read_text(errors="replace").strip().rpartition("\n")[2] for path in sorted(folder.glob("*.out")))
