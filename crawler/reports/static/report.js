"use strict";
/* Draws the report from the JSON that stands beside it. Whatever came from the web is
   put on the page as text, never as markup. */
(() => {
  const report = JSON.parse(document.getElementById("report").textContent);
  const $ = (id) => document.getElementById(id);
  const number = new Intl.NumberFormat("en");
  const count = (value) => number.format(value);
  const percent = (part, whole) => (whole ? `${((100 * part) / whole).toFixed(1)} %` : "–");
  const colour = (name) => getComputedStyle(document.documentElement).getPropertyValue(`--${name}`).trim();

  /** An element with attributes and children; strings become text. */
  function make(tag, attributes, ...children) {
    const element = document.createElement(tag);
    for (const [name, value] of Object.entries(attributes || {})) {
      if (name === "class") element.className = value;
      else if (value !== null && value !== undefined) element.setAttribute(name, value);
    }
    element.append(...children.filter((child) => child !== null && child !== undefined));
    return element;
  }

  function link(url, text) {
    const safe = /^https?:\/\//i.test(url);
    return safe
      ? make("a", { href: url, target: "_blank", rel: "noopener noreferrer nofollow" }, text || url)
      : make("span", {}, text || url);
  }

  function table(target, heads, rows) {
    target.replaceChildren(
      make("thead", {}, make("tr", {}, ...heads.map(([text, kind]) => make("th", { scope: "col", class: kind || "" }, text)))),
      make("tbody", {}, ...rows.map((cells) => make("tr", {}, ...cells.map((cell, i) => {
        const tag = i ? "td" : "th";
        return make(tag, { class: heads[i][1] || "", scope: i ? null : "row" }, cell);
      })))),
    );
  }

  const duration = (seconds) => {
    if (seconds < 120) return `${seconds.toFixed(seconds < 10 ? 1 : 0)} s`;
    if (seconds < 7200) return `${(seconds / 60).toFixed(0)} min`;
    if (seconds < 172800) return `${(seconds / 3600).toFixed(1)} h`;
    return `${(seconds / 86400).toFixed(1)} days`;
  };
  const short = (name) => name.split("/").filter(Boolean).pop() || name;

  // ---------------------------------------------------------------- charts

  const charts = new Map(); // id → function that draws it again
  const drawn = new Map();

  function draw(id, describe) {
    charts.set(id, describe);
    const place = $(id);
    drawn.get(id)?.destroy();
    drawn.delete(id);
    place.replaceChildren();
    const { data, series, label, nothing, ...options } = describe();
    place.setAttribute("aria-label", label);
    place.classList.toggle("empty", Boolean(nothing));
    if (nothing) {
      place.append(make("p", {}, nothing));
      return;
    }
    const axis = { stroke: colour("quiet"), grid: { stroke: colour("grid"), width: 1 }, ticks: { show: false }, font: "12px system-ui, sans-serif" };
    const own = options.axes || [{}, {}];
    drawn.set(id, new uPlot({
      width: place.clientWidth, height: place.clientHeight, series,
      cursor: { y: false, points: { size: 7 } },
      padding: [10, 24, 0, 0],
      ...options,
      axes: own.map((given, i) => ({ ...axis, size: i ? 52 : 30, ...given })),
    }, data, place));
  }

  function redraw() {
    for (const [id, describe] of charts) draw(id, describe);
  }
  let wait;
  addEventListener("resize", () => {
    clearTimeout(wait);
    wait = setTimeout(redraw, 150);
  });
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", redraw);

  const plain = (_, values) => values.map((value) => (value === null ? "" : count(value)));

  function bars(id, bins, { high, names, threshold, width, colours }) {
    draw(id, () => {
      const total = bins.map((list) => list.reduce((a, b) => a + b, 0));
      const size = bins[0].length;
      const edges = bins[0].map((_, i) => (i + 0.5) * (high / size));
      return {
        label: `${$(`${id}-title`).textContent}: ${names.map((name, i) => `${name} ${count(total[i])}`).join(", ")}`,
        nothing: total[0] ? null : "The run has none.",
        data: [edges, ...bins],
        series: [{}, ...bins.map((_, i) => ({
          fill: colour(colours ? colours[i] : `c${i + 1}`),
          stroke: "transparent",
          paths: uPlot.paths.bars(width ? { size: [0.42], align: i ? 1 : -1 } : { size: [0.9] }),
          points: { show: false },
        }))],
        scales: { x: { time: false, range: [0, high] }, y: { range: (_, low, most) => [0, Math.max(most * 1.08, 1)] } },
        axes: [{ values: (_, values) => values.map(String) }, { values: plain }],
        cursor: { show: false },
        hooks: { draw: [(chart) => {
          if (!threshold) return;
          const x = chart.valToPos(threshold, "x", true);
          const { ctx, bbox } = chart;
          ctx.save();
          ctx.strokeStyle = colour("c2");
          ctx.lineWidth = 2 * devicePixelRatio;
          ctx.setLineDash([5, 4]);
          ctx.beginPath();
          ctx.moveTo(x, bbox.top);
          ctx.lineTo(x, bbox.top + bbox.height);
          ctx.stroke();
          ctx.restore();
        }] },
      };
    });
  }

  // ---------------------------------------------------------------- harvest

  let axis = "downloads";

  /** One x axis for several curves: the last known value of each at every x. */
  function joined(curves) {
    return uPlot.join(curves.map(({ x, y }) => [x, y]));
  }

  function curves() {
    const runs = report.runs.filter((run) => run.curve.total);
    const x = (run) => run.curve[axis];
    const found = runs.map((run, i) => ({
      name: runs.length > 1 ? short(run.name) : "pairs", colour: `c${(i % 6) + 1}`, x: x(run), y: run.curve.complete,
    }));
    if (runs.length === 1) {
      const [run] = runs;
      found.push({ name: "known while crawling", colour: "c4", dash: [2, 4], x: x(run), y: run.curve.streamed });
    }
    if (runs.length && axis === "downloads" && !report.oracle) {
      const [run] = runs;
      found.push({ name: "in the best order, in hindsight", colour: "quiet", dash: [1, 3], x: x(run), y: run.curve.hindsight });
    }
    const judged = runs.filter((run) => run.curve.true);
    judged.forEach((run, i) => {
      found.push({
        name: runs.length > 1 ? `${short(run.name)}: true pairs` : "true pairs", colour: `c${runs.length > 1 ? (runs.indexOf(run) % 6) + 1 : 3}`,
        dash: [8, 4], x: x(run), y: run.curve.true,
      });
    });
    if (runs.length && axis === "downloads") {
      const judging = judged.length ? "true pairs" : "pairs";
      if (report.oracle) {
        found.push({ name: `${judging} of an oracle`, colour: "ink", dash: [1, 3], x: report.oracle.downloads, y: report.oracle.pairs });
      } else if (judged.length) {
        found.push({ name: "true pairs in the best order, in hindsight", colour: "ink", dash: [1, 3], x: x(judged[0]), y: judged[0].curve.true_hindsight });
      }
    }
    return found;
  }

  function drawHarvest() {
    draw("harvest-chart", () => {
      const found = curves();
      const best = found.map((curve) => `${curve.name}: ${count(curve.y[curve.y.length - 1])}`).join(", ");
      return {
        label: `Pairs against ${axis === "downloads" ? "downloads" : "time"}. ${best}.`,
        nothing: found.length ? null : "No crawl log: these pairs were not crawled but aligned from WARC files.",
        data: found.length ? joined(found) : [],
        series: [{}, ...found.map((curve) => ({
          stroke: colour(curve.colour), width: curve.dash ? 1.6 : 2.6, dash: curve.dash, spanGaps: true, points: { show: false },
          ...(curve.dash ? {} : { fill: found.length < 4 ? `${colour(curve.colour)}14` : null }),
        }))],
        scales: { x: { time: false }, y: { range: (_, low, high) => [0, Math.max(high * 1.05, 1)] } },
        axes: [
          { values: axis === "downloads" ? plain : (_, values) => values.map((value) => duration(value)) },
          { values: plain },
        ],
        hooks: { setCursor: [(chart) => legend(found, chart)] },
      };
    });
    legend(curves(), null);
  }

  function legend(found, chart) {
    const place = chart?.cursor.idx ?? null;
    const at = place === null ? null : chart.data[0][place];
    const items = found.map((curve) => {
      let value = curve.y[curve.y.length - 1];
      if (at !== null) {
        const next = curve.x.findIndex((x) => x > at);
        value = curve.y[next < 0 ? curve.y.length - 1 : Math.max(next - 1, 0)];
      }
      const key = make("i", { class: curve.dash ? "dashed" : "" });
      key.style.color = colour(curve.colour);
      return make("span", {}, key, `${curve.name} `, make("b", {}, count(value)));
    });
    if (at !== null) items.push(make("span", {}, axis === "downloads" ? `after ${count(at)} downloads` : `after ${duration(at)}`));
    $("harvest-legend").replaceChildren(...items);
  }

  // by key as by mouse: a step is a hundredth of the width
  $("harvest-chart").addEventListener("keydown", (event) => {
    const chart = drawn.get("harvest-chart");
    const step = { ArrowRight: 1, ArrowLeft: -1, Home: -Infinity, End: Infinity }[event.key];
    if (!chart || step === undefined) return;
    event.preventDefault();
    const width = chart.over.clientWidth;
    const now = Math.max(chart.cursor.left ?? 0, 0);
    const left = step === Infinity ? width - 1 : step === -Infinity ? 0 : Math.min(Math.max(now + (step * width) / 100, 0), width - 1);
    chart.setCursor({ left, top: 0 });
  });

  function tenths() {
    const runs = report.runs.filter((run) => run.curve.total);
    const oracle = [];
    if (report.oracle && runs.length) {
      const { downloads, pairs } = report.oracle;
      const after = (n) => pairs[downloads.findLastIndex((x) => x <= n)];
      const first = (share) => `${count(downloads[pairs.findIndex((found) => found >= share * pairs[pairs.length - 1])])} downloads`;
      oracle.push(["oracle", ...runs[0].curve.tenths.map(([n]) => count(after(n))), first(0.5), first(0.9), "1.000"]);
    }
    table(
      $("tenths"),
      [["Run"], ...Array.from({ length: 10 }, (_, i) => [`${(i + 1) * 10} %`, "n"]), ["half of the pairs", "n"], ["90 %", "n"], ["order", "n"]],
      runs.map((run) => [
        short(run.name),
        ...run.curve.tenths.map(([, pairs]) => count(pairs)),
        run.curve.half === null ? "–" : `${count(run.curve.half)} downloads`,
        run.curve.most === null ? "–" : `${count(run.curve.most)} downloads`,
        run.curve.order === null ? "–" : run.curve.order.toFixed(3),
      ]).concat(oracle),
    );
  }

  for (const button of document.querySelectorAll("[data-axis]")) {
    button.addEventListener("click", () => {
      axis = button.dataset.axis;
      for (const other of document.querySelectorAll("[data-axis]")) other.setAttribute("aria-pressed", String(other === button));
      drawHarvest();
    });
  }

  // ---------------------------------------------------------------- one run

  const kinds = [["paired", "in pairs"], ["copy", "copies"], ["alone", "without a partner"], ["language", "other languages"], ["redirect", "redirects"], ["status", "errors"], ["other", "other"]];
  function kindOf(outcome) {
    const head = outcome.split("/")[0];
    if (head === "no_answer") return "status";
    return kinds.some(([kind]) => kind === head) ? head : "other";
  }

  function summary(run) {
    const documents = run.languages.filter((one) => one.wanted).reduce((sum, one) => sum + one.documents, 0);
    $("title").textContent = `${run.langs.map(([, name]) => name).join(" and ")} · ${short(run.name)}`;
    document.title = `${short(run.name)} · Bifocal report`;
    $("about").textContent = [
      run.name, run.profile, run.seeds ? `${count(run.seeds)} ${run.seeds === 1 ? "seed" : "seeds"}` : null, run.scope ? `scope ${run.scope}` : null,
      run.started ? `started ${run.started.slice(0, 16).replace("T", " ")} UTC` : null,
    ].filter(Boolean).join(" · ");
    const seconds = run.curve.seconds[run.curve.seconds.length - 1];
    const tiles = [["Pairs", count(run.pairs), run.threshold !== null ? `score ${run.threshold} or more` : ""]];
    if (run.curve.total) {
      tiles.push(
        ["Downloads", count(run.curve.total), [seconds ? `${duration(seconds)}, ${(run.curve.total / seconds).toFixed(1)} a second` : "", run.answers ? `${count(run.answers)} answers stored, with robots.txt and retries` : ""].filter(Boolean).join("; ")],
        ["Harvest rate", run.curve.total ? `${((100 * run.pairs) / run.curve.total).toFixed(1)}` : "–", "pairs per 100 downloads"],
        ["Copies", count(run.outcomes.copy || 0), `${percent(run.outcomes.copy || 0, run.curve.total)} of the downloads: other addresses of pages in pairs`],
        ["Documents", count(documents), run.langs.map(([, name]) => `${name} ${count((run.languages.find((one) => one.name === name) || { documents: 0 }).documents)}`).join(", ")],
        ["Order", run.curve.order === null ? "–" : run.curve.order.toFixed(3), "of the best one, in hindsight"],
        ["90 % of pairs", run.curve.most === null ? "–" : percent(run.curve.most, run.curve.total), run.curve.most === null ? "" : `of the downloads: ${count(run.curve.most)}`],
      );
    }
    if (run.sentences.pairs) tiles.splice(1, 0, ["Sentence pairs", count(run.sentences.pairs), run.pairs ? `${(run.sentences.pairs / run.pairs).toFixed(1)} a pair` : ""]);
    if (run.gold) {
      tiles.push(["Precision", run.gold.precision.toFixed(3), `recall ${run.gold.recall.toFixed(3)} of ${count(run.gold.true)} true pairs`]);
    }
    for (const [level, found] of Object.entries(run.judged)) {
      const [share, low, high] = found.share;
      tiles.push([level === "page" ? "Pairs marked right" : "Sentences marked right", percent(share, 1), `${percent(low, 1)} to ${percent(high, 1)} (95 %), ${count(found.marks)} marks${found.sampled ? "" : ", chosen and not drawn"}`]);
    }
    $("tiles").replaceChildren(...tiles.map(([name, value, note]) => make("div", {}, make("dt", {}, name), make("dd", {}, value, make("small", {}, note)))));
  }

  const wasted = (site) => site.downloads - (site.outcomes.paired || 0);
  const siteOrders = {
    pairs: (a, b) => b.pairs - a.pairs,
    waste: (a, b) => wasted(b) - wasted(a),
    rate: (a, b) => b.pairs / (b.downloads || 1) - a.pairs / (a.downloads || 1),
  };

  function failures(run) {
    $("failed").hidden = !run.failed.length;
    table($("failed-table"), [["Site"], ["Downloads", "n"], ["Failed", "n"], ["Cause"]], run.failed.map(([site, downloads, failed, cause]) => [site, count(downloads), count(failed), cause]));
  }

  function ahead(run) {
    const left = run.outlook;
    if (!left) return "";
    if (!left.waiting) return "Nothing waits: the crawl has fetched all that it found.";
    const time = left.seconds ? `, about ${duration(left.seconds)}` : "";
    return `${count(left.waiting)} URLs wait${time}. The last ${count(left.recent)} downloads completed ${count(left.found)} pairs; if the rest is alike, ${count(Math.round(left.expected))} pairs are still to come, and hardly more than ${count(Math.ceil(left.at_most))} (95 %). The last pair was complete ${count(left.since_last)} downloads ago.`;
  }

  function sites(run) {
    $("sites-key").replaceChildren(...kinds.map(([kind, name]) => make("span", {}, make("i", { class: kind }), name)));
    const shown = run.sites.toSorted(siteOrders[$("site-order").value]).slice(0, 300);
    table(
      $("site-table"),
      [["Site"], ["Pairs", "n"], ["Downloads", "n"], ["per 100", "n"], ["What the downloads became", "what"]],
      shown.map((site) => {
        const groups = {};
        for (const [outcome, n] of Object.entries(site.outcomes)) groups[kindOf(outcome)] = (groups[kindOf(outcome)] || 0) + n;
        const said = kinds.filter(([kind]) => groups[kind]).map(([kind, name]) => `${name} ${count(groups[kind])}`).join(", ");
        const detail = Object.entries(site.outcomes).sort((a, b) => b[1] - a[1]).map(([outcome, n]) => `${outcome} ${n}`).join("\n");
        const bar = make("div", { class: "stackbar", role: "img", "aria-label": said || "nothing", title: detail }, ...kinds.filter(([kind]) => groups[kind]).map(([kind]) => {
          const part = make("span", { class: kind });
          part.style.flexGrow = groups[kind];
          return part;
        }));
        return [site.site, count(site.pairs), count(site.downloads), site.downloads ? ((100 * site.pairs) / site.downloads).toFixed(1) : "–", bar];
      }),
    );
    if (run.sites.length > shown.length) $("site-table").append(make("caption", {}, `${count(run.sites.length - shown.length)} more sites are not shown.`));
  }

  function track(part, whole, kind) {
    const inner = make("span", { class: kind || "" });
    inner.style.width = `${(100 * part) / Math.max(whole, 1)}%`;
    return make("span", { class: "track" }, inner);
  }

  function outcomes(run) {
    const rows = Object.entries(run.outcomes).sort((a, b) => b[1] - a[1]);
    const total = rows.reduce((sum, [, n]) => sum + n, 0);
    table($("outcomes"), [["Outcome"], ["Downloads", "n"], ["Share", "n"], [""]], rows.map(([name, n]) => [
      make("span", {}, name, make("small", {}, run.reasons[name.split("/")[0]] || "")), count(n), percent(n, total), track(n, rows[0][1], kindOf(name)),
    ]));
    table($("counters"), [["Counter"], ["Value", "n"]], Object.entries(run.counters).map(([name, value]) => [name, typeof value === "number" ? count(value) : String(value)]));
    const most = run.languages.reduce((high, one) => Math.max(high, one.documents), 1);
    table($("languages"), [["Language"], ["Pages", "n"], [""]], run.languages.map((one) => [one.name, count(one.documents), track(one.documents, most, one.wanted ? "paired" : "language")]));
  }

  function pictures(run) {
    $("outlook").textContent = ahead(run);
    draw("frontier-chart", () => ({
      label: `URLs that wait, after each download; at the end ${count(run.curve.waiting[run.curve.waiting.length - 1])}.`,
      nothing: run.curve.total ? null : "No crawl log.",
      data: [run.curve.downloads, run.curve.waiting],
      series: [{}, { stroke: colour("c4"), fill: `${colour("c4")}22`, width: 2, points: { show: false } }],
      scales: { x: { time: false }, y: { range: (_, low, high) => [0, Math.max(high * 1.08, 1)] } },
      axes: [{ values: plain }, { values: plain }],
    }));
    bars("pair-scores", [run.scores.pairs], { high: 1, names: ["pairs"], threshold: run.threshold });
    const useful = run.scores.paired.map((n, i) => n + run.scores.copies[i]);
    bars("url-scores", [run.scores.urls, useful, run.scores.paired], { high: 1, names: ["downloads", "in pairs or copies of them", "in pairs"], colours: ["redirect", "copy", "paired"] });
    bars("sentence-scores", [run.sentences.scores], { high: 1, names: ["sentence pairs"] });
    bars("sentence-lengths", [run.sentences.src_lengths, run.sentences.trg_lengths], {
      high: 400, names: run.langs.map(([, name]) => name), width: true,
    });
  }

  // ---------------------------------------------------------------- pairs

  const HEIGHT = 64; // of an item, as in the style
  const list = $("list"), space = $("space"), panel = $("pair");
  let run, index, marks, focused = null, shown = [], chosen = -1;
  const unpacked = new Map();

  async function textsOf(place, number = index) {
    const { chunk: size } = report.runs[number];
    const name = `texts-${number}-${Math.floor(place / size)}`;
    if (!unpacked.has(name)) {
      if (unpacked.size > 40) unpacked.delete(unpacked.keys().next().value);
      const bytes = Uint8Array.from(atob($(name).textContent), (letter) => letter.charCodeAt(0));
      const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"));
      unpacked.set(name, new Response(stream).json());
    }
    return (await unpacked.get(name))[place % size];
  }

  function filter() {
    const words = $("words").value.trim().toLowerCase();
    const site = $("site").value, low = Number($("low").value || 0), high = Number($("high").value || 1), truth = $("truth").value;
    const { src, trg, score, titles, right } = run.list;
    shown = [];
    for (let i = 0; i < score.length; i++) {
      if (score[i] < low || score[i] > high || (site && run.list.site[i] !== site)) continue;
      if (truth && String(right[i]) !== truth) continue;
      if (words && ![src[i], trg[i], ...titles[i]].some((text) => text.toLowerCase().includes(words))) continue;
      shown.push(i);
    }
    if ($("order").value === "worst") shown.reverse();
    if ($("order").value === "site") shown.sort((a, b) => (run.list.site[a] < run.list.site[b] ? -1 : run.list.site[a] > run.list.site[b] ? 1 : a - b));
    const all = run.list.score.length;
    const sample = all < run.pairs ? ` (${count(all)} of the run's ${count(run.pairs)}, evenly over the scores)` : "";
    $("count").textContent = `${count(shown.length)} of ${count(all)} pairs${sample}`;
    space.style.height = `${shown.length * HEIGHT}px`;
    list.scrollTop = 0;
    chosen = -1;
    if (shown.length) choose(0);
    else {
      $("place").textContent = "No pair fits.";
      panel.replaceChildren(make("p", { class: "quiet" }, "No pair fits."));
      items();
    }
  }

  function items() {
    const first = Math.max(0, Math.floor(list.scrollTop / HEIGHT) - 5);
    const last = Math.min(shown.length, Math.ceil((list.scrollTop + list.clientHeight) / HEIGHT) + 5);
    const made = [];
    for (let at = first; at < last; at++) {
      const i = shown[at];
      const { titles, score, src, right } = run.list;
      const verdict = right[i] === null ? null : make("span", { class: right[i] ? "right" : "wrong" }, right[i] ? "right" : "wrong");
      const item = make("div", {
        class: "item", role: "option", id: `item-${at}`, "aria-selected": String(at === chosen), "aria-posinset": at + 1, "aria-setsize": shown.length,
      }, make("p", {}, titles[i][0] || path(src[i])), make("p", { class: "sub" }, make("span", {}, score[i].toFixed(3)), verdict, chip(marks.of(pageMark(i))), make("span", {}, titles[i][1] || path(run.list.trg[i]))));
      item.style.transform = `translateY(${at * HEIGHT}px)`;
      item.addEventListener("click", () => choose(at));
      made.push(item);
    }
    space.replaceChildren(...made);
    if (chosen >= first && chosen < last) list.setAttribute("aria-activedescendant", `item-${chosen}`);
    else list.removeAttribute("aria-activedescendant");
  }
  const path = (url) => url.replace(/^https?:\/\//, "");

  const chip = (verdict) => (verdict ? make("span", { class: `verdict ${verdict}` }, verdict) : null);
  const pageMark = (i) => ({ level: "page", src_url: run.list.src[i], trg_url: run.list.trg[i], src_text: run.list.titles[i][0], trg_text: run.list.titles[i][1], score: run.list.score[i] });

  /** Mark the sentence in focus, or else the pair that is shown. */
  function mark(digit) {
    if (chosen < 0 || !marks.put(focused?.mark || pageMark(shown[chosen]), digit)) return;
    if (focused) focused.draw();
    else $("pair-verdict").replaceChildren(...[chip(marks.of(pageMark(shown[chosen])))].filter(Boolean));
    items();
    counted("");
    if (focused?.next) focused.next().focus();
  }

  /** Say how many marks there are, how good the pairs are by them, and whether one was lost. */
  function counted(lost) {
    $("marked").textContent = lost || `${count(marks.count)} ${marks.count === 1 ? "mark" : "marks"}`;
    summary(run);
  }

  async function choose(at) {
    if (!shown.length) return;
    chosen = Math.min(Math.max(at, 0), shown.length - 1);
    const top = chosen * HEIGHT;
    if (top < list.scrollTop) list.scrollTop = top;
    else if (top + HEIGHT > list.scrollTop + list.clientHeight) list.scrollTop = top + HEIGHT - list.clientHeight;
    items();
    const i = shown[chosen], before = index;
    const text = await textsOf(i);
    if (shown[chosen] === i && index === before) show(i, text); // nobody has gone on meanwhile
  }

  function sentence(mark, [one, other, value, starts, reason], at, goesOn) {
    const lone = !one || !other;
    const grade = lone ? "lone" : reason ? "refused" : value >= 0.97 ? "s3" : value >= 0.9 ? "s2" : "s1";
    const said = lone ? "without a partner" : reason ? `score ${value}; a corpus leaves it out: ${reason}` : `score ${value}`;
    const element = make("div", { class: `row ${grade}${starts ? " first" : ""}${at ? "" : " start"}`, title: said, ...(lone ? {} : { tabindex: 0 }) },
      make("p", { lang: run.langs[0][0], dir: "auto" }, one), make("p", { lang: run.langs[1][0], dir: "auto" }, other));
    if (lone) return element;
    const note = make("small", { class: "note" });
    const described = {
      mark,
      draw: () => note.replaceChildren(...[reason ? `left out: ${reason}` : null, chip(marks.of(described.mark))].filter(Boolean)),
    };
    described.draw();
    element.append(note);
    element.addEventListener("focus", () => { focused = described; });
    element.addEventListener("blur", (event) => { if (!event.relatedTarget?.closest("#marking")) focused = null; });
    if (goesOn) described.next = () => element.nextElementSibling || element;
    return element;
  }

  /** Rows that were drawn to be judged; after a mark the next one has the focus. */
  function drawnRows() {
    const rows = marks.drawn;
    $("drawn").hidden = !rows.length;
    $("drawn-rows").replaceChildren(...rows.map((row, at) => sentence(row, row.level === "page" ? [row.src_text || row.src_url, row.trg_text || row.trg_url, row.score] : [row.src_text, row.trg_text, row.score], at, true)));
  }

  function show(i, text) {
    const { src, trg, score, titles, right } = run.list;
    const side = (k, url) => make("div", {}, make("p", { class: "lang" }, run.langs[k][1]), make("h3", { lang: run.langs[k][0], dir: "auto" }, titles[i][k] || "(no title)"), make("p", {}, link(url)));
    const facts = make("div", { class: "facts" }, make("span", { class: "chip score" }, score[i].toFixed(4)), make("span", { id: "pair-verdict" }, ...[chip(marks.of(pageMark(i)))].filter(Boolean)),
      right[i] === null ? null : make("span", { class: `chip ${right[i] ? "right" : "wrong"}` }, right[i] ? "right" : "wrong"),
      ...text.found_by.map((name) => make("span", { class: "chip" }, `found by ${name}`)));
    const evidence = make("table", {});
    table(evidence, [["Feature"], ["Value", "n"]], Object.entries(text.features).map(([name, value]) => [name, String(value)]));
    const more = make("details", {}, make("summary", {}, "Features and other addresses"), evidence);
    text.twins.forEach((twins, k) => twins.forEach((url) => more.append(make("p", { class: "quiet" }, `also ${run.langs[k][1]}: `, link(url)))));
    facts.append(more);
    const rows = text.rows === null
      ? [make("p", { class: "quiet" }, "The pages are not in the WARC files of this run.")]
      : text.rows.map((row, at) => sentence({ level: "sentence", src_url: src[i], trg_url: trg[i], src_text: row[0], trg_text: row[1], score: row[2], pair_score: score[i] }, row, at));
    if (text.cut) rows.push(make("p", { class: "quiet" }, "The pages go on; the report ends here."));
    if (text.repeated.some((side) => side.length)) {
      rows.push(make("details", { class: "repeated" }, make("summary", {}, "Blocks that many pages of the site have, left out"), make("div", { class: "row first" }, ...text.repeated.map((side, k) => make("div", { lang: run.langs[k][0], dir: "auto" }, ...side.map((block) => make("p", {}, block)))))));
    }
    focused = null;
    panel.replaceChildren(make("header", {}, side(0, src[i]), side(1, trg[i])), facts, ...[versions(i)].filter(Boolean), ...rows);
    panel.scrollTop = 0;
    $("place").textContent = `Pair ${count(chosen + 1)} of ${count(shown.length)}`;
  }

  list.addEventListener("scroll", () => requestAnimationFrame(items), { passive: true });
  addEventListener("resize", items);
  list.addEventListener("keydown", (event) => {
    const step = { ArrowDown: 1, ArrowUp: -1, PageDown: 8, PageUp: -8, Home: -Infinity, End: Infinity }[event.key];
    if (step === undefined) return;
    event.preventDefault();
    choose(step === Infinity ? shown.length - 1 : step === -Infinity ? 0 : chosen + step);
  });
  addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || event.target.closest("input, select, textarea")) return;
    if (event.key === "j" || event.key === "n") choose(chosen + 1);
    else if (event.key === "k" || event.key === "p") choose(chosen - 1);
    else if (/^[0-3]$/.test(event.key)) mark(event.key);
    else if (event.key === "/") {
      event.preventDefault();
      $("words").focus();
    }
  });
  for (const button of document.querySelectorAll("[data-mark]")) button.addEventListener("click", () => mark(button.dataset.mark));
  $("save").addEventListener("click", () => {
    const file = URL.createObjectURL(new Blob([marks.tsv()], { type: "text/tab-separated-values" }));
    make("a", { href: file, download: "marks.tsv" }).click();
    URL.revokeObjectURL(file);
  });
  $("filters").addEventListener("input", filter);
  $("filters").addEventListener("submit", (event) => event.preventDefault());

  // ---------------------------------------------------------------- several pairs of languages

  const codes = (one) => one.langs.map(([code]) => code);
  /** The run that the directory of a pair of languages lies in; null if it is alone. */
  function whole(one) {
    const [, parent, last] = /^(.*)[/\\]([^/\\]+)$/.exec(one.name) || [];
    return last === codes(one).join("-") ? parent : null;
  }
  const siblings = (one) => report.runs.filter((other) => other !== one && whole(one) !== null && whole(other) === whole(one));

  /** A table of the pairs of each two languages of a run; a number leads to its pairs. */
  function matrix() {
    const runs = report.runs.filter((one) => whole(one) !== null && whole(one) === whole(run));
    $("matrix").hidden = runs.length < 2;
    const names = new Map(runs.flatMap((one) => one.langs));
    const langs = [...names.keys()];
    const cell = (a, b) => {
      const one = runs.find((other) => codes(other).includes(a) && codes(other).includes(b));
      if (a === b || !one) return "–";
      const label = `${names.get(a)} and ${names.get(b)}: ${count(one.pairs)} pairs, ${count(one.sentences.pairs)} sentence pairs`;
      const button = make("button", { type: "button", "aria-label": label, "aria-pressed": String(one === run) }, count(one.pairs), make("small", {}, count(one.sentences.pairs)));
      button.addEventListener("click", () => {
        select(report.runs.indexOf(one));
        $("matrix-table").querySelector("[aria-pressed=true]").focus();
      });
      return button;
    };
    table($("matrix-table"), [["Language"], ...langs.map((code) => [names.get(code), "n"])], langs.map((a) => [names.get(a), ...langs.map((b) => cell(a, b))]));
  }

  /** Where the runs of other pairs of languages list a page: run, place, side. */
  const places = new Map();
  function listed(url) {
    if (!places.size) {
      report.runs.forEach((one, at) => ["src", "trg"].forEach((side, k) => one.list[side].forEach((page, i) => {
        if (!places.has(page)) places.set(page, []);
        places.get(page).push({ at, i, k });
      })));
    }
    return (places.get(url) || []).filter(({ at }) => siblings(run).includes(report.runs[at]));
  }

  /** Other versions of an article: a way to each pair, and all of them beside each other. */
  function versions(i) {
    const found = [run.list.src[i], run.list.trg[i]].flatMap((url, side) => listed(url).map((place) => ({ ...place, side })));
    if (!found.length) return null;
    const ways = found.map(({ at, i: there, k, side }) => {
      const [code, name] = report.runs[at].langs[1 - k];
      const button = make("button", { type: "button", lang: "en", "data-version": code }, `${run.langs[side][1]} – ${name}`);
      button.addEventListener("click", () => go(at, there));
      return button;
    });
    const all = make("details", { class: "versions" }, make("summary", {}, "All versions, sentence by sentence"));
    all.addEventListener("toggle", async () => {
      if (!all.open || all.querySelector("table")) return;
      const columns = [{ index, i, k: 0 }, ...found.filter(({ side }) => side === 0).map((place) => ({ index: place.at, i: place.i, k: place.k }))];
      const texts = await Promise.all(columns.map((column) => textsOf(column.i, column.index)));
      const rows = new Map(); // sentence of the first language → its versions
      texts.forEach(({ rows: pairs }, n) => (pairs || []).forEach((pair) => {
        const [ours, theirs] = columns[n].k ? [pair[1], pair[0]] : [pair[0], pair[1]];
        if (!ours) return;
        if (!rows.has(ours)) rows.set(ours, columns.map(() => ""));
        rows.get(ours)[n] = theirs;
      }));
      const langs = columns.map(({ index: at, k }) => report.runs[at].langs[1 - k]);
      const body = make("table", {});
      const text = ([code], words) => make("span", { lang: code, dir: "auto" }, words);
      table(body, [[run.langs[0][1]], ...langs.map(([, name]) => [name])], [...rows].map(([ours, theirs]) => [text(run.langs[0], ours), ...theirs.map((words, n) => text(langs[n], words))]));
      all.append(make("div", { class: "scroll", tabindex: 0, role: "region", "aria-label": "All versions" }, body));
    });
    return make("div", { class: "others" }, make("p", { class: "quiet" }, "Also: ", ...ways), all);
  }

  /** Show a pair of another run. */
  function go(at, i) {
    select(at);
    $("filters").reset();
    filter();
    choose(shown.indexOf(i));
    panel.focus();
  }

  // ---------------------------------------------------------------- start

  function select(number) {
    $("run").value = number;
    index = number;
    run = report.runs[number];
    marks = marksOf(run, number, report.saves, counted);
    drawnRows();
    matrix();
    const names = [...new Set(run.list.site)].sort();
    $("site").replaceChildren(make("option", { value: "" }, "all"), ...names.map((name) => make("option", { value: name }, name)));
    $("truth-label").hidden = !run.gold;
    counted("");
    sites(run);
    failures(run);
    outcomes(run);
    pictures(run);
    filter();
  }

  $("version").textContent = report.version;
  report.runs.forEach((one, i) => $("run").append(make("option", { value: i }, short(one.name))));
  document.querySelector(".which").hidden = report.runs.length < 2;
  $("site-order").addEventListener("change", () => sites(run));
  $("run").addEventListener("change", () => select(Number($("run").value)));
  $("save").hidden = report.saves;
  tenths();
  drawHarvest();
  // the file may have grown since the page was made
  if (!report.saves) select(0);
  else fetch("marks").then((answer) => answer.json()).then((told) => {
    told.forEach((one, i) => Object.assign(report.runs[i], one));
    select(0);
  });
})();
