// Charts are drawn when they come into view (and before printing). Their colours are the page's variables.
(() => {
  if (!window.vegaEmbed) return;
  // Labels such as 1e+6 or 0.00002 as powers of ten.
  const power = (value, label) => {
    const plain = value === 0 || (Math.abs(value) >= 1e-3 && Math.abs(value) < 1e5);
    if (plain || !/^[-−\d.,e+]+$/.test(label)) return label;
    const [mantissa, exponent] = value.toExponential(2).split("e");
    const factor = { 1: "", "-1": "−" }[Number(mantissa)] ?? `${Number(mantissa)}·`.replace("-", "−");
    return `${factor}10${[...String(Number(exponent))].map((digit) => "⁻⁰¹²³⁴⁵⁶⁷⁸⁹"["-0123456789".indexOf(digit)]).join("")}`;
  };

  const font = getComputedStyle(document.body).fontFamily;
  const category = Array.from({ length: 8 }, (_, i) => `var(--series-${i + 1})`);
  const text = { labelFont: font, titleFont: font, labelColor: "var(--quiet)", titleColor: "var(--quiet)", labelFontSize: 11.5, titleFontSize: 12, titleFontWeight: 500 };
  const config = {
    background: "transparent",
    font,
    padding: 2,
    axisQuantitative: { labelExpr: "power(datum.value, datum.label)" },
    axis: { ...text, gridColor: "var(--grid)", domainColor: "var(--rule-strong)", tickColor: "var(--rule-strong)", titlePadding: 8 },
    legend: { ...text, orient: "bottom", symbolSize: 70, labelLimit: 0 },
    header: text,
    title: { font, color: "var(--ink)", fontSize: 13, fontWeight: 600, anchor: "start" },
    view: { stroke: null },
    mark: { color: category[0] },
    point: { filled: true },
    text: { font, fill: "var(--ink)" },
    rule: { color: "var(--quiet)" },
    area: { fillOpacity: 0.2 },
    range: { category, symbol: ["circle", "square", "triangle-up", "diamond", "cross", "triangle-down", "triangle-right"] },
    style: { guide: { color: "var(--quiet)", strokeWidth: 1.4 } },
  };
  const options = { mode: "vega-lite", renderer: "svg", actions: false, ast: true, defaultStyle: false, tooltip: { disableDefaultStyle: true }, expressionFunctions: { power } };

  const specification = (chart) => {
    const { spec, tables } = JSON.parse(chart.querySelector("script").textContent);
    const record = (columns, row) => Object.fromEntries(columns.map((name, i) => [name, row[i]]));
    const datasets = Object.entries(tables).map(([name, { columns, rows }]) => [name, rows.map((row) => record(columns, row))]);
    return { ...spec, datasets: Object.fromEntries(datasets) };
  };

  const draw = async (chart) => {
    const plot = chart.querySelector(".plot");
    if (plot.dataset.drawn) return;
    plot.dataset.drawn = "started";
    try {
      const columns = Math.max(1, Math.floor(plot.clientWidth / 150));
      const legend = { ...config.legend, columns };
      await vegaEmbed(plot, specification(chart), { ...options, config: { ...config, legend } });
      plot.dataset.drawn = "done";
    } catch (error) {
      plot.dataset.drawn = "failed";
      plot.textContent = `This chart cannot be drawn: ${error.message}`;
    }
  };

  const charts = [...document.querySelectorAll(".chart")];
  const seen = new IntersectionObserver(
    (entries) => {
      for (const { isIntersecting, target } of entries) {
        if (!isIntersecting) continue;
        seen.unobserve(target);
        draw(target);
      }
    },
    { rootMargin: "300px" },
  );
  for (const chart of charts) seen.observe(chart);

  // Paper shows every card, and a chart needs a width to be drawn.
  let opened = [];
  addEventListener("beforeprint", () => {
    opened = [...document.querySelectorAll(".claim:not([hidden]) > .detail[hidden]")];
    for (const detail of opened) detail.hidden = false;
    for (const chart of charts) if (chart.offsetParent) draw(chart);
  });
  addEventListener("afterprint", () => {
    for (const detail of opened) detail.hidden = true;
  });
})();
