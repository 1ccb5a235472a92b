// The table of claims: filters, search, order, and which cards are open.
(() => {
  const table = document.querySelector("table.claims");
  if (!table) return;
  const form = document.querySelector("#claims .filters");
  const filters = ["outcome", "passed", "theme", "quantifier"];
  const claims = [...table.querySelectorAll("tbody.claim")].map((body) => ({
    body,
    ...body.dataset,
    ranks: JSON.parse(body.dataset.ranks),
    opener: body.querySelector(".opener"),
    detail: body.querySelector(".detail"),
  }));
  const byId = new Map(claims.map((claim) => [claim.id, claim]));

  const matches = (claim) =>
    filters.every((name) => !address.state[name] || claim[name] === address.state[name]) &&
    (address.state.q ?? "").toLowerCase().split(/\s+/).every((word) => claim.search.includes(word));

  const setOpen = (claim, open) => {
    claim.detail.hidden = !open;
    claim.opener.setAttribute("aria-expanded", String(open));
    claim.body.classList.toggle("open", open);
  };

  const sort = () => {
    const descending = address.state.sort?.startsWith("-") ?? false;
    const column = address.state.sort?.replace(/^-/, "");
    const rank = (claim) => claim.ranks[column] ?? null;
    const sorted = [...claims];
    if (column) {
      sorted.sort((a, b) => {
        const [x, y] = [rank(a), rank(b)];
        if (x === null || y === null) return (x === null) - (y === null);
        return descending ? y - x : x - y;
      });
    }
    table.append(...sorted.map((claim) => claim.body));
    for (const head of table.querySelectorAll("th[data-column]")) {
      const sorting = head.dataset.column === column;
      if (sorting) head.setAttribute("aria-sort", descending ? "descending" : "ascending");
      else head.removeAttribute("aria-sort");
    }
  };

  const show = () => {
    let shown = 0;
    for (const claim of claims) {
      const visible = matches(claim) || claim.id === address.state.claim;
      claim.body.hidden = !visible;
      shown += visible;
    }
    document.getElementById("shown").textContent = `${shown} of ${claims.length}`;
    document.getElementById("nothing").hidden = shown > 0;
    document.getElementById("reset").hidden = !["q", ...filters].some((name) => address.state[name]);
    for (const field of form.querySelectorAll("[name]")) {
      if (field.value !== (address.state[field.name] ?? "")) field.value = address.state[field.name] ?? "";
    }
  };

  const update = (change) => {
    address.update(change);
    if ("sort" in change) sort();
    show();
  };

  const follow = () => {
    const asked = address.read();
    const before = address.state;
    if (["q", ...filters, "sort", "claim"].some((name) => name in asked)) address.state = { graph: before.graph, ...asked };
    if (address.state.sort !== before.sort) sort();
    show();
    const claim = byId.get(address.state.claim);
    if (!claim || !asked.claim) return;
    setOpen(claim, true);
    claim.body.scrollIntoView();
    claim.detail.querySelector(".card").focus({ preventScroll: true });
  };

  // A claim that was opened does not outlast filters that exclude it.
  const refilter = (change) => {
    Object.assign(address.state, change);
    const claim = byId.get(address.state.claim);
    update({ claim: claim && matches(claim) ? claim.id : "" });
  };
  const clear = () => refilter(Object.fromEntries(["q", ...filters].map((name) => [name, ""])));

  form.addEventListener("submit", (event) => event.preventDefault());
  form.addEventListener("input", (event) => refilter({ [event.target.name]: event.target.value }));
  form.addEventListener("reset", (event) => {
    event.preventDefault();
    clear();
    form.elements.q.focus();
  });
  document.querySelector(".clear").addEventListener("click", clear);

  table.querySelector("thead").addEventListener("click", (event) => {
    const head = event.target.closest("th[data-column]");
    if (!head) return;
    const column = head.dataset.column;
    const next = { [column]: `-${column}`, [`-${column}`]: "" };
    update({ sort: next[address.state.sort] ?? column });
  });

  const toggle = (claim) => {
    const open = claim.detail.hidden;
    setOpen(claim, open);
    if (open) update({ claim: claim.id });
    else if (address.state.claim === claim.id) update({ claim: "" });
  };
  table.addEventListener("click", (event) => {
    const row = event.target.closest("tr.row");
    if (row && !getSelection().toString()) toggle(byId.get(row.parentElement.dataset.id));
  });

  const all = document.getElementById("toggle-all");
  all.addEventListener("click", () => {
    const open = all.getAttribute("aria-expanded") !== "true";
    for (const claim of claims) if (!claim.body.hidden) setOpen(claim, open);
    all.setAttribute("aria-expanded", String(open));
    all.textContent = open ? "Close all" : "Open all";
  });

  // A link to a claim keeps the filters where the claim passes them; a count's link replaces them and leads to the table.
  document.addEventListener("click", (event) => {
    const link = event.target.closest('a[href^="#"]');
    if (!link) return;
    const asked = address.asked(link.getAttribute("href"));
    if (link.classList.contains("tile")) {
      event.preventDefault();
      update({ q: "", ...Object.fromEntries(filters.map((name) => [name, ""])), claim: "", ...asked });
      document.getElementById("claims").scrollIntoView();
    } else if (asked.claim && matches(byId.get(asked.claim))) {
      event.preventDefault();
      update({ claim: asked.claim });
      follow();
    }
  });

  addEventListener("hashchange", follow);
  addEventListener("pageshow", follow);
  sort();
  follow();
})();
