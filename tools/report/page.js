"use strict";
(() => {
  const read = (id) => {
    const element = document.getElementById(id);
    return element ? JSON.parse(element.textContent) : null;
  };
  const specifications = read("specifications");
  const dark = window.matchMedia("(prefers-color-scheme: dark)");
  document.documentElement.classList.add("has-script");

  // ---- values of pictures

  // Values outside of the picture stand at its edge.
  const inside = (value, [low, high]) => ({
    value: Math.min(Math.max(value, low), high),
    outside: value < low || value > high,
  });

  const samplesOf = (data) =>
    data.samples.flatMap(({ implementation, step, values }) =>
      values.map((exact, i) => {
        const { value, outside } = inside(exact, data.times);
        return { implementation, round: Math.floor(i * step) + 1, time: value, exact, outside };
      }));

  const valuesOf = {
    rounds: (data) => ({ values: samplesOf(data) }),
    strip: (data) => ({ values: samplesOf(data) }),
    ecdf: (data) => ({ values: samplesOf(data) }),
    ratios: (data) => ({
      values: data.ratios.flatMap(({ implementation, step, values }) =>
        values.map((exact, i) => {
          const { value, outside } = inside(exact, data.ratio_range);
          return { implementation, cycle: Math.floor(i * step) + 1, speedup: value, exact, outside };
        })),
      datasets: {
        limits: data.ratios.flatMap(({ implementation, limits }) =>
          limits.map((each) => ({ implementation, ...each }))),
        medians: data.ratios
          .filter((each) => each.median)
          .map(({ implementation, median }) => ({ implementation, median })),
      },
    }),
    evidence: (data) => ({
      values: data.evidence.flatMap(({ implementation, expectation, cycles, met, broken }) =>
        cycles.flatMap((cycle, i) => [
          { implementation, expectation, cycle, proves: "the limit is met", evidence: met[i] },
          { implementation, expectation, cycle, proves: "the limit is broken", evidence: broken[i] },
        ])),
      // Several expectations may have the same levels.
      datasets: {
        levels: [...new Map(data.evidence.flatMap(({ levels }) => levels).map((each) => [each.text, each])).values()],
      },
    }),
    sizes: (data) => ({ values: data.values }),
    trend: (data) => ({ values: data.values }),
    changed: (data) => ({ values: data.values, datasets: { changes: data.changes } }),
    roofline: (data) => ({ values: data.values, datasets: { roof: data.roof } }),
  };

  const blanksOf = (data) => {
    const { names, colours, unit, times, axis, range, sizes } = data;
    const blanks = { names, colours, unit, times, axis, range, sizes, ratios: data.ratio_range };
    if (names) blanks.strip = 34 * names.length;
    // Few of a logarithmic axis' usual ticks lie in a small range.
    const scale = (ends) => (ends && ends[1] / ends[0] > 5 ? "log" : "linear");
    blanks.ratios_scale = scale(blanks.ratios);
    blanks.range_scale = scale(blanks.range);
    if (data.evidence && data.evidence.length > 0) {
      const levels = data.evidence.flatMap((each) => each.levels.map(({ level }) => level));
      const ends = data.evidence.flatMap(({ met, broken }) => [...met, ...broken]);
      // Far beyond the levels it is proven as well.
      blanks.evidence = [0.7, Math.min(Math.max(...levels, ...ends) * 3, Math.max(...levels) * 1e4)];
    }
    return blanks;
  };

  const filled = (node, blanks) => {
    if (Array.isArray(node)) return node.map((each) => filled(each, blanks));
    if (node && node.zero === false && filled(node.type, blanks) === "log") {
      const { zero, ...rest } = node;
      return filled(rest, blanks);
    }
    if (node && typeof node === "object")
      return Object.fromEntries(Object.entries(node).map(([key, each]) => [key, filled(each, blanks)]));
    if (typeof node !== "string") return node;
    const whole = /^%(\w+)%$/.exec(node);
    if (whole) return whole[1] in blanks ? blanks[whole[1]] : node;
    return node.replace(/%(\w+)%/g, (_, key) => blanks[key]);
  };

  // Everything that a notebook needs to draw the same picture.
  const specificationOf = (kind, data) => {
    const { values, datasets } = valuesOf[kind](data);
    const result = { ...filled(specifications[kind], blanksOf(data)), data: { values } };
    if (datasets) result.datasets = datasets;
    return result;
  };

  const look = () => {
    const style = getComputedStyle(document.documentElement);
    const of = (name) => style.getPropertyValue(name).trim();
    const [soft, line] = [of("--soft"), of("--line")];
    const colours = { labelColor: soft, titleColor: soft, gridColor: line, domainColor: line, tickColor: line };
    const axis = { ...colours, titleFontWeight: "normal", labelFontSize: 11, titleFontSize: 11 };
    return {
      background: null,
      font: "system-ui, 'DejaVu Sans', sans-serif",
      view: { stroke: null },
      axis: { ...axis, gridOpacity: 0.6 },
      legend: { labelColor: of("--text"), titleColor: of("--soft"), labelFontSize: 12, symbolSize: 70 },
      title: { color: of("--text") },
      rule: { color: of("--soft") },
      text: { color: of("--soft") },
      line: { color: of("--bar") },
      range: { category: ["#0f7ac0", "#d55e00", "#0a9a72", "#c2679b", "#b98a00", "#52aee0", "#8b5fbf"] },
    };
  };

  // ---- drawing, when a picture comes into sight

  const draw = async (place) => {
    place.classList.remove("waiting");
    const { kind, from } = place.dataset;
    const data = read("data-" + from);
    if (!data) return;
    const specification = specificationOf(kind, data);
    // The caption stands above the picture.
    const { title, ...drawn } = specification;
    const many = specification.data.values.length > 3000;
    try {
      // By its interpreter Vega evaluates no text as a program, which many policies forbid.
      await vegaEmbed(place, drawn, {
        actions: false,
        ast: true,
        renderer: many ? "canvas" : "svg",
        config: look(),
        tooltip: { theme: dark.matches ? "dark" : "light" },
      });
      place.dataset.drawn = String(specification.data.values.length);
    } catch (error) {
      place.dataset.failed = String(error);
      place.textContent = "This picture cannot be drawn: " + error;
      return;
    }
    if (place.nextElementSibling && place.nextElementSibling.className === "links") return;
    const links = document.createElement("p");
    links.className = "links";
    const add = (text, act) => {
      const button = document.createElement("button");
      button.type = "button";
      button.textContent = text;
      button.addEventListener("click", () => act(button));
      if (links.childNodes.length > 0) links.append(" · ");
      links.append(button);
    };
    const text = () => JSON.stringify(specification, null, 1);
    add("Save the Vega-Lite specification", () => {
      const link = document.createElement("a");
      link.href = URL.createObjectURL(new Blob([text()], { type: "application/json" }));
      link.download = `${kind}-${from}.vl.json`;
      link.click();
      setTimeout(() => URL.revokeObjectURL(link.href), 1000);
    });
    add("copy it", async (button) => {
      try {
        await navigator.clipboard.writeText(text());
      } catch (error) {
        const area = document.createElement("textarea");
        area.value = text();
        place.append(area);
        area.select();
        document.execCommand("copy");
        area.remove();
      }
      button.textContent = "copied";
    });
    place.after(links);
  };

  const waiting = new IntersectionObserver((entries) => {
    for (const { isIntersecting, target } of entries) {
      if (!isIntersecting) continue;
      waiting.unobserve(target);
      draw(target);
    }
  }, { rootMargin: "300px" });
  const wait = (place) => {
    place.classList.add("waiting");
    waiting.observe(place);
  };
  for (const place of document.querySelectorAll("main > section .chart")) if (!place.closest("details")) wait(place);
  for (const details of document.querySelectorAll("details.comparison")) {
    const open = () => {
      if (!details.open || details.dataset.opened) return;
      details.dataset.opened = "yes";
      details.querySelectorAll(".chart").forEach(wait);
    };
    details.addEventListener("toggle", open);
    open();
  }
  dark.addEventListener("change", () => document.querySelectorAll(".chart[data-drawn]").forEach(draw));

  // ---- links to a comparison open it

  const openLinked = () => {
    const target = document.getElementById(decodeURIComponent(location.hash.slice(1)));
    const details = target && target.closest("details");
    if (!details) return;
    details.hidden = false;
    details.open = true;
    details.scrollIntoView();
  };
  window.addEventListener("hashchange", openLinked);
  openLinked();

  // ---- sort, filter, search

  const list = document.getElementById("list");
  if (list) {
    const all = [...list.children];
    document.querySelector(".tools").hidden = false;
    const [search, filter, sort, found] = ["search", "filter", "sort", "found"].map((id) =>
      document.getElementById(id));
    const badness = { failed: 0, invalid: 1, undecided: 2, measured: 3, passed: 4 };
    const orders = {
      order: () => 0,
      name: (a, b) => a.dataset.name.localeCompare(b.dataset.name, undefined, { numeric: true }),
      speedup: (a, b) => (parseFloat(a.dataset.speedup) || Infinity) - (parseFloat(b.dataset.speedup) || Infinity),
      "-speedup": (a, b) => (parseFloat(b.dataset.speedup) || 0) - (parseFloat(a.dataset.speedup) || 0),
      "-time": (a, b) => (parseFloat(b.dataset.time) || 0) - (parseFloat(a.dataset.time) || 0),
      verdict: (a, b) => (badness[a.dataset.status] ?? 5) - (badness[b.dataset.status] ?? 5),
    };
    const update = () => {
      const words = search.value.toLowerCase().split(/\s+/).filter((each) => each);
      let shown = 0;
      for (const each of all) {
        const status = each.dataset.status;
        const wanted = !filter.value || (filter.value === "open" ? status !== "passed" : status === filter.value);
        each.hidden = !(wanted && words.every((word) => each.dataset.words.includes(word)));
        shown += each.hidden ? 0 : 1;
      }
      list.append(...[...all].sort(orders[sort.value]));
      found.textContent = `${shown} of ${all.length}`;
    };
    for (const element of [search, filter, sort]) element.addEventListener("input", update);
    update();
  }
  for (const table of document.querySelectorAll("table.sortable")) {
    table.classList.add("live");
    const body = table.tBodies[0];
    [...table.tHead.rows[0].cells].forEach((head, column) => {
      head.addEventListener("click", () => {
        const down = head.getAttribute("aria-sort") !== "descending";
        [...table.tHead.rows[0].cells].forEach((each) => each.removeAttribute("aria-sort"));
        head.setAttribute("aria-sort", down ? "descending" : "ascending");
        const key = (row) => {
          const data = row.cells[column].querySelector("data");
          const text = row.cells[column].textContent.trim();
          const number = parseFloat(data ? data.value : text);
          return Number.isNaN(number) ? text : number;
        };
        const rows = [...body.rows].sort((a, b) => {
          const [x, y] = [key(a), key(b)];
          return typeof x === "number" && typeof y === "number" ? x - y : String(x).localeCompare(String(y));
        });
        body.append(...(down ? rows.reverse() : rows));
      });
    });
  }

  // ---- a printed page shows everything

  let opened = [];
  window.addEventListener("beforeprint", () => {
    opened = [...document.querySelectorAll("details.comparison:not([open]):not([hidden])")];
    for (const each of opened) each.open = true;
  });
  window.addEventListener("afterprint", () => {
    for (const each of opened) each.open = false;
  });
})();
