"use strict";
/* Marks of a person on pairs and sentences. They stay in this browser until they are
   saved as marks.tsv, which belongs into the run directory. */
const marksOf = (run) => {
  const VERDICTS = { 1: "right", 2: "partly", 3: "wrong", 0: null };
  const COLUMNS = ["level", "verdict", "src_url", "trg_url", "src_text", "trg_text", "score", "sampled"];
  const cell = (value) => String(value ?? "").replace(/\s+/g, " ").trim();
  const key = (mark) => (mark.level === "page" ? ["page", mark.src_url, mark.trg_url] : ["sentence", cell(mark.src_text), cell(mark.trg_text)]).join("\t");
  const store = `bifocal-marks ${run.name}`;
  const known = new Map(run.marks.map((mark) => [key(mark), mark]));
  try {
    for (const mark of JSON.parse(localStorage.getItem(store) || "[]")) known.set(key(mark), mark);
  } catch { /* a browser that keeps nothing for files */ }

  return {
    of: (mark) => known.get(key(mark))?.verdict ?? null,
    get count() { return [...known.values()].filter((mark) => mark.verdict).length; },
    put(mark, digit) {
      if (!(digit in VERDICTS)) return false;
      known.set(key(mark), { ...mark, sampled: known.get(key(mark))?.sampled || false, verdict: VERDICTS[digit] });
      try {
        localStorage.setItem(store, JSON.stringify([...known.values()]));
      } catch { /* likewise */ }
      return true;
    },
    tsv: () => [COLUMNS, ...[...known.values()].filter((mark) => mark.verdict || mark.sampled).map((mark) => COLUMNS.map((name) => (name === "sampled" ? Number(mark[name]) : cell(mark[name]))))].map((row) => `${row.join("\t")}\n`).join(""),
  };
};
