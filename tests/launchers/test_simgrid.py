"""smpirun starts simulated ranks on the hosts that the hostfile names."""

from pathlib import Path

from pencilmap.mapper.formats import FORMATS
from tests.launchers.conftest import needs, succeed
from tests.launchers.placed import assert_where_the_file_says, written

PLATFORM = """<?xml version='1.0'?>
<!DOCTYPE platform SYSTEM "https://simgrid.org/simgrid.dtd">
<platform version="4.1">
  <cluster id="c" prefix="node-" suffix="" radical="0-3" speed="1Gf" bw="125MBps" lat="1us"/>
</platform>
"""


def test_smpirun_follows_the_hostfile(tmp_path):
    needs("smpirun", "libsimgrid-dev")
    program = tmp_path / "where"
    succeed(["smpicc", Path(__file__).with_name("where.c"), "-o", program])
    (tmp_path / "platform.xml").write_text(PLATFORM)
    for seed in range(2):
        mapping, job, line = written(tmp_path, "hostfile", seed, program, "node-{node}", "hosts")
        out = succeed(["sh", "-c", line.replace("PLATFORM", "platform.xml")], cwd=tmp_path)
        assert_where_the_file_says(out, mapping, job)


def test_paths_with_blanks_are_warned_of(tmp_path):
    """smpirun 3.32 cuts the path of the hostfile at the blank."""
    mapping, job, _ = written(tmp_path, "hostfile", 1)
    assert any("blank" in w for w in FORMATS["hostfile"].launch(mapping, job, "my hosts").warnings)
    assert not FORMATS["hostfile"].launch(mapping, job, "my_hosts").warnings
