"""`pencilmap validate simulated`: suites, claims, kept records, tables in documents."""

import json
import re
from fractions import Fraction
from pathlib import Path

import pytest

from pencilmap.model.predict import predict
from pencilmap.model.times.published import bluegene_l_512
from pencilmap.model.traffic.loads import m_time
from pencilmap.scripts.command_line.documents import END, marker, result_file
from pencilmap.scripts.networks import validation
from pencilmap.scripts.networks.suites import CLAIMS, RATE, SUITES, cases_of
from tests.documents import ROOT, read_result, run_by
from tests.modules import needs_simgrid

DOCUMENT = Path(__file__).resolve().parents[2] / "docs" / "validation.md"
QUICK = ("validate", "simulated", "--suite", "quick")
SEARCHED = ("tori", "networks")  #: suites whose placements are searched for: seconds


@pytest.mark.sampled(1)
@pytest.mark.usefixtures("brief_searches")
@pytest.mark.parametrize("suite", [pytest.param(s, marks=pytest.mark.slow) if s in SEARCHED else s for s in SUITES])
def test_every_case_can_be_placed_in_even_blocks(suite):
    cases = cases_of(suite)
    assert len({case.name for case in cases}) == len(cases)
    for case in cases:
        where, grid = case.setting(), case.process_grid()
        assert where.transform.divides_evenly(grid) or grid.decomposition.has_bricks or case.halo, case
        assert where.place(case.placement, grid).grid == grid


def test_the_paper_suite_has_every_published_exchange():
    rows = [c for c in bluegene_l_512() if c.phase == "row"]
    published = {(str(c.transform.nx), c.tasks_per_node, str(c.grid), c.placement) for c in rows}
    assert {(c.fft, c.tasks_per_node, c.grid, c.placement) for c in cases_of("paper")} == published
    assert len(published) == 47
    found = [validation._published(case) for case in cases_of("paper")]
    assert all(set(cells) >= {"row", "column"} for cells in found)


def test_the_tori_have_2_to_6_dimensions_and_up_to_4096_ranks():
    found = {(case.setting().network.n_dimensions, ":mesh" in case.torus) for case in cases_of("tori")}
    assert found == {(dimensions, mesh) for dimensions in range(2, 7) for mesh in (False, True)}
    assert {64, 512, 4096} <= {case.process_grid().n_tasks for case in cases_of("tori")}


@pytest.fixture(scope="module")
def kept(tmp_path_factory):
    """Records of the quick suite, simulated once."""
    path = tmp_path_factory.mktemp("quick") / "quick.jsonl"
    validation.validate_simulated(cases_of("quick"), path)
    return path


@needs_simgrid
def test_the_quick_suite_holds(kept, pencilmap_json):
    found = pencilmap_json.one(*QUICK, "--records", kept)
    assert len(found["rows"]) == 2 * len(cases_of("quick"))
    assert [c["holds"] for c in found["claims"]] == [True]
    by_hand = 4 * 16 * 32**3 / (4 * 16 * 148e6)  # m D_T / (4 N B) of a line of 4 on an open mesh
    assert found["rows"][0]["simulated_s"] == pytest.approx(by_hand, rel=0.01)
    assert all(json.loads(line)["verify"]["passed"] for line in kept.read_text().splitlines())


@needs_simgrid
def test_what_the_records_hold_is_not_simulated_again(kept, pencilmap, monkeypatch):
    def refuse(*arguments, **options):
        raise AssertionError("simulated again")

    monkeypatch.setattr(validation, "simulate_all", refuse)
    assert pencilmap(*QUICK, "--records", kept)[0] == 0


@needs_simgrid
def test_a_network_that_is_not_as_predicted_fails(kept, pencilmap, tmp_path):
    records = [json.loads(line) for line in kept.read_text().splitlines()]
    records[1]["phases"]["exchange_column"]["max_s"][0] *= 1.03
    slower = tmp_path / "slower.jsonl"
    slower.write_text("".join(json.dumps(record) + "\n" for record in records))
    status, out, _ = pencilmap(*QUICK, "--records", slower)
    assert status == 1 and re.search(r"1\.030 +NO", out)


def test_a_claim_is_about_its_rows_only():
    from dataclasses import replace

    case = next(c for c in cases_of("paper") if (c.placement, c.tasks_per_node, c.fft) == ("box:2x2x2", 1, "256"))
    row = validation.Row(case, "row", 1.0, 1.0, 0.0, 1.0, 1.2)
    claim = next(claim for claim in CLAIMS if "over published, CO mode" in claim.text)
    assert claim.judge([row]) == (1, 1 / 1.2, 1 / 1.2, False)
    assert claim.judge([replace(row, published_s=1.05)])[-1]
    for other in (replace(row, published_s=None), replace(row, case=replace(case, fft="128")),
                  replace(row, case=replace(case, tasks_per_node=2)), replace(row, case=replace(case, placement="default"))):
        assert claim.judge([other]) is None


# ---- documents -------------------------------------------------------------------------------------------------------


(BRICKS_COMMAND, HALOS_COMMAND, QUICK_COMMAND, TORI_COMMAND, PAPER_COMMAND, OVERLAP_COMMAND,
 MESSAGES_COMMAND, MAPS_COMMAND, NETWORKS_COMMAND) = run_by(__file__)


@pytest.fixture
def run_in_copy(tmp_path, monkeypatch, pencilmap):
    """Run a command of a document in a folder with a copy of the document: ``run_in_copy(command)`` -> path."""
    def run(command, *more):
        monkeypatch.chdir(tmp_path)
        copy = tmp_path / command.split()[-1]
        copy.parent.mkdir()
        copy.write_text((ROOT / command.split()[-1]).read_text("utf-8"), "utf-8")
        pencilmap.out(*command.split()[1:], *more)
        return copy

    return run


@pytest.fixture
def agrees(run_in_copy):
    """Whether a command of a document reproduces its claims and its result file."""
    def judge(command, *more):
        copy = run_in_copy(command, *more)
        page = ROOT / "docs" / copy.name
        file = result_file(page, f"validate simulated {command.split()[command.split().index('--suite') + 1]}")
        assert (copy.parent / "results" / file.name).read_text("utf-8") == file.read_text("utf-8")
        assert copy.read_text("utf-8") == page.read_text("utf-8")
        return True

    return judge


@needs_simgrid
def test_the_document_shows_what_its_command_finds(kept, agrees):
    assert agrees(QUICK_COMMAND, "--records", kept)


@needs_simgrid
@pytest.mark.slow
@pytest.mark.parametrize("command", [TORI_COMMAND, OVERLAP_COMMAND, MAPS_COMMAND, NETWORKS_COMMAND, MESSAGES_COMMAND,
                                     BRICKS_COMMAND, HALOS_COMMAND])
def test_each_suite_of_a_document_is_that_of_its_command(command, agrees):
    """Simulations agree to the last digit."""
    assert agrees(command)


@needs_simgrid
@pytest.mark.slow
def test_the_rows_of_the_paper_are_those_of_its_command_up_to_256(run_in_copy):
    copy = run_in_copy(PAPER_COMMAND, "--at-most", "256")
    found, kept = (read_result(result_file(page, "validate simulated paper")) for page in (copy, DOCUMENT))
    assert all(row in kept for row in found) and len(found) == 2 * len(cases_of("paper", 256))


@needs_simgrid
def test_exchanges_beside_each_other_take_their_predicted_time(tmp_path):
    """Chunks along z and of fields, two ways, opposite fields and pairs: 16 to 64 ranks."""
    rows = validation.validate_simulated(cases_of("overlap", 64), tmp_path / "records.jsonl")
    found = {claim.text: claim.judge(rows) for claim in CLAIMS}
    assert len(rows) >= 6 and all(judged is None or judged[-1] for judged in found.values()), found
    assert {row.case.schedule.partition(":")[0] for row in rows} == {"overlap", "two-way", "opposite"}


@needs_simgrid
def test_a_pair_is_simulated_beside_its_prediction(pencilmap_json):
    asked = ("simulate", "--network", "4x4", "--bandwidth", RATE, "--grid", "4x4", "-p", "default", "--fft", "32",
             "--verify")
    pair, = pencilmap_json(*asked, "--direction", "pair", "--schedule", "opposite")
    after, = pencilmap_json(*asked, "--direction", "pair")
    link_s = 2 * 2 * 16 * 32**3 / (4 * 16 * 148e6)
    assert (pair["stage"], pair["t_s"], after["t_s"]) == ("row+column", pytest.approx(link_s), pytest.approx(2 * link_s))
    assert pair["t_ratio"] == pytest.approx(1, abs=0.01) and after["t_ratio"] == pytest.approx(1, abs=0.01)


@needs_simgrid
def test_a_halo_takes_what_its_busiest_link_takes():
    """Even bricks on a torus of their shape: each link carries a face, four edges and four corners, with envelopes."""
    [row] = validation.validate_simulated([c for c in cases_of("halos") if c.decomposition == "brick:4x4x4" and c.halo == 1])
    by_hand = (16 * (16**2 + 4 * 16 + 4) + 9 * 16) / 148e6
    assert row.stage == "halo" and row.simulated_s == pytest.approx(by_hand, rel=1e-3)
    assert row.network_s == pytest.approx(by_hand)


@needs_simgrid
def test_a_remap_whose_busiest_link_idles_takes_what_fair_shares_take():
    rows = validation.validate_simulated([c for c in cases_of("bricks") if c.fft == "63x70x50"])
    assert [row.stage for row in rows] == ["remap_in", "remap_out"]
    assert all(row.network_ratio == pytest.approx(1, abs=0.002) for row in rows)
    where = rows[0].case.setting()
    predicted = predict(where.place("default", rows[0].case.process_grid()), where.transform, "dimension-order:parity")
    before, after = predicted.remaps
    busiest = [m_time(each.load, where.network, where.transform.total_bytes) for each in (before, after)]
    assert before.t_s / busiest[0] == pytest.approx(1.0295, abs=0.001) and after.t_s == pytest.approx(busiest[1])


@needs_simgrid
def test_a_tiling_and_a_ring_map_take_their_predicted_times():
    """A tiling in sequence, with 6.857 for digit patterns, and a ring map with overlapping exchanges."""
    tiling, ring = (next(case for case in cases_of("maps") if case.placement.startswith(kind))
                    for kind in ("lattice:", "ring:"))
    rows = validation.validate_simulated([tiling, ring])
    assert [row.stage for row in rows] == ["row", "column", "row+column"]
    assert all(row.network_ratio == pytest.approx(1, abs=0.002) for row in rows)
    by_hand = sum(16 * 49**3 * m / (4 * 49 * 148e6) for m in (Fraction(20, 7), Fraction(24, 7)))  # 6.286 in sequence
    assert rows[0].simulated_s + rows[1].simulated_s == pytest.approx(float(by_hand), rel=0.01)


def test_every_place_of_the_document_is_filled_and_has_its_command():
    text = DOCUMENT.read_text("utf-8")
    places = re.findall(r"^<!-- (simulated|namespaces) (\S+)(?: \S+)? -->\n\*\*", text, re.MULTILINE)
    commands = [re.search(r"validate (\w+) .*?--(?:suite|network) (\S+)", c).groups()
                for c in re.findall(r"^pencilmap .* --into docs/validation\.md$", text, re.MULTILINE)]
    assert places and places == commands and len(places) == text.count("<!-- end -->")


CLAIMED = re.compile(r"^\| (simulated over predicted.*?) \| (\d+) \| ([\d.]+) \| ([\d.]+) \| yes \|$", re.MULTILINE)


@pytest.mark.parametrize("page, suite", [
    *((DOCUMENT.name, suite) for suite in ("quick", "tori", "paper", "overlap", "messages", "maps")),
    ("bricks.md", "bricks"), ("halo.md", "halos")])
def test_the_claims_of_a_page_are_those_of_its_result_file(page, suite):
    """Every row belongs to one claim about ratios; the range of all claims is the range of all rows."""
    text = DOCUMENT.with_name(page).read_text("utf-8").partition(marker(f"simulated {suite}"))[2].partition(END)[0]
    claims, rows = CLAIMED.findall(text), read_result(result_file(DOCUMENT, f"validate simulated {suite}"))
    ratios = [float(row["simulated / predicted"]) for row in rows]
    assert sum(int(n) for _, n, _, _ in claims) == len(ratios) > 0
    assert min(float(least) for _, _, least, _ in claims) == min(ratios)
    assert max(float(most) for *_, most in claims) == max(ratios)
    assert f"(results/validate-simulated-{suite}.csv)" in text


@needs_simgrid
def test_a_result_folder_that_cannot_be_written_is_refused_before_anything_is_run(pencilmap, tmp_path, monkeypatch):
    monkeypatch.setattr(validation, "simulate_all", lambda *arguments, **options: pytest.fail("something is run"))
    page = tmp_path / "page.md"
    page.write_text("<!-- simulated quick -->\n<!-- end -->\n")
    (tmp_path / "results").write_text("a file, not a folder")
    status, _, err = pencilmap(*QUICK, "--into", page)
    assert status in (1, 2) and "results" in err and "Traceback" not in err
