"""The searches for the problems of figure 3 and the battery of figure 4, with the saved results."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from marab_lib import policies, regret, simulate
from marab_lib.paper import battery, data, evidence, figure_3, figure_4, section_5_3
from marab_lib.paper.section_5_2_2 import figure_3_policies

TWELVE = [policy for group in figure_3_policies().values() for policy in group]


@pytest.fixture(scope="module")
def days():
    return battery.load_demand().days()


# --- figure 3 -----------------------------------------------------------------------------


def test_printed_rewards_go_through_what_was_read_off():
    table = data.published_curves(3, "marab high")
    part = table[(table["alpha"] == 0.01) & table["x"].isin(figure_3.RANKS)]
    curve = figure_3.printed_rewards("high")["MaRaB(alpha=0.01, C=1e-06)"]
    at = np.searchsorted(figure_3.RANKS, part["x"])
    assert len(part) > 1
    np.testing.assert_allclose(curve[at], part["y"])
    with pytest.raises(ValueError, match="panel must be one of 'low', 'high'"):
        figure_3.printed_rewards("medium")


def test_sorted_curves_are_those_of_simulate():
    listed = figure_3.generated(evidence.NEAREST)[:2]
    curves = figure_3.sorted_curves(listed, evidence.NEAREST, 2, 5)
    chosen = evidence.NEAREST.apply(TWELVE)
    played = simulate(listed, chosen, 2000, 2, 5, record=("rewards",))
    by_hand = np.sort(played.rewards.values, axis=-1).mean(axis=2)[..., 9::10]
    np.testing.assert_allclose(curves.transpose("policy", "problem", "rank").values, by_hand)


def test_distances_by_hand():
    """UCB's settings are off by .3, .6, .9, MaRaB's not at all, ExpExp's do not count."""
    wanted = {p.name: np.linspace(0, 1, 200) for p in TWELVE}
    off = {p.name: 0.3 * (i + 1) for i, p in enumerate(figure_3_policies()["UCB"])}
    off |= {p.name: 5.0 for p in figure_3_policies()["ExpExp"]}
    curves = figure_3.sorted_curves(
        figure_3.generated(evidence.AS_PRINTED)[:1], evidence.AS_PRINTED, 1, 0
    )
    for name, line in wanted.items():
        curves.loc[{"policy": name}] = line + off.get(name, 0)
    found = figure_3.distances(curves, wanted)
    np.testing.assert_allclose([found[t][0] for t in ("UCB", "MaRaB", "ExpExp")], [0.6, 0, 5])
    np.testing.assert_allclose(found["distance"], 0.2)


def test_the_search_finds_a_problem_that_is_pretended_to_be_printed(monkeypatch):
    listed = figure_3.generated(evidence.AS_PRINTED)[:12]
    curves = figure_3.sorted_curves(listed, evidence.AS_PRINTED, 6, 77)
    places = {"low": 7, "high": 3}
    pretended = {
        panel: {p.name: curves.sel(policy=p.name)[n].values for p in TWELVE}
        for panel, n in places.items()
    }
    monkeypatch.setattr(figure_3, "printed_rewards", pretended.__getitem__)
    table = figure_3.find(
        evidence.AS_PRINTED, 12, figure_3.PROBLEM_SEED, 5, runs=6, screen_runs=2, best=2
    )
    found = figure_3.nearest(table.assign(interpretation="as printed"))
    assert found["problem"].droplevel(0).to_dict() == places
    assert (found["distance"] < 4 * found["floor"]).all()


def test_numbers_of_a_panel_by_hand():
    """Lines from 0 to a top, which tells the settings apart; levels are shares of the ranks."""
    line = figure_3.RANKS / figure_3.HORIZON
    tops = dict(zip([p.name for p in TWELVE], [1, 2, 4, 1, 3, 2, 1, 1, 2, 5, 6, 0], strict=True))
    found = figure_3.numbers({name: top * line for name, top in tops.items()})
    mean = line.mean()
    expected = [line.var(), 3 * mean, 2 * mean, mean, 6 * mean, mean, 4 * 0.01, 5 * 0.01, -0.15]
    np.testing.assert_allclose(list(found.values()), expected)


def test_number_intervals_hold_the_number_and_shrink_to_it_without_noise():
    problem = figure_3.generated(evidence.AS_PRINTED)[:1]
    played = simulate(problem, TWELVE, 2000, 6, 3, record=("rewards",))
    ordered = regret.sorted_rewards(played).isel(problem=0)
    table = figure_3.number_intervals(ordered, resamples=50)
    curves = {p.name: ordered.sel(policy=p.name).mean("run").values[9::10] for p in TWELVE}
    np.testing.assert_allclose(table["value"], list(figure_3.numbers(curves).values()))
    changes = table.index.str.startswith("change")
    assert (table["low"] <= table["high"]).all()
    assert (table["low"][changes] < table["high"][changes]).any()
    same = figure_3.number_intervals(ordered.isel(run=[0, 0]), resamples=5)
    np.testing.assert_allclose(same["low"], same["high"], atol=1e-12)


def test_unusual_counts_those_that_have_less():
    listed = figure_3.generated(evidence.AS_PRINTED)[:40]
    shares = [figure_3.unusual(listed, n)["variance of the best arm"] for n in range(40)]
    assert sorted(share for _, share in shares) == [n / 40 for n in range(40)]
    assert max(shares)[1] == 39 / 40


@pytest.mark.parametrize("interpretation", [evidence.AS_PRINTED, evidence.NEAREST])
def test_the_saved_search_of_figure_3_is_made_by_this_code(interpretation):
    """One problem of each panel again, with the seed of the second stage and its place in it."""
    saved = data.read_csv("figure_3.csv")
    sure = saved[(saved["interpretation"] == interpretation.name) & (saved["stage"] == "confirm")]
    listed = figure_3.generated(interpretation)
    for panel, rows in sure.groupby("panel"):
        first = rows.iloc[0]
        curves = figure_3.sorted_curves(
            [listed[first["problem"]]], interpretation, first["runs"], first["seed"]
        )
        found = figure_3.distances(curves, figure_3.printed_rewards(panel))
        for name, value in found.items():
            assert first[name] == pytest.approx(value[0], abs=6e-5), (panel, name)


# --- figure 4 -----------------------------------------------------------------------------


def test_labels_and_printed_curves_name_the_policies_of_the_figure():
    names = {p.name for p in section_5_3.figure_4_policies()}
    labels = {name: text for row in figure_4.labels().values() for name, text in row.items()}
    assert labels.keys() < names
    assert len(set(labels.values())) < len(labels)  # rho = 2 is there for MV-LCB and ExpExp
    curves = figure_4.printed_curves("regret", 2.0)
    assert curves.keys() < labels.keys()
    ends = pd.Series({name: 2 * y[-1] for name, (_, y) in curves.items()})
    pd.testing.assert_series_equal(
        ends.sort_index(), section_5_3.printed_regrets().sort_index(), check_names=False
    )


def test_printed_tails_are_means_of_the_lowest_rewards():
    x, y = figure_4.printed_curves("rewards")["UCB(C=1)"]
    by_hand = np.mean([np.interp(rank, x, y) for rank in range(1, 101)])
    assert figure_4.printed_tails(0.05)["UCB(C=1)"] == pytest.approx(by_hand)
    with pytest.raises(ValueError, match=r"alpha must be .*0\.34"):
        figure_4.printed_tails(0.5)


def test_distances_of_figure_4_by_hand():
    """All ratios are off by .1, but those of one reading of MV-LCB by .27."""
    printed = figure_4.printed_over_uniform()
    ours = {}
    for p in section_5_3.figure_4_policies():
        is_mv = isinstance(p, policies.MVLCB)
        base = printed[policies.MVLCB(p.rho).name if is_mv else p.name]
        ours[p.name] = base + (0.27 if is_mv and p.bonus == "pessimistic" else 0.1)
    ratios = pd.Series(ours)
    expected = {"optimistic": 0.1, "pessimistic": (13 * 0.1 + 4 * 0.27) / 17, "printed": 0.1}
    assert figure_4.distances(ratios) == pytest.approx(expected)
    assert figure_4.distances(ratios, ratios) == dict.fromkeys(expected, 0)
    table = figure_4.readings(ratios, ratios * 0 + 0.5)
    assert table["order"].round(9).tolist() == [1, pytest.approx(1, abs=0.2), 1, 1]
    assert table["least"]["printed"] == pytest.approx(table["least"]["the paper"] + 0.1)
    assert table["standard error"]["optimistic"] == 0.5


def test_the_worth_of_the_energy_left_is_a_share_of_its_price(days):
    done = battery.operate(battery.strategies()["use first"], days)
    full, half, none = (done.cost(battery.Tariff(2.0, end_value=w)) for w in (1, 0.5, 0))
    change = done.stored[:, -1] - done.stored[:, 0]
    np.testing.assert_allclose(none - full, 2 * 0.95 * change)
    np.testing.assert_allclose(half, (full + none) / 2)


def test_gaps_to_best_are_intervals_over_weeks(days):
    table = battery.reward_table(days)
    means = table.rewards.mean(axis=1)
    for gap, text in zip(means.max() - means, table.gaps_to_best(200, 1), strict=True):
        if gap:
            low, high = map(float, text.split(" to "))
            assert low < gap < high
        else:
            assert text == ""


def test_the_saved_search_of_figure_4_is_made_by_this_code(days):
    saved = data.read_csv("figure_4.csv")
    grid = list(figure_4.settings())
    screened = saved[saved["stage"] == "screen"]
    assert screened[list(grid[0])].to_dict("records") == grid
    place = int(screened[list(figure_4.READINGS)].min(axis=1).to_numpy().argmin())
    table = figure_4.search(days, 41, among=grid[place : place + 1], best=1)
    first, second = (table.iloc[n] for n in range(2))
    again = saved[(saved[list(grid[0])] == pd.Series(grid[place])).all(axis=1)]
    for row, name in ((first, "screen"), (second, "confirm")):
        kept = again[again["stage"] == name].iloc[0]
        for reading in figure_4.READINGS:
            assert kept[reading] == pytest.approx(row[reading], abs=6e-5)
    setting, reading = figure_4.nearest(saved)
    sure = saved[saved["stage"] == "confirm"]
    assert (
        sure[list(figure_4.READINGS)].min().min()
        == sure.loc[(sure[list(setting)] == pd.Series(setting)).all(axis=1), reading].item()
    )


@pytest.mark.parametrize("module", [figure_3, figure_4])
def test_the_commands_write_their_file(module, tmp_path, monkeypatch):
    path = tmp_path / "again.csv"
    given = ["--out", str(path), "--runs", "2"]
    if module is figure_3:
        given += ["--problems", "4"]
    else:
        few = list(figure_4.settings())[:2]
        monkeypatch.setattr(figure_4, "settings", lambda: iter(few))
    module.main(given)
    saved = data.read_csv(f"{module.__name__.rsplit('.', 1)[-1]}.csv")
    assert list(pd.read_csv(path).columns) == list(saved.columns)
