"""The report in a real browser, opened as a file: filters, search, permalinks, themes, charts, and no request."""

from __future__ import annotations

import os
import re
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
import report_records as records

from hebbcheck.needs import Needs
from hebbcheck.report import render

SHOWN = "tbody.claim:not([hidden])"


def without_browser(reason: str) -> None:
    """Skip with the reason; where tests must not be skipped, fail."""
    if os.environ.get("CI"):
        pytest.fail(f"{reason}; the report's browser tests must run in CI")
    pytest.skip(reason)


@pytest.fixture(scope="module")
def browser() -> Iterator:
    try:
        from playwright.sync_api import sync_playwright
    except ImportError:
        without_browser("playwright is not installed")
    found = [p for p in ("/usr/bin/chromium", shutil.which("chromium"), shutil.which("google-chrome")) if p]
    executable = next((path for path in found if Path(path).exists()), None)
    if executable is None:
        without_browser("no Chromium was found")
    with sync_playwright() as playwright:
        started = playwright.chromium.launch(executable_path=executable, args=["--no-sandbox"])
        yield started
        started.close()


@pytest.fixture(scope="module")
def address(tmp_path_factory) -> str:
    path = tmp_path_factory.mktemp("report") / "index.html"
    path.write_text(render(records.verdicts(), records.figures(), records.runs()), "utf-8")
    return path.as_uri()


@pytest.fixture
def page(browser) -> Iterator:
    """A page that records whatever should not happen: console errors, exceptions, dialogs, requests."""
    context = browser.new_context(viewport={"width": 1280, "height": 900}, reduced_motion="reduce")
    made = context.new_page()
    faults: list[str] = []

    def guard(route):
        if route.request.url.startswith(("file:", "data:")):
            route.continue_()
        else:
            faults.append(f"request {route.request.url}")
            route.abort()

    context.route("**/*", guard)
    made.on("console", lambda message: message.type in ("error", "warning") and faults.append(message.text))
    made.on("pageerror", lambda error: faults.append(str(error)))
    made.on("dialog", lambda dialog: (faults.append(f"dialog {dialog.message}"), dialog.dismiss()))
    yield made
    context.close()
    assert faults == []


def shown(page) -> list[str]:
    return page.eval_on_selector_all(SHOWN, "bodies => bodies.map(body => body.dataset.id)")


def href(page) -> str:
    """The page's address, asked of the page: what the driver knows of it may lag behind."""
    return page.evaluate("location.href")


def drawn(page, claim_id: str):
    """The plot of an open claim, once it is drawn."""
    plot = page.locator(f'[data-id="{claim_id}"] .plot')
    plot.locator("svg").wait_for()
    return plot


def test_filters_are_kept_in_the_address(page, address):
    page.goto(address)
    assert len(shown(page)) == 40
    page.get_by_role("combobox", name="Theme", exact=True).select_option("margins")
    page.get_by_role("combobox", name="Outcome", exact=True).select_option("refuted")
    expected = [v["id"] for v in records.verdicts() if v["theme"] == "margins" and v["verdict"] == "refuted"]
    assert sorted(shown(page)) == sorted(expected)
    assert page.locator("#shown").inner_text() == f"{len(expected)} of 40"
    assert href(page).endswith("#outcome=refuted&theme=margins")
    page.reload()
    assert (
        sorted(shown(page)) == sorted(expected)
        and page.get_by_role("combobox", name="Theme", exact=True).input_value() == "margins"
    )
    page.get_by_role("button", name="Clear", exact=True).click()
    assert len(shown(page)) == 40


def test_a_count_leads_to_its_claims(page, address):
    page.goto(address)
    page.get_by_role("link", name=re.compile("Refuted unexpectedly")).first.click()
    assert sorted(shown(page)) == ["B.17", "B.44"]


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        ("B.28", ["B.28"]),
        ("tight WELCH", []),
        ("WELCH lower", ["B.34"]),
        (r"\operatorname{tr}", ["B.34"]),
        ("near-parallel", ["B.17"]),
        ("src=x", ["user.hostile", "user.hostile.latex"]),
    ],
)
def test_search_looks_at_id_title_statement_and_reason(page, address, words, expected):
    page.goto(address)
    page.get_by_label("Search").fill(words)
    assert shown(page) == expected
    assert page.locator("#nothing").is_visible() == (not expected)


def test_columns_sort_both_ways_and_back(page, address):
    page.goto(address)
    first = shown(page)
    head = page.get_by_role("columnheader", name="Time")
    head.get_by_role("button").click()
    ascending = shown(page)
    seconds = {v["id"]: v["seconds"] for v in records.verdicts()}
    assert [seconds[i] for i in ascending] == sorted(seconds.values())
    assert head.get_attribute("aria-sort") == "ascending" and href(page).endswith("#sort=time")
    head.get_by_role("button").click()
    assert [seconds[i] for i in shown(page)] == sorted(seconds.values(), reverse=True)
    head.get_by_role("button").click()
    assert shown(page) == first


def test_permalink_opens_its_card_whatever_the_filters(page, address):
    page.goto(f"{address}#claim=B.25&theme=welch&outcome=held")
    others = [v["id"] for v in records.verdicts() if v["theme"] == "welch" and v["verdict"] == "held"]
    assert sorted(shown(page)) == sorted(["B.25", *others])
    card = page.locator('[data-id="B.25"] .card')
    assert card.is_visible() and "hebbcheck replay" in card.inner_text()
    assert page.evaluate("document.querySelector('[data-id=\"B.25\"]').getBoundingClientRect().top") < 300


def test_link_to_another_claim_opens_it_and_keeps_filters_that_it_passes(page, address):
    page.goto(f"{address}#claim=B.28&passed=yes")
    page.locator('[data-id="B.28"] .needs a', has_text="B.16").click()
    assert page.locator('[data-id="B.16"] .card').is_visible()
    assert "passed=yes" in href(page) and "claim=B.16" in href(page)
    page.locator(".attention a", has_text="B.17").click()
    page.locator('[data-id="B.17"] .card').wait_for()
    assert "passed" not in href(page) and len(shown(page)) == 40


def test_card_opens_and_closes_from_the_keyboard(page, address):
    page.goto(address)
    opener = page.locator('[data-id="B.1"] .opener')
    opener.focus()
    page.keyboard.press("Enter")
    assert opener.get_attribute("aria-expanded") == "true" and href(page).endswith("claim=B.1")
    assert page.locator('[data-id="B.1"] math').is_visible()
    page.keyboard.press("Space")
    assert opener.get_attribute("aria-expanded") == "false" and "claim" not in href(page)


def test_first_tab_stop_skips_to_the_results(page, address):
    page.goto(address)
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.getAttribute('href')") == "#main"
    assert page.locator(".skip").bounding_box()["y"] >= 0


def test_hover_shows_the_cell_and_its_seed(page, address):
    page.goto(f"{address}#claim=B.28")
    points = drawn(page, "B.28").locator(".mark-symbol path")
    data = next(v for v in records.verdicts() if v["id"] == "B.28")["points"]
    assert points.count() == len(data)
    points.nth(5).hover()
    tooltip = page.locator("#vg-tooltip-element.visible")
    tooltip.wait_for()
    told = dict(re.findall(r"(\S+)\s+(\S+)", tooltip.inner_text()))
    assert told["seed"] == str(data[5]["seed"]) and told["F"] == str(data[5]["F"])
    assert float(told["measured"]) == pytest.approx(data[5]["measured"], rel=1e-4)


def test_hover_on_hostile_names_shows_text(page, address):
    page.goto(f"{address}#claim=user.hostile")
    drawn(page, "user.hostile").locator(".mark-symbol path").hover()
    page.locator("#vg-tooltip-element.visible").wait_for()
    assert "<img src=x onerror=alert(1)>" in page.locator("#vg-tooltip-element").inner_text()
    assert page.locator("img").count() == 0


def test_ladders_and_figures_are_drawn(page, address):
    page.goto(f"{address}#claim=B.40")
    assert drawn(page, "B.40").locator(".mark-line path").count() == 5
    assert not page.locator(".figure .plot svg").count()
    plot = page.locator(".figure .plot").first
    plot.scroll_into_view_if_needed()
    plot.locator("svg").wait_for()
    assert plot.locator(".role-mark.mark-symbol path").count() == 300


@pytest.mark.parametrize("width", [360, 1280])
def test_every_entry_of_a_legend_is_inside_its_chart(page, address, width):
    page.set_viewport_size({"width": width, "height": 900})
    page.goto(f"{address}#claim=B.40")
    plot = drawn(page, "B.40")
    labels = plot.locator(".role-legend-label text")
    assert labels.count() == 5
    box = plot.locator("svg").bounding_box()
    bottoms = [labels.nth(k).bounding_box()["y"] + labels.nth(k).bounding_box()["height"] for k in range(5)]
    assert max(bottoms) <= box["y"] + box["height"] + 1


def test_dark_mode_follows_the_system_and_the_button(page, address):
    background = "getComputedStyle(document.body).backgroundColor"
    page.emulate_media(color_scheme="light")
    page.goto(f"{address}#claim=B.28")
    label = drawn(page, "B.28").locator(".role-axis-label text").first
    light, ink = page.evaluate(background), label.evaluate("text => getComputedStyle(text).fill")
    page.emulate_media(color_scheme="dark")
    dark = page.evaluate(background)
    assert dark != light and label.evaluate("text => getComputedStyle(text).fill") != ink
    page.get_by_role("button", name="Switch to the light theme").click()
    assert page.evaluate(background) == light
    page.reload()
    assert page.evaluate(background) == light


def test_printing_shows_every_card_and_draws_its_chart(page, address):
    page.goto(address)
    page.pdf()
    assert page.locator("tbody .plot svg").count() == page.locator("tbody .plot").count()
    assert page.locator(".detail:not([hidden])").count() == 0
    page.emulate_media(media="print")
    assert page.locator('[data-id="B.1"] .card').is_visible()
    assert not page.locator("#claims .filters").is_visible() and not page.locator(".copy").first.is_visible()


def test_copy_button_copies_the_command(page, address):
    page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    page.goto(f"{address}#claim=B.25")
    page.locator("[data-id='B.25']").get_by_role("button", name="Copy the command: Replay").click()
    assert (
        page.evaluate("navigator.clipboard.readText()")
        == "hebbcheck replay counterexamples/B.25-smallest.npz"
    )


@pytest.mark.parametrize("width", [360, 800, 1280])
def test_nothing_is_wider_than_the_window(page, address, width):
    page.set_viewport_size({"width": width, "height": 800})
    page.goto(address)
    page.get_by_role("button", name="Open all").click()
    assert page.evaluate("document.documentElement.scrollWidth") <= width


# --- the proof graph, the errata, the constants


@pytest.fixture(scope="module")
def paper(tmp_path_factory) -> str:
    path = tmp_path_factory.mktemp("paper") / "index.html"
    path.write_text(render(records.paper(), [], records.runs()), "utf-8")
    return path.as_uri()


def nodes(page) -> list[str]:
    """The claims that the graph shows."""
    script = "all => all.filter(node => node.getClientRects().length).map(node => node.dataset.id)"
    return page.eval_on_selector_all("#graph a.node", script)


def around(claim_id: str) -> set[str]:
    """A claim, what it rests on and what rests on it."""
    needs = Needs({v["id"]: v["needs"] for v in records.paper()})
    return {claim_id, *needs.rests_on(claim_id), *needs.resting_on(claim_id)} - {"B.99"}


def test_a_node_leads_to_its_card(page, paper):
    page.goto(paper)
    page.get_by_role("link", name="B.17, Title of B.17", exact=False).first.click()
    assert page.locator('[data-id="B.17"] .card').is_visible()
    assert href(page).endswith("#claim=B.17")


def test_graph_shows_a_claim_alone_with_what_it_rests_on_and_what_rests_on_it(page, paper):
    page.goto(paper)
    whole = nodes(page)
    drawing = page.locator(".part-drawing").first
    height = drawing.bounding_box()["height"]
    page.get_by_role("combobox", name="Show", exact=True).select_option("claim:B.17")
    assert set(nodes(page)) == around("B.17") and len(nodes(page)) < len(whole)
    assert drawing.bounding_box()["height"] < height and href(page).endswith("#graph=B.17")
    tops = page.eval_on_selector_all(
        "#graph .part:not([hidden]) a.node:not([hidden])",
        "all => all.map(node => Math.round(node.getBoundingClientRect().top))",
    )
    frame = drawing.bounding_box()
    assert min(tops) >= frame["y"] - 1 and max(tops) <= frame["y"] + frame["height"]
    page.reload()
    assert set(nodes(page)) == around("B.17")
    page.get_by_role("button", name="Show everything").click()
    assert nodes(page) == whole and drawing.bounding_box()["height"] == height and "graph" not in href(page)


def test_graph_shows_a_theme_with_what_it_rests_on(page, paper):
    page.goto(paper)
    whole = set(nodes(page))
    page.get_by_role("combobox", name="Show", exact=True).select_option("theme:crosstalk")
    themes = {v["id"]: v["theme"] for v in records.paper()}
    shown = set(nodes(page))
    assert {id for id in whole if themes[id] == "crosstalk"} <= shown < whole
    assert not any(themes[id] == "margin" for id in shown)


def test_card_leads_to_its_claim_in_the_graph(page, paper):
    page.goto(f"{paper}#claim=B.17&theme=crosstalk")
    page.locator('[data-id="B.17"]').get_by_role("link", name="In the proof graph").click()
    assert set(nodes(page)) == around("B.17")
    assert page.evaluate("document.activeElement.dataset.id") == "B.17"
    assert all(part in href(page) for part in ("graph=B.17", "theme=crosstalk"))
    chosen = page.locator("#graph .node.chosen").bounding_box()
    assert chosen["x"] >= 0 and chosen["x"] + chosen["width"] <= 1280
    page.get_by_label("Search").fill("B.1")
    assert "graph=B.17" in href(page) and "q=B.1" in href(page)


def test_graph_can_be_walked_with_the_keyboard(page, paper):
    page.goto(f"{paper}#graph=B.17")
    here = "document.activeElement.dataset.id"
    needs = Needs({v["id"]: v["needs"] for v in records.paper()})
    stops = page.locator('#graph .part:not([hidden]) a.node[tabindex="0"]')
    assert stops.count() == 1
    stops.focus()
    assert page.evaluate(here) == "B.17"
    page.keyboard.press("ArrowLeft")
    left = page.evaluate(here)
    assert left in needs.direct["B.17"]
    page.keyboard.press("ArrowRight")
    assert page.evaluate(here) in needs.dependents[left]
    page.keyboard.press("f")
    assert href(page).endswith(f"graph={page.evaluate(here)}")
    page.keyboard.press("Escape")
    assert "graph" not in href(page)
    page.keyboard.press("Enter")
    assert "claim=" in href(page)


def test_pointing_at_a_node_lights_what_it_stands_on(page, paper):
    page.goto(paper)
    page.locator('#graph a.node[data-id="B.17"]').hover()
    lit = page.eval_on_selector_all("#graph .node.on", "all => all.map(node => node.dataset.id)")
    assert set(lit) == around("B.17")
    assert page.locator("#graph .lit").count() == 1


def test_mark_is_on_the_node_on_the_row_and_on_the_card(page, paper):
    page.goto(f"{paper}#claim=4.5")
    row = page.locator('tbody[data-id="4.5"]')
    assert row.locator(".footing").inner_text().strip() == "Rests on a refuted lemma"
    assert "B.20" in row.locator(".foundations").inner_text()
    node = page.locator('#graph a.node[data-id="4.5"]')
    assert "marked" in node.get_attribute("class")
    assert "rests on a refuted lemma, B.20" in node.get_attribute("aria-label")


def test_errata_link_to_both_claims_and_copy_their_command(page, paper):
    page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    page.goto(paper)
    first = page.locator(".erratum").first
    assert first.locator("math").count() == 2
    first.get_by_role("button", name="Copy the command: Replay").click()
    assert page.evaluate("navigator.clipboard.readText()").startswith("hebbcheck replay found/")
    corrected = first.locator(".side a.id")
    id = corrected.inner_text()
    corrected.click()
    assert page.locator(f'[data-id="{id}"] .card').is_visible()


def test_a_vacuous_claim_names_its_smallest_sizes(page, paper):
    page.goto(paper)
    row = page.locator(".beyond tr", has_text="B.31")
    assert row.locator(".feasible").all_inner_texts() == ["F = 8,192", "d = 512", "m = 2⁴⁰"]


@pytest.mark.parametrize("width", [360, 800, 1280, 1920])
def test_the_paper_is_no_wider_than_the_window(page, paper, width):
    page.set_viewport_size({"width": width, "height": 800})
    page.goto(f"{paper}#claim=4.5")
    assert page.evaluate("document.documentElement.scrollWidth") <= width


def test_graph_is_printed_whole_on_its_paper(page, paper):
    page.goto(paper)
    page.emulate_media(media="print")
    page.set_viewport_size({"width": 1000, "height": 700})
    assert not page.locator("#graph-choice").is_visible()
    assert page.locator(".part-drawing").first.bounding_box()["width"] <= 1000
    page.pdf()
    assert page.locator(".alone[open]").count() == 1


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_text_has_enough_contrast(page, address, scheme):
    page.emulate_media(color_scheme=scheme)
    page.goto(address)
    names = [
        "ink",
        "quiet",
        "accent",
        "proved",
        "held",
        "supported",
        "refuted",
        "surprise",
        "vacuous",
        "inconclusive",
    ]
    ratios = page.evaluate(CONTRAST, [*names, "error"])
    assert {name: ratio for name, ratio in ratios.items() if ratio < 4.5} == {}


CONTRAST = """names => {
  const probe = document.body.appendChild(document.createElement("i"));
  const luminance = (name) => {
    probe.style.color = `var(--${name})`;
    const channels = getComputedStyle(probe).color.match(/[\\d.]+/g).slice(0, 3).map((c) => c / 255);
    const linear = channels.map((c) => (c <= 0.04045 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4));
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2];
  };
  const against = (name, ground) => {
    const [low, high] = [luminance(name), luminance(ground)].sort((a, b) => a - b);
    return (high + 0.05) / (low + 0.05);
  };
  const grounds = ["paper", "surface", "sunken"];
  return Object.fromEntries(names.map((name) => [name, Math.min(...grounds.map((g) => against(name, g)))]));
}"""
