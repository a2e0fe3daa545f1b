/** What the differential suite found, kept: `found.json`, and what follows from it for the gateway and for readers. */
import { readFileSync, writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { execFileSync } from "node:child_process";
import { parsedOf } from "@gateway/sql/read/parsed.ts";
import { markedDivisions } from "@gateway/sql/translate/division.ts";
import { featuresOf } from "@gateway/sql/translate/features.ts";
import { constructs } from "./constructs.mjs";
import { pageOf } from "./page.mjs";
import { byText, wordsOfPair } from "./words.mjs";

const root = fileURLToPath(new URL("../..", import.meta.url));
const files = {
  found: `${root}test/translate/found.json`,
  words: `${root}packages/sql/src/translate/testedWords.ts`,
  page: `${root}docs/reference/translation.md`,
};
const divider = " | ";

/** Name of each construct to its state, by pair. */
export function readFound() {
  const kept = JSON.parse(readFileSync(files.found, "utf8"));
  return new Map(
    Object.entries(kept).map(([pair, states]) => [
      pair,
      new Map(
        Object.entries(states).flatMap(([state, names]) =>
          names.split(divider).map((name) => [name, state]),
        ),
      ),
    ]),
  );
}

/** Replaces what was found for these pairs; those whose engines could not be had stay as they were. */
export function writeFound(found) {
  const entries = [...found].toSorted(([a], [b]) => byText(a, b));
  const kept = Object.fromEntries(
    entries.map(([pair, states]) => [
      pair,
      Object.fromEntries(
        ["same", "differs", "refused", "none"].flatMap((state) => {
          const names = [...states].filter(([, own]) => own === state).map(([name]) => name);
          return names.length === 0 ? [] : [[state, names.join(divider)]];
        }),
      ),
    ]),
  );
  writeFileSync(files.found, JSON.stringify(kept));
  for (const [name, text] of Object.entries(followingFrom(found))) {
    writeFileSync(files[name], text);
  }
  execFileSync("npx", ["oxfmt", ...Object.values(files)], { cwd: root });
}

/** Files that do not say what follows from `found.json`; layout aside. */
export function outOfStep() {
  const found = readFound();
  return Object.entries(followingFrom(found)).flatMap(([name, text]) => {
    const stands = readFileSync(files[name], "utf8");
    return bare(stands) === bare(text) ? [] : [files[name]];
  });
}

/** Without what the formatter changes. */
function bare(text) {
  return text.replaceAll(/[\s"-]+/g, "");
}

/** Of each pair, with the words that its constructs are made of; needs the parser. */
export function judgedPairs(found) {
  return new Map(
    [...found].map(([pair, states]) => {
      const [source] = pair.split(" ");
      const judged = constructs.flatMap((construct) => {
        const state = states.get(construct.name);
        if (state === undefined) return [];
        return [
          { ...construct, state, features: state === "none" ? [] : wordsOf(construct, source) },
        ];
      });
      return [pair, { judged, ...wordsOfPair(judged) }];
    }),
  );
}

function wordsOf({ sql, steps = [sql], types }, source) {
  const nodes = steps.map(
    (text) => (types && markedDivisions(text, source, types)) ?? parsedOf(text, source),
  );
  if (nodes.includes(undefined)) return [];
  return [...new Set(nodes.flatMap((each) => [...featuresOf(each)]))];
}

function followingFrom(found) {
  const pairs = judgedPairs(found);
  return { words: moduleOf(pairs), page: pageOf(pairs) };
}

function moduleOf(pairs) {
  const entries = [...pairs].map(([pair, { tested }]) => {
    const odd = tested.find((word) => /[;`\\]/.test(word));
    if (odd !== undefined) throw new Error(`a word that can not be listed: ${odd}`);
    return `  "${pair}": \`\n${wrapped(tested)}\`,\n`;
  });
  return (
    "/** Words of statements that gave the same rows, by pair of dialects. Written by `test/translate/run.mjs --write`. */\n" +
    `export const testedWords: Readonly<Record<string, string>> = {\n${entries.join("")}};\n`
  );
}

/** Words with their dividers, in lines of a page's width. */
function wrapped(words) {
  const lines = [""];
  for (const [index, word] of words.entries()) {
    const piece = index === words.length - 1 ? word : `${word};`;
    const line = lines[lines.length - 1];
    if (line.length + piece.length > 180) lines.push(piece);
    else lines[lines.length - 1] = line === "" ? piece : `${line} ${piece}`;
  }
  return lines.join("\n");
}
