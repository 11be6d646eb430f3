"""Run records from the time model, for tests that need records with known figures."""

import json

from pencilmap.mapper.runs.compare import LOCAL_PHASES
from pencilmap.model.predict import predict
from pencilmap.model.times.timing import local_terms, local_work


def record(mapping, transform, costs, labels=(), coordinate_source="hostname"):
    """Return a valid record of three repetitions whose median is the model's time."""
    prediction, decomposition = predict(mapping, transform, costs=costs), mapping.grid.decomposition
    seconds = {f"exchange_{stage.name}": stage.time_s for stage in prediction.stages}
    local = [f"fft_{axis}" for axis in "xyz"]
    local += [f"{how}_{name}" for name in decomposition.names for how in ("pack", "unpack")]
    for beginnings, passes in LOCAL_PHASES.values():
        names = [name for name in local if name.startswith(beginnings)]
        work = local_work(transform, mapping.grid, mapping.tasks_per_node, **passes)
        each = (local_terms(work, costs).time_s or 1e-9) / len(names)
        seconds |= dict.fromkeys(names, float(each))
    seconds["total"] = sum(seconds.values())
    coordinates = mapping.coordinates().tolist()
    ranks = [{"rank": r, "world_rank": r, "host": f"n{node}", "coordinate": coordinates[r], "slot": int(slot),
              "binding": None}
             for r, (node, slot) in enumerate(zip(mapping.node_of_rank, mapping.slot_of_rank))]
    return {
        "schema": "pencilmap-run-record/2", "program": {"name": "fft_runner", "version": "0.1.0"}, "command": ["fft_runner"],
        "time": "2026-01-01T00:00:00Z", "labels": dict(labels), "size": [transform.nx, transform.ny, transform.nz],
        "decomposition": decomposition.name, "grid": list(mapping.grid.shape), "ranks": mapping.n_tasks,
        "type": transform.type,
        "precision": "single" if "single" in str(transform) else "double", "fields": transform.fields,
        "direction": "forward", "exchange": "alltoallv", "sync": "none", "rigor": "measure", "reps": 3, "warmup": 1,
        "stages": [{"name": name, "exchange": "alltoallv"} for name in decomposition.names],
        "phases": {name: {key: [0.98 * t, t, 1.5 * t] for key in ("max_s", "mean_s", "min_s")}
                   for name, t in seconds.items()},
        "verify": None,
        "placement": {"torus": str(mapping.network), "tasks_per_node": mapping.tasks_per_node, "source": "mapfile",
                      "mapfile": "x.map", "coordinate_source": coordinate_source, "self_check": "passed", "ranks": ranks},
        "mpi": {"library": "none", "standard": [3, 1]}, "fftw": "3.3.10", "hwloc": "2.8.0"}


def written(path, *records):
    """Write records to a file, one in a line, and return its path."""
    path.write_text("".join(json.dumps(each) + "\n" for each in records))
    return path
