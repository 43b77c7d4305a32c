"use strict";
/* Marks of a person on pairs and sentences. A report keeps them in this browser until they
   are saved as marks.tsv, which belongs into the run directory; a review sends each to the
   server that gave the page, which writes that file. */
const marksOf = (run, number, saves, said) => {
  const VERDICTS = { 1: "right", 2: "partly", 3: "wrong", 0: null };
  const COLUMNS = ["level", "verdict", "src_url", "trg_url", "src_text", "trg_text", "score", "sampled", "pair_score"];
  const cell = (value) => String(value ?? "").replace(/\s+/g, " ").trim();
  const key = (mark) => (mark.level === "page" ? ["page", mark.src_url, mark.trg_url] : ["sentence", cell(mark.src_text), cell(mark.trg_text)]).join("\t");
  const store = `bifocal-marks ${run.name}`;
  const known = new Map(run.marks.map((mark) => [key(mark), mark]));
  try {
    if (!saves) for (const mark of JSON.parse(localStorage.getItem(store) || "[]")) known.set(key(mark), mark);
  } catch { /* a browser that keeps nothing for files */ }

  let sent = Promise.resolve(), lost = 0; // one after the other: the last mark of a pair counts
  async function send(mark) {
    const answer = await fetch("marks", { method: "POST", headers: { "Content-Type": "application/json" }, body: JSON.stringify({ run: number, mark }) });
    const told = await answer.json();
    if (!answer.ok) throw new Error(told.error);
    run.judged = told.judged;
  }

  return {
    of: (mark) => known.get(key(mark))?.verdict ?? null,
    get count() { return [...known.values()].filter((mark) => mark.verdict).length; },
    get drawn() { return [...known.values()].filter((mark) => mark.sampled || !mark.verdict); },
    put(mark, digit) {
      if (!(digit in VERDICTS)) return false;
      const marked = { ...mark, sampled: known.get(key(mark))?.sampled || false, verdict: VERDICTS[digit] };
      known.set(key(mark), marked);
      if (saves) {
        sent = sent.then(() => send(marked)).then(() => { if (!lost) said(""); }, (error) => said(`${lost += 1} NOT SAVED: ${error.message}`));
      }
      try {
        if (!saves) localStorage.setItem(store, JSON.stringify([...known.values()]));
      } catch { /* likewise */ }
      return true;
    },
    tsv: () => [COLUMNS, ...[...known.values()].filter((mark) => mark.verdict || mark.sampled).map((mark) => COLUMNS.map((name) => (name === "sampled" ? Number(mark[name]) : cell(mark[name]))))].map((row) => `${row.join("\t")}\n`).join(""),
  };
};
