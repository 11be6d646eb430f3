"""TPU slices: the shape from the environment, devices from the output of ``print(jax.devices())``.

``TPU_TOPOLOGY`` ("4x4x8") with ``TPU_TOPOLOGY_WRAP`` ("true,true,true"): the tpu-env of public TPU set-up files.
``TpuDevice(id=2, process_index=0, coords=(0,1,0), core_on_chip=0)``: public JetStream log.
"""

import re
from collections.abc import Mapping

from pencilmap.mapper.allocations.found import Fact, Found, box_facts, mesh_box
from pencilmap.mapper.formats.lines import Document

_DEVICE = re.compile(r"TpuDevice\(id=([0-9]{1,9}),[^()]{0,80}coords=\(([0-9, ]{1,40})\)(?:,\s*core_on_chip=([0-9]{1,3}))?")


def from_environment(environ: Mapping[str, str]) -> Found | None:
    text = environ.get("TPU_TOPOLOGY") or environ.get("TOPOLOGY", "")
    if not re.fullmatch(r"[0-9]{1,4}(x[0-9]{1,4}){0,2}", text) or not any(v.startswith("TPU_") for v in environ):
        return None
    shape = text.split("x")
    wrap = [word == "true" for word in environ.get("TPU_TOPOLOGY_WRAP", "").lower().split(",")][:len(shape)]
    facts = [Fact("slice", text, "TPU_TOPOLOGY"),
             Fact("wrap", ", ".join("yes" if w else "no" for w in wrap) if len(wrap) == len(shape) and any(wrap) else
                  "no dimension" if environ.get("TPU_TOPOLOGY_WRAP") else "not told; none is assumed", "TPU_TOPOLOGY_WRAP")]
    torus = "x".join(f"{n}{'w' if w else ''}" for n, w in zip(shape, [*wrap, False, False])) if any(wrap) else f"{text}:mesh"
    return Found(tuple(facts), torus)


def _refuse_part(document: Document) -> None:
    """Refuse a list that was shortened, or that ends in the middle."""
    first = _DEVICE.search(document.text)
    cut = re.search(r"\.\.\.|\N{HORIZONTAL ELLIPSIS}|TpuDevice(?!\(id=)", document.text)
    whole = sum(1 for _ in _DEVICE.finditer(document.text))
    begun = document.text.count("TpuDevice(")
    open_list = first and document.text[:first.start()].rstrip().endswith("[") and "]" not in document.text[first.start():]
    if cut or begun > whole or open_list:
        at = cut.start() if cut else len(document.text.rstrip())
        raise document.refuse("the list of devices is not complete; print every device, as in "
                              "print(*jax.devices(), sep='\\n')", document.text.count("\n", 0, at) + 1)


def looks_like(document: Document) -> bool:
    return bool(_DEVICE.search(document.text))


def find(document: Document) -> Found:
    _refuse_part(document)
    devices = sorted((int(number), tuple(int(c) for c in coords.split(",") if c.strip()), int(core or 0))
                     for number, coords, core in _DEVICE.findall(document.text))
    slices = set(re.findall(r"slice_index=([0-9]+)", document.text))
    if len(slices) > 1 or len({each[1:] for each in devices}) < len(devices):
        raise document.refuse("has devices of several slices, or a device twice, and no torus joins two slices; print those "
                              "of one slice, as in print([d for d in jax.devices() if d.slice_index == 0])")
    chips = list(dict.fromkeys(coords for _, coords, _ in devices))
    cores = max(core for _, _, core in devices) + 1
    if len({len(c) for c in chips}) > 1:
        raise document.refuse("has devices with different numbers of coordinates")
    facts = (Fact("devices", f"{len(devices)}: {len(chips)} chips of {cores} cores", document.label),
             *box_facts("chips", chips, document.label))
    return Found(facts, mesh_box(chips), coordinates=tuple(chips), tasks_per_node=cores)
