// The proof graph: what is chosen is shown alone, what is pointed at is lit with all that it rests on and that rests on it.
(() => {
  const section = document.getElementById("graph");
  const choice = document.getElementById("graph-choice");
  if (!choice) return;
  const ROW = 30;
  const whole = document.getElementById("graph-shown").textContent;

  const parts = [...section.querySelectorAll("svg.part-drawing")].map((svg) => {
    const nodes = [...svg.querySelectorAll(".node")].map((element) => ({
      element,
      ...element.dataset,
      row: Number(element.dataset.row),
      column: Number(element.dataset.column),
      place: element.getAttribute("transform"),
      needs: [],
      used: [],
    }));
    const byId = new Map(nodes.map((node) => [node.id, node]));
    const edges = [...svg.querySelectorAll(".edge")].map((element) => ({
      element,
      need: byId.get(element.dataset.need),
      node: byId.get(element.dataset.id),
      rows: element.dataset.rows.split(" ").map(Number),
      path: element.getAttribute("d"),
    }));
    for (const { need, node } of edges) {
      node.needs.push(need);
      need.used.push(node);
    }
    const columns = svg.dataset.columns.split(" ").map(Number);
    return { svg, nodes, byId, edges, columns, width: svg.width.baseVal.value, height: svg.height.baseVal.value };
  });
  const find = (id) => parts.flatMap((part) => part.byId.get(id) ?? [])[0];

  const reach = (starts, side) => {
    const found = new Set(starts);
    for (const node of found) for (const next of node[side]) found.add(next);
    return found;
  };
  const cone = (node) => new Set([...reach([node], "needs"), ...reach([node], "used")]);

  // The rows and columns that are left close ranks; every y of a path is the middle of a row.
  const place = (part, shown) => {
    const edges = part.edges.filter((edge) => shown.has(edge.need) && shown.has(edge.node));
    const nodes = part.nodes.filter((node) => shown.has(node));
    part.svg.parentElement.hidden = !nodes.length;
    if (!nodes.length) return;
    const rows = [...new Set([...nodes.map((node) => node.row), ...edges.flatMap((edge) => edge.rows)])].sort((a, b) => a - b);
    const order = new Map(rows.map((row, k) => [row, k]));
    const columns = nodes.map((node) => node.column);
    const all = nodes.length === part.nodes.length;
    const left = all ? 0 : part.columns[Math.min(...columns)] - part.columns[0];
    const after = part.columns[Math.max(...columns) + 1];
    const right = all || after === undefined ? part.width : after - 40;
    const moved = (text) =>
      text.replace(/(-?[\d.]+),(-?[\d.]+)/g, (_, x, y) => `${x - left},${ROW * order.get((y - ROW / 2) / ROW) + ROW / 2}`);
    for (const node of part.nodes) node.element.toggleAttribute("hidden", !shown.has(node));
    for (const edge of part.edges) edge.element.toggleAttribute("hidden", true);
    for (const edge of edges) {
      edge.element.removeAttribute("hidden");
      edge.element.setAttribute("d", moved(edge.path));
    }
    for (const node of nodes) node.element.setAttribute("transform", moved(node.place));
    const [width, height] = [right - left, ROW * rows.length];
    part.svg.setAttribute("width", width);
    part.svg.setAttribute("height", height);
    part.svg.parentElement.style.setProperty("--width", `${width}px`);
    part.svg.setAttribute("viewBox", `0 0 ${width} ${height}`);
  };

  const centre = (part, { element }) => {
    const [box, frame] = [element.getBoundingClientRect(), part.svg.parentElement];
    frame.scrollLeft += (box.left + box.right) / 2 - frame.getBoundingClientRect().left - frame.clientWidth / 2;
  };

  const shownBy = (chosen) => {
    const [kind, name] = [chosen.slice(0, chosen.indexOf(":")), chosen.slice(chosen.indexOf(":") + 1)];
    const node = kind === "claim" && find(name);
    if (node) return cone(node);
    const all = parts.flatMap((part) => part.nodes);
    return kind === "theme" ? reach(all.filter((node) => node.theme === name), "needs") : new Set(all);
  };

  // In the address a claim stands by its id alone, as its card links to it.
  const valueOf = (asked) => {
    const values = [...choice.options].map((option) => option.value);
    return [`claim:${asked}`, asked].find((value) => values.includes(value)) ?? "";
  };
  const show = (asked) => {
    const value = valueOf(asked ?? "");
    const shown = shownBy(value);
    choice.value = value;
    document.getElementById("graph-all").hidden = !value;
    document.getElementById("graph-shown").textContent = value ? `${[...shown].filter((node) => node.element.matches("a")).length} of ${whole}` : whole;
    for (const part of parts) {
      place(part, shown);
      for (const node of part.nodes) {
        const chosen = value === `claim:${node.id}`;
        node.element.classList.toggle("chosen", chosen);
        if (chosen) centre(part, node);
      }
    }
    settle();
  };
  const choose = (value) => {
    const asked = value.replace(/^claim:/, "");
    address.update({ graph: asked });
    show(asked);
  };

  const light = (node) => {
    for (const part of parts) part.svg.classList.toggle("lit", Boolean(node) && part.byId.get(node.id) === node);
    const on = node ? cone(node) : new Set();
    for (const part of parts) {
      for (const { element, need, node: end } of part.edges) element.classList.toggle("on", on.has(need) && on.has(end));
      for (const each of part.nodes) each.element.classList.toggle("on", on.has(each));
    }
  };

  // One tab stop for each part; from there the arrow keys lead on.
  const visible = (part) => part.nodes.filter((node) => node.element.matches("a:not([hidden])"));
  const stopAt = (part, stop) => {
    for (const node of part.nodes) if (node.element.matches("a")) node.element.setAttribute("tabindex", node === stop ? 0 : -1);
  };
  const settle = () => {
    for (const part of parts) {
      const there = visible(part);
      stopAt(part, there.find((node) => node.element.matches(".chosen")) ?? there[0]);
    }
  };
  const nearest = (nodes, from) =>
    nodes.filter((node) => node.element.matches("a:not([hidden])")).sort((a, b) => Math.abs(a.row - from.row) - Math.abs(b.row - from.row))[0];
  const towards = (part, node, key) => {
    const column = visible(part).filter((other) => other.column === node.column);
    const at = column.indexOf(node);
    return { ArrowLeft: () => nearest(node.needs, node), ArrowRight: () => nearest(node.used, node), ArrowUp: () => column[at - 1], ArrowDown: () => column[at + 1] }[key]?.();
  };

  for (const part of parts) {
    const nodeOf = (event) => {
      const element = event.target.closest(".node");
      return element && part.byId.get(element.dataset.id);
    };
    part.svg.addEventListener("pointerover", (event) => light(nodeOf(event)));
    part.svg.addEventListener("pointerleave", () => light(null));
    part.svg.addEventListener("focusin", (event) => event.target.matches(":focus-visible") && light(nodeOf(event)));
    part.svg.addEventListener("focusout", () => light(null));
    part.svg.addEventListener("keydown", (event) => {
      const node = nodeOf(event);
      if (!node || event.ctrlKey || event.metaKey || event.altKey) return;
      if (event.key === "f") {
        choose(`claim:${node.id}`);
        node.element.focus();
        return;
      }
      const next = towards(part, node, event.key);
      if (!next) return;
      event.preventDefault();
      stopAt(part, next);
      next.element.focus();
    });
  }
  section.addEventListener("keydown", (event) => {
    if (event.key === "Escape" && choice.value) choose("");
  });
  choice.addEventListener("input", () => choose(choice.value));
  document.getElementById("graph-all").addEventListener("click", () => {
    choose("");
    choice.focus();
  });
  document.addEventListener("click", (event) => {
    const link = event.target.closest('a[href^="#graph="]');
    if (!link) return;
    event.preventDefault();
    choose(`claim:${address.asked(link.getAttribute("href")).graph}`);
    section.scrollIntoView();
    section.querySelector(".node.chosen")?.focus({ preventScroll: true });
  });
  addEventListener("beforeprint", () => {
    for (const folded of section.querySelectorAll("details")) folded.open = true;
  });
  addEventListener("hashchange", () => {
    const { graph } = address.read();
    if (graph !== undefined) show(graph);
  });
  show(address.state.graph);
  if (Object.keys(address.state).join() === "graph") section.scrollIntoView();
})();
