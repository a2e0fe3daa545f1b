/**
 * House rules that no linter knows. Each check runs on the tree, and on a sample that breaks it, so
 * that a check which went blind fails here.
 */
import { fileURLToPath } from "node:url";
import { errorCodes } from "@gateway/contract/error.ts";
import { describe, expect, it } from "vitest";
import {
  errorProblems,
  errorsPage,
  metricProblems,
  metricsPage,
  pathProblems,
  titleProblems,
} from "./tidy/docs.ts";
import { crowdProblems, folderProblems, suiteProblems } from "./tidy/folders.ts";
import { leakProblems, lockProblems } from "./tidy/leaks.ts";
import {
  commentProblems,
  deadFileProblems,
  lengthProblems,
  testOnlyProblems,
  wordProblems,
} from "./tidy/sources.ts";
import { ignoredBy, readTree, sourcesOf, type Tree } from "./tidy/tree.ts";

const tree = readTree(fileURLToPath(new URL("..", import.meta.url)));

describe("readTree", () => {
  it("sees this repository", () => {
    expect(tree.has("package.json")).toBe(true);
    expect(sourcesOf(tree).has("packages/core/src/result.ts")).toBe(true);
  });
});

describe("ignoredBy", () => {
  it("leaves out what git leaves out, and git's own folder", () => {
    const ignored = ignoredBy("dist/\n/bench/\n*.cpuprofile\n");
    const paths = ["packages/a/dist", "bench", ".git", "a.cpuprofile", "test/bench", "a.ts"];
    expect(paths.filter(ignored)).toEqual(paths.slice(0, 4));
  });
});

describe("folderProblems", () => {
  it("finds every engine and frontend complete", () => {
    expect(folderProblems(tree)).toEqual([]);
  });

  it("names the files and the suite an engine lacks", () => {
    const folder = "packages/engines/src/sample";
    const sample = treeOf({
      [`${folder}/engine.ts`]: "",
      [`${folder}/config.ts`]: "",
      [`${folder}/adapter.ts`]: "",
      [`${folder}/README.md`]: "",
      [`${folder}/adapter.test.ts`]: "describe()",
    });
    expect(folderProblems(sample)).toEqual([
      `${folder}: errors.ts is missing`,
      `${folder}: no test calls engineSuite(`,
    ]);
  });

  it("names the files a frontend lacks", () => {
    const folder = "packages/frontends/src/sample";
    const sample = treeOf({
      [`${folder}/frontend.ts`]: "",
      [`${folder}/suite.test.ts`]: "frontendSuite({})",
    });
    expect(folderProblems(sample)).toEqual(
      ["config.ts", "listen.ts", "machine.ts", "encode.ts", "errors.ts", "README.md"].map(
        (name) => `${folder}: ${name} is missing`,
      ),
    );
  });

  it("leaves folders alone that are neither", () => {
    expect(folderProblems(treeOf({ "packages/engines/src/shared/pool.ts": "" }))).toEqual([]);
  });
});

describe("errorProblems", () => {
  it("finds each code of the catalogue documented, and nothing else", () => {
    expect(errorProblems(errorCodes, tree)).toEqual([]);
  });

  it("names a code without heading and a heading without code", () => {
    const page = "# Errors\n\n## `auth.refused`\n\n### query.gone\n\n```\n## auth.missing\n```\n";
    expect(errorProblems(["auth.refused", "auth.missing"], treeOf({ [errorsPage]: page }))).toEqual(
      [
        `${errorsPage}: no heading for auth.missing`,
        `${errorsPage}: query.gone is not in the catalogue`,
      ],
    );
  });

  it("asks for the page as soon as there is a code", () => {
    expect(errorProblems(["auth.refused"], treeOf({}))).toEqual([`${errorsPage} is missing`]);
    expect(errorProblems([], treeOf({}))).toEqual([]);
  });
});

describe("metricProblems", () => {
  it("finds each metric documented, and nothing else", () => {
    expect(metricProblems(tree)).toEqual([]);
  });

  it("names a metric the page lacks and one the code lacks", () => {
    const sample = treeOf({
      "packages/core/src/a.ts": 'const a = ["gateway_a_total", "gateway_b_seconds"];',
      [metricsPage]: "`gateway_b_seconds` `gateway_b_seconds_bucket` gateway_c_total",
    });
    expect(metricProblems(sample)).toEqual([
      `${metricsPage}: gateway_a_total is not named`,
      `${metricsPage}: no code has gateway_c_total`,
    ]);
  });

  it("asks for the page as soon as there is a metric", () => {
    const sample = treeOf({ "packages/core/src/a.ts": 'const a = "gateway_a_total";' });
    expect(metricProblems(sample)).toEqual([`${metricsPage} is missing`]);
  });
});

describe("titleProblems", () => {
  it("finds one title on each page", () => {
    expect(titleProblems(tree)).toEqual([]);
  });

  it("names a page without title and one with two, and knows comments in code", () => {
    const sample = treeOf({
      "none.md": "text",
      "two.md": "# One\n\n# Two\n",
      "one.md": "# One\n\n```sh\n# a comment\n```\n",
    });
    expect(titleProblems(sample)).toEqual([
      'none.md: 0 titles (lines that start with "# ")',
      'two.md: 2 titles (lines that start with "# ")',
    ]);
  });
});

describe("pathProblems", () => {
  it("finds everything that a page links to or names", () => {
    expect(pathProblems(tree)).toEqual([]);
  });

  it("names links and paths that lead nowhere", () => {
    const sample = treeOf({
      "docs/a.md": "[b](b.md#part) [up](../README.md) [web](https://example.com) [here](#part)",
      "README.md": "`packages/core/src/` `packages/core/src/gone.ts` [c](docs/c.md)",
      "packages/core/src/a.ts": "",
    });
    expect(pathProblems(sample)).toEqual([
      "docs/a.md: docs/b.md does not exist",
      "README.md: docs/c.md does not exist",
      "README.md: packages/core/src/gone.ts does not exist",
    ]);
  });
});

describe("wordProblems", () => {
  it("finds no banned word", () => {
    expect(wordProblems(tree)).toEqual([]);
  });

  it.each([
    "Date.now()",
    "new Date()",
    "performance.now()",
    "Math.random()",
    "process.env",
    "console.log",
    "setTimeout(f)",
    "setInterval(f)",
    "crypto.randomUUID()",
    "Buffer.from",
    "// FIXME later",
    "// TODO later",
    "// enough for now",
  ])("refuses %s in a pure package", (line) => {
    expect(wordProblems(treeOf({ "packages/core/src/a.ts": `\n${line};\n` }))).toEqual([
      expect.stringMatching(/^packages\/core\/src\/a\.ts:2: .+ → .+$/),
    ]);
  });

  it("allows each word in its own home, in tests, in prose and with an issue number", () => {
    const sample = treeOf({
      "packages/gateway/src/host/clock.ts": "Date.now(); new Date(); Math.random();",
      "packages/gateway/src/entry/cli.ts": "process.env",
      "packages/frontends/src/a/listen.ts": "setTimeout(f, 1); Buffer.alloc(1)",
      "packages/core/src/a.test.ts": "Date.now()",
      "packages/core/src/b.ts": "/* never Date.now() */ a(); // nor Buffer\n// TODO(#12): more",
    });
    expect(wordProblems(sample)).toEqual([]);
  });

  it("is not fooled by a string that looks like a comment", () => {
    const text = 'const address = "https://example.com"; Date.now();';
    expect(wordProblems(treeOf({ "packages/access/src/a.ts": text }))).toHaveLength(1);
  });
});

describe("commentProblems", () => {
  it("finds every file that a comment names", () => {
    expect(commentProblems(tree)).toEqual([]);
  });

  it("names files that are gone, and leaves code, patterns and libraries alone", () => {
    const sample = treeOf({
      "packages/core/src/a.ts": [
        "// As in b.ts, ./b.ts, core/src/b.ts and packages/core/src/b.ts.",
        "/** Not in wire/b.ts, nor in gone.ts. */",
        'const name = "elsewhere.ts"; // *.suite.ts of a folder',
      ].join("\n"),
      "packages/core/src/b.ts": "",
    });
    expect(commentProblems(sample)).toEqual([
      "packages/core/src/a.ts:2: there is no wire/b.ts",
      "packages/core/src/a.ts:2: there is no gone.ts",
    ]);
  });
});

describe("suiteProblems", () => {
  it("finds a contract in every suite", () => {
    expect(suiteProblems(tree)).toEqual([]);
  });

  it("names a suite that only shares helpers", () => {
    const sample = treeOf({
      "packages/core/src/a.suite.ts": "export function aSuite(): void {}",
      "packages/core/src/b.suite.ts": "export function sampleOf(): void {}",
    });
    expect(suiteProblems(sample)).toEqual([
      "packages/core/src/b.suite.ts: exports no suite; helpers of tests stand in a rig/",
    ]);
  });
});

describe("crowdProblems", () => {
  it("finds no crowded folder", () => {
    expect(crowdProblems(tree)).toEqual([]);
  });

  it("counts the 17th source, and no tests", () => {
    const flat = (folder: string, count: number, end: string) =>
      Array.from({ length: count }, (_, at) => [`packages/core/src/${folder}/f${at}${end}`, ""]);
    const sample = treeOf(
      Object.fromEntries([
        ...flat("a", 17, ".ts"),
        ...flat("b", 16, ".ts"),
        ...flat("b", 9, ".test.ts"),
      ]),
    );
    expect(crowdProblems(sample)).toEqual(["packages/core/src/a: 17 files, at most 16"]);
  });
});

describe("lengthProblems", () => {
  it("finds no file over 400 lines", () => {
    expect(lengthProblems(tree)).toEqual([]);
  });

  it("counts the 401st line and not the last line's end", () => {
    const sample = treeOf({
      "packages/core/src/fits.ts": "a;\n".repeat(400),
      "packages/core/src/long.ts": "a;\n".repeat(401),
      "migrations/functions/long.sql": "a;\n".repeat(401),
      "migrations/V001__long.sql": "a;\n".repeat(401),
    });
    expect(lengthProblems(sample)).toEqual([
      "packages/core/src/long.ts: 401 lines, at most 400",
      "migrations/functions/long.sql: 401 lines, at most 400",
    ]);
  });
});

describe("deadFileProblems", () => {
  it("finds a use of every source", () => {
    expect(deadFileProblems(tree)).toEqual([]);
  });

  it("names a file that only its own test imports", () => {
    const sample = treeOf({
      "packages/core/src/dead.ts": "",
      "packages/core/src/dead.test.ts": 'import { a } from "./dead.ts";',
      "packages/core/src/mentioned.ts": '// import { a } from "./mentioned.ts"',
    });
    expect(deadFileProblems(sample)).toEqual([
      "packages/core/src/dead.ts: nothing imports it but its own test",
      "packages/core/src/mentioned.ts: nothing imports it but its own test",
    ]);
  });

  it("counts imports by name, by path, by type, lazy ones, entries and threads", () => {
    const sample = treeOf({
      "packages/gateway/src/entry/cli.ts": 'import "@gateway/core/a/named.ts";',
      "packages/core/src/a/named.ts": 'import type { B } from "../typed.ts";',
      "packages/core/src/typed.ts": 'export const load = () => import("./lazy.ts");',
      "packages/core/src/lazy.ts": "",
      "packages/engines/src/native/thread/thread.ts": "",
      "packages/gateway/bin/build.mjs":
        '{ source: "packages/engines/src/native/thread/thread.ts" }',
    });
    expect(deadFileProblems(sample)).toEqual([]);
  });
});

describe("testOnlyProblems", () => {
  it("finds no helper of tests among the sources", () => {
    expect(testOnlyProblems(tree)).toEqual([]);
  });

  it("names a source that tests, suites and rigs import and no program does", () => {
    const sample = treeOf({
      "packages/core/src/helper.ts": "",
      "packages/core/src/other.test.ts": 'import { a } from "./helper.ts";',
      "packages/core/src/rig/more.ts": 'import { a } from "../helper.ts";',
      "packages/core/src/used.ts": 'import { b } from "./also.ts";',
      "packages/core/src/used.suite.ts": 'import { b } from "./also.ts";',
      "packages/core/src/also.ts": "",
      "packages/gateway/bin/run.mjs": 'import "@gateway/core/used.ts";',
    });
    expect(testOnlyProblems(sample)).toEqual([
      "packages/core/src/helper.ts: only tests import it; helpers of tests stand in a rig/",
    ]);
  });
});

describe("leakProblems", () => {
  it("finds no path of one machine and no registry", () => {
    expect(leakProblems(tree)).toEqual([]);
  });

  it.each([
    ["", "work", "main", "a.ts"].join("/"),
    `see "${["", "root", ".npmrc"].join("/")}"`,
    ["", "home", "someone", "src"].join("/"),
    ["registry", "npmjs", "org"].join("."),
  ])("refuses %s", (text) => {
    expect(leakProblems(treeOf({ "docs/a.md": `one\n${text}\n` }))).toEqual([
      expect.stringMatching(/^docs\/a\.md:2: /),
    ]);
  });

  it("allows the same words inside an address", () => {
    const text = "https://example.com/work/a and ./root/b and ${folder}/work/c";
    expect(leakProblems(treeOf({ "docs/a.md": text }))).toEqual([]);
  });
});

describe("lockProblems", () => {
  it("finds no address in the lock file", () => {
    expect(tree.has("package-lock.json")).toBe(true);
    expect(lockProblems(tree)).toEqual([]);
  });

  it("names a package that is bound to an address", () => {
    const line = '"resolved": "https://example.com/a.tgz"';
    expect(lockProblems(treeOf({ "package-lock.json": `{ ${line} }` }))).toEqual([
      `package-lock.json: ${line}`,
    ]);
  });
});

function treeOf(files: Readonly<Record<string, string>>): Tree {
  return new Map(Object.entries(files));
}
