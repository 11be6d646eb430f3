"""The box's requirements on the machine."""

from pencilmap.scripts.networks.namespaces import experiment


def test_tools_are_found_where_an_ordinary_user_does_not_look(monkeypatch, tmp_path):
    system, jobs = tmp_path / "sbin", []
    system.mkdir()
    for tool in experiment.TOOL_PACKAGES:
        (system / tool).write_text("#!/bin/sh\n")
        (system / tool).chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setattr(experiment, "SYSTEM_FOLDERS", (str(system),))
    monkeypatch.setattr(experiment, "run_boxed", lambda job, seconds: jobs.append(job))
    experiment.check_available()
    assert len(jobs) == 1
