/**
 * The page of evidence, out of what the nightly runs printed: nothing stands there that no run said. A run that did not
 * end well stands there as it ended.
 */

import { countedIn, kinds } from "./counted.mjs";

// oxlint-disable-next-line no-control-regex -- it is what a terminal takes for colours
const colours = /\u001B\[[\d;]*m/g;
/** How many lines of one run the page shows. */
const linesMax = 200;

/**
 * What is kept of one run: `{name, command, date, commit, machine, code, seconds}` as given, and out of `text`, which it
 * printed, its totals, what it counted and its lines, `more` how many of those are left out.
 */
export function keptOf({ text, ...run }) {
  const lines = saidBy(text);
  return {
    ...run,
    ...countsOf(text),
    counted: Object.fromEntries(countedIn(plainOf(text))),
    lines: lines.slice(0, linesMax),
    more: Math.max(0, lines.length - linesMax),
  };
}

/**
 * The page as Markdown, ending with a line break, out of what is kept of each run, the newest of its name. `left` are the
 * names of runs of which nothing is kept.
 */
export function evidencePage(kept, left = []) {
  const rows = kept.map(
    ({ name, date, commit, command, code, seconds, passed, failed, skipped }) => {
      const outcome = code === 0 ? "" : `**ended with ${code}**`;
      const counts = [passed, failed, skipped].map((count) => count ?? "–").join(" | ");
      return `| ${name} | ${date} | \`${commit}\` | ${counts} | ${time(seconds)} | ${outcome} | \`${command}\` |`;
    },
  );
  const broken = kept.filter(({ code }) => code !== 0).length;
  const machines = [...new Set(kept.map(({ machine }) => machine))].join("; ");
  return [
    "# Evidence",
    "",
    `What the long runs printed when each was made last, on ${machines}: load, faults, attacks, and what was lost or`,
    "differed. This page is made by `npm run test:nightly` and not written by hand; each run is repeated by itself with",
    "`GATEWAY_NIGHTLY=1` and what stands in its row. A line without a number is a guarantee that held;",
    "[threat-model.md](../threat-model.md) says which attack is tried where.",
    "",
    broken === 0
      ? "Every run ended well."
      : `**${broken} of ${kept.length} runs did not end well.**`,
    "",
    ...(left.length === 0
      ? []
      : [`Of the runs of a night these were not made yet: ${left.map(safe).join("; ")}.`, ""]),
    ...sumsOf(kept),
    "| Run | Made | Of | Passed | Failed | Skipped | Time | | Repeat with |",
    "| --- | --- | --- | --- | --- | --- | --- | --- | --- |",
    ...rows,
    "",
    ...kept.filter(({ lines }) => lines.length > 0).flatMap(chapterOf),
  ].join("\n");
}

/** What the runs counted, each kind with where it comes from. A kind that no run counted has no row. */
function sumsOf(kept) {
  const rows = Object.values(kinds).flatMap((words) => {
    const from = kept.filter(({ counted }) => counted[words] !== undefined);
    if (from.length === 0) return [];
    const total = from.reduce((sum, { counted }) => sum + counted[words], 0);
    return [
      `| ${words} | ${total.toLocaleString("en")} | ${from.map(({ name }) => name).join("; ")} |`,
    ];
  });
  if (rows.length === 0) return [];
  return ["| Counted | | By |", "| --- | ---: | --- |", ...rows, ""];
}

function chapterOf({ name, lines, more }) {
  return [
    `## ${name}`,
    "",
    ...lines.map((line) => `- ${line}`),
    ...(more > 0 ? [`- … and ${more} more lines`] : []),
    "",
  ];
}

/** The last total that it printed, ours or vitest's; undefined where it printed none. */
function countsOf(text) {
  const plain = plainOf(text);
  const own = [...plain.matchAll(/^(\d+) passed, (\d+) failed, (\d+) skipped$/gm)].at(-1);
  if (own !== undefined) return named(own.slice(1));
  const [, line = ""] = /^\s*Tests\s+(.*)$/m.exec(plain) ?? [];
  const count = (word) => new RegExp(`(\\d+) ${word}`).exec(line)?.[1] ?? 0;
  return line === "" ? {} : named([count("passed"), count("failed"), count("skipped")]);
}

function named([passed, failed, skipped]) {
  return { passed: Number(passed), failed: Number(failed), skipped: Number(skipped) };
}

/** Cases with what they measured; whatever failed or was skipped, with the seed that repeats it. */
function saidBy(text) {
  const lines = [];
  for (const line of plainOf(text).split("\n")) {
    const [, outcome, what] =
      /^(passed|FAILED|skipped|unnoticed|left out|noticed|ok)\s+(\S.*)$/.exec(line) ?? [];
    if (what !== undefined) {
      const mark = outcome === "passed" || outcome === "ok" ? "" : `**${outcome}** `;
      lines.push(`${mark}${safe(what)}`);
    } else if (/^ {6,}\S/.test(line) && lines.length > 0 && lines.at(-1).length < 600) {
      lines[lines.length - 1] += `; ${safe(line.trim().replace(/^figure: /, ""))}`;
    } else if (/\bseed\b/i.test(line) && !/^\s*(?:at|❯|\d+\|)/.test(line)) {
      lines.push(safe(line.trim()));
    }
  }
  return lines;
}

function plainOf(text) {
  return text.replaceAll(colours, "");
}

/** Text of a run is text here: it makes no table, no link and no markup. */
function safe(text) {
  return text.slice(0, 300).replaceAll(/[|<>[\]`*_\\]/g, (sign) => `\\${sign}`);
}

function time(seconds) {
  return seconds < 90 ? `${Math.round(seconds)} s` : `${Math.round(seconds / 60)} min`;
}
