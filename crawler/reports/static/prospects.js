"use strict";
/* Draws the table of prospects from the JSON that stands beside it. Whatever came from
   the web is put on the page as text, never as markup. */
(() => {
  const report = JSON.parse(document.getElementById("report").textContent);
  const $ = (id) => document.getElementById(id);
  const number = new Intl.NumberFormat("en", { maximumFractionDigits: 1 });
  const PAGE = 200; // rows at a time
  const HIDDEN = new Set(["example_a", "example_b", "group"]);
  const shown = report.columns.filter((name) => !HIDDEN.has(name));
  const at = Object.fromEntries(report.columns.map((name, place) => [name, place]));
  const numeric = (name) => name !== "site" && name !== "note";
  const store = `bifocal-notes ${report.name}`;
  let notes = new Map();
  try {
    notes = new Map(JSON.parse(localStorage.getItem(store) || "[]"));
  } catch { /* a browser that keeps nothing for files */ }
  let order = "score", falling = true, most = PAGE;

  function make(tag, attributes, ...children) {
    const element = document.createElement(tag);
    for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
    element.append(...children);
    return element;
  }

  const address = (url, text) => (/^https?:\/\//i.test(url)
    ? make("a", { href: url, target: "_blank", rel: "noopener noreferrer nofollow" }, text)
    : make("span", {}, text));
  const note = (row) => notes.get(row[at.site]) || "";
  const value = (row, name) => (name === "note" ? note(row) : numeric(name) ? Number(row[at[name]]) : row[at[name]]);

  function chosen() {
    const words = $("words").value.toLowerCase().split(/\s+/).filter(Boolean);
    const least = Number($("least").value), since = $("since").value, only = $("only").value;
    const found = report.rows.filter((row) => {
      const text = `${row.join(" ")} ${note(row)}`.toLowerCase();
      return words.every((word) => text.includes(word)) && Number(row[at.pairs]) >= least && (!since || row[at.newest] >= since)
        && (only !== "noted" || note(row)) && (only !== "probed" || Number(row[at.probed])) && (only !== "unprobed" || !Number(row[at.probed]));
    });
    const sign = falling ? -1 : 1;
    return found.sort((a, b) => {
      const [one, two] = [value(a, order), value(b, order)];
      return sign * (one < two ? -1 : one > two ? 1 : 0);
    });
  }

  function head(name) {
    const sorted = name === order ? (falling ? "descending" : "ascending") : "none";
    const button = make("button", { type: "button" }, name);
    button.addEventListener("click", () => {
      falling = name === order ? !falling : numeric(name);
      order = name;
      draw();
      document.querySelector(`th[data-name="${CSS.escape(name)}"] button`).focus();
    });
    return make("th", { scope: "col", "aria-sort": sorted, "data-name": name, class: numeric(name) ? "n" : "" }, button);
  }

  function cells(row) {
    return shown.map((name) => {
      if (name !== "site") return make("td", { class: "n" }, name === "newest" ? row[at[name]] : number.format(Number(row[at[name]])));
      const site = row[at.site], urls = [row[at.example_a], row[at.example_b]].filter(Boolean);
      const group = row[at.group] ? ` and ${row[at.group]}` : "";
      const links = urls.flatMap((url, place) => [" ", address(url, place ? "other version" : "a page")]);
      return make("th", { scope: "row" }, address(`https://${site}/`, site), group, ...links);
    });
  }

  function draw() {
    const rows = chosen();
    $("count").textContent = `${number.format(rows.length)} of ${number.format(report.rows.length)} sites.`;
    $("more").hidden = rows.length <= most;
    $("table").replaceChildren(
      make("thead", {}, make("tr", {}, ...shown.map(head), head("note"))),
      make("tbody", {}, ...rows.slice(0, most).map((row) => {
        const field = make("input", { type: "text", "aria-label": `Note on ${row[at.site]}`, value: note(row) });
        field.addEventListener("input", () => {
          if (field.value.trim()) notes.set(row[at.site], field.value);
          else notes.delete(row[at.site]);
          try {
            localStorage.setItem(store, JSON.stringify([...notes]));
          } catch { /* likewise */ }
        });
        return make("tr", {}, ...cells(row), make("td", {}, field));
      })),
    );
  }

  $("filters").addEventListener("submit", (event) => event.preventDefault());
  $("filters").addEventListener("input", () => { most = PAGE; draw(); });
  $("more").addEventListener("click", () => { most += PAGE; draw(); });
  $("save").addEventListener("click", () => {
    const rows = [["site", "note"], ...[...notes].map(([site, text]) => [site, text.replace(/\s+/g, " ").trim()])];
    const blob = new Blob([rows.map((row) => `${row.join("\t")}\n`).join("")], { type: "text/tab-separated-values" });
    const link = make("a", { href: URL.createObjectURL(blob), download: "notes.tsv" });
    link.click();
    URL.revokeObjectURL(link.href);
  });
  $("about").textContent = `${report.name}: ${number.format(report.sites)} sites${report.sites > report.rows.length ? `, of which the best ${number.format(report.rows.length)} are here` : ""}. The score is the number of document pairs that the first 1,000 requests should give.`;
  $("version").textContent = report.version;
  draw();
})();
