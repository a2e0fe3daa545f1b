/** What becomes of a run's results, on a tree of three test files. */
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { TestModule, Vitest } from "vitest/node";
import { CompatibilityReporter, pagePath, verdictOf } from "./reporter.ts";

const engineTest = "packages/engines/src/duck/adapter.test.ts";
const frontendTest = "packages/frontends/src/mysql/suite.test.ts";
const clientTest = "test/e2e/clients/mysqlCli.test.ts";
const readme = (title: string): string =>
  `# ${title}\n\n## Not supported\n\n| What   | Sees |\n| ------ | ---: |\n| \`a\\|b\` | 1047 |\n\n## Files\n\n| x |\n`;

const files = {
  "packages/engines/src/duck/engine.ts": "",
  "packages/engines/src/duck/README.md": readme("Duck"),
  [engineTest]: "engineSuite('Duck')",
  "packages/engines/src/duck/quote.test.ts": "describe()",
  "packages/frontends/src/mysql/frontend.ts": "",
  "packages/frontends/src/mysql/README.md": readme("MySQL"),
  [frontendTest]: "frontendSuite('mysqlWire')",
  [clientTest]: "",
  "test/real/run.mjs":
    'import { one } from "./cases/one.mjs";\nimport { helper } from "./command.mjs";\n',
  "test/real/cases/one.mjs":
    'export const one = { tool: "cli", behind: "Ducks", cases: { "a join": () => { throw new Error("ran"); } } };\nexport const doesNotApply = { TestSleep: "calls SLEEP" };\n',
  "test/suites/recorded.json": JSON.stringify([
    {
      suite: "others",
      version: "1.2",
      behind: "Pond, engine `duck`",
      server: "Pond 3",
      ran: 5,
      direct: 4,
      through: 3,
      lost: {
        TestDive: "too *deep*",
        "TestSwim[1]": "cold",
        "TestSwim[2]": "cold",
        "TestSwim[3]": "wet",
        "TestSit[1]": "dull",
        "TestSit[2]": "dull",
      },
      leftOut: { TestDry: "no water" },
    },
  ]),
  "test/real/cases/unused.mjs": 'throw new Error("read");\n',
};

let root: string;
beforeAll(() => {
  root = mkdtempSync(join(tmpdir(), "gateway-compat-"));
  for (const [path, text] of Object.entries(files)) put(path, text);
  mkdirSync(join(root, "docs/reference"), { recursive: true });
});
afterAll(() => rmSync(root, { recursive: true }));

describe("verdictOf", () => {
  it("shows what holds, what is skipped with its reason, and what is left out", async () => {
    const text = await textOf(all());
    expect(text).toContain("| Feature | Duck |\n| --- | --- |\n| execute: answers | ✓ |\n");
    expect(text).toContain("| a transaction: commits | not supported: none over HTTP |\n");
    expect(text).toContain("| Type | Duck |\n| --- | --- |\n| `decimal(3,2)` | ✓ |\n");
    expect(text).toContain('| `struct("a" text, "b c" decimal(3,2))` | ✓ |\n| `text` |');
    expect(text).toContain("| `text` | not supported: no NUL |\n");
    expect(text).toContain(
      "| Feature | mysqlWire |\n| --- | --- |\n| ends \\*all\\* queries | ✓ |\n",
    );
    expect(text).toContain("| mysql | reads \\| writes | ✓ |\n");
    expect(text).toContain("| What | Sees |\n| --- | --- |\n| `a\\|b` | 1047 |\n");
    expect(text).toContain("| `cli` | Ducks | a join |\n");
    expect(text).toContain("| others 1.2 | Pond 3 | `duck` | 4 of 5 | 3 |\n");
    const rows = [
      "| `TestDive` | too \\*deep\\* |",
      "| `TestSwim`, 3 times | cold (the first of 2) |",
      "| `TestSit`, 2 times | dull |",
      "| `TestDry` | not run: no water |",
    ];
    expect(text).toContain(`${rows.join("\n")}\n`);
    expect(text).toContain("| `TestSleep` | calls SLEEP |\n");
    expect(text).not.toContain("has every test that is skipped");
  });

  it("gives the same bytes in whatever order the files ended", async () => {
    expect(await textOf(all().toReversed())).toBe(await textOf(all()));
  });

  it("says nothing of a run without some of the files", async () => {
    expect(await verdictOf(root, all().slice(1))).toEqual({
      kind: "partial",
      missing: [engineTest],
    });
  });

  it("refuses a run in which one of the files failed, and no other file", async () => {
    const failed = moduleOf(clientTest, [], false);
    const other = moduleOf("packages/engines/src/duck/quote.test.ts", [], false);
    expect((await verdictOf(root, [...all(), other])).kind).toBe("page");
    expect(await verdictOf(root, [...all().slice(0, 2), failed])).toEqual({
      kind: "refused",
      lines: [`${clientTest} failed`],
    });
  });

  it("refuses a skip without a reason", async () => {
    const skipped = moduleOf(clientTest, [testOf(["mysql"], "reads", "skipped")]);
    expect(await verdictOf(root, [...all().slice(0, 2), skipped])).toEqual({
      kind: "refused",
      lines: [`skipped without a reason: ${clientTest} > mysql > reads`],
    });
  });

  it("asks for the table of a folder that has none, and for a client's wire", async () => {
    put("packages/engines/src/bare/engine.ts", "");
    put("packages/engines/src/bare/README.md", "# Bare\n\n## Not supported\n\nEverything.\n");
    put("test/e2e/clients/odbc.test.ts", "");
    try {
      const odbc = moduleOf("test/e2e/clients/odbc.test.ts", [testOf(["odbc"], "reads")]);
      expect(await verdictOf(root, [...all(), odbc])).toEqual({
        kind: "refused",
        lines: [
          'packages/engines/src/bare/README.md: no table under "## Not supported"',
          "test/e2e/clients/odbc.test.ts: its name begins with no frontend's folder",
        ],
      });
    } finally {
      rmSync(join(root, "packages/engines/src/bare"), { recursive: true });
      rmSync(join(root, "test/e2e/clients/odbc.test.ts"));
    }
  });
});

describe("CompatibilityReporter", () => {
  it("fails a run whose page is missing or says something else, and passes one whose page is right", async () => {
    const text = await textOf(all());
    expect(await ended("check", all())).toEqual({
      exitCode: 1,
      lines: [`${stale}\n  line 1 says nothing, the suites "# Compatibility"`],
    });
    expect(await ended("write", all())).toEqual({
      exitCode: undefined,
      lines: [`${pagePath}: written`],
    });
    expect(readFileSync(join(root, pagePath), "utf8")).toBe(text);
    expect(await ended("check", all())).toEqual({ exitCode: undefined, lines: [] });
    put(pagePath, `${text}more\n`);
    const lines = text.split("\n").length;
    expect(await ended("check", all())).toEqual({
      exitCode: 1,
      lines: [`${stale}\n  line ${lines} says "more", the suites ""`],
    });
  });

  it("has nothing to say of some files or tests, but does not write a page of them", async () => {
    expect(await ended("check", all().slice(1))).toEqual({ exitCode: undefined, lines: [] });
    expect(await ended("check", all(), /reads/)).toEqual({ exitCode: undefined, lines: [] });
    expect(await ended("write", all().slice(1))).toEqual({
      exitCode: 1,
      lines: [`${pagePath}: ${engineTest} did not take part`],
    });
  });
});

const stale = `${pagePath}: it is not what the suites say; run \`npm run docs:compatibility\``;

/** What a reporter said at the end of a run, and the exit code it left. */
async function ended(
  mode: "check" | "write",
  modules: readonly TestModule[],
  testNamePattern?: RegExp,
): Promise<{ readonly exitCode: unknown; readonly lines: readonly string[] }> {
  const lines: string[] = [];
  const say = (line: string): void => void lines.push(line);
  const before = process.exitCode;
  process.exitCode = undefined;
  try {
    const reporter = new CompatibilityReporter({ mode });
    reporter.onInit({
      config: { root, testNamePattern },
      logger: { log: say, error: say },
    } as unknown as Vitest);
    await reporter.onTestRunEnd(modules);
    return { exitCode: process.exitCode, lines };
  } finally {
    process.exitCode = before;
  }
}

function all(): readonly TestModule[] {
  const backend = "Duck as a backend";
  return [
    moduleOf(engineTest, [
      testOf([backend, "execute"], "answers"),
      testOf([backend, "execute"], 'gives back text "a) b" as it came'),
      testOf([backend, "execute"], "gives back text null as it came", "skipped", "no NUL."),
      testOf([backend, "execute"], 'gives back struct("a" text, "b c" decimal(3,2)) [] as it came'),
      testOf([backend, "execute"], 'gives back decimal(3,2) "125" as it came'),
      testOf([backend, "a transaction"], "commits", "skipped", "none over HTTP"),
      testOf([backend], "has every test that is skipped"),
      testOf(["a server that misbehaves"], "is left"),
    ]),
    moduleOf(frontendTest, [testOf(["mysqlWire as a frontend"], "ends *all* queries")]),
    moduleOf(clientTest, [testOf(["mysql"], "reads | writes")]),
  ];
}

async function textOf(modules: readonly TestModule[]): Promise<string> {
  const verdict = await verdictOf(root, modules);
  if (verdict.kind !== "page") throw new Error(JSON.stringify(verdict));
  return verdict.text;
}

function put(path: string, text: string): void {
  mkdirSync(dirname(join(root, path)), { recursive: true });
  writeFileSync(join(root, path), text);
}

/** As much of a module as the reporter looks at. */
function moduleOf(file: string, tests: readonly unknown[], ok = true): TestModule {
  return {
    moduleId: join(root, file),
    ok: () => ok,
    children: { allTests: () => tests.values() },
  } as unknown as TestModule;
}

function testOf(groups: readonly string[], name: string, state = "passed", note?: string): unknown {
  const parent = groups.reduce<unknown>(
    (outer, group) => ({ type: "suite", name: group, parent: outer }),
    {
      type: "module",
    },
  );
  return { name, parent, result: () => ({ state, note }) };
}
