/** What workflows may do, and whose code they run. */
import { readFileSync, readdirSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { parse } from "yaml";
import { z } from "zod";

const root = new URL("../../", import.meta.url);
const folder = new URL(".github/workflows/", root);
const files = readdirSync(folder).map((name) => ({
  name,
  text: readFileSync(new URL(name, folder), "utf8"),
}));

const step = z.looseObject({
  uses: z.string().optional(),
  run: z.string().optional(),
  env: z.record(z.string(), z.string()).optional(),
  with: z.record(z.string(), z.unknown()).optional(),
});
const workflow = z.looseObject({
  permissions: z.strictObject({ contents: z.literal("read") }),
  concurrency: z.looseObject({ group: z.string() }),
  jobs: z.record(
    z.string(),
    z.looseObject({
      "timeout-minutes": z.int(),
      permissions: z.record(z.string(), z.enum(["read", "write"])).optional(),
      steps: z.array(step),
    }),
  ),
});

describe.each(files)("the workflow $name", ({ text }) => {
  const { jobs } = workflow.parse(parse(text));
  const steps = Object.values(jobs).flatMap(({ steps: each }) => each);

  it("runs the actions of others at one commit, which has its version beside it", () => {
    const used = text.split("\n").filter((line) => /\buses:/.test(line));
    expect(used.length).toBeGreaterThan(0);
    const pinned = /uses: [\w.-]+\/[\w./-]+@[0-9a-f]{40} # v\d+\.\d+\.\d+$/;
    expect(used.filter((line) => !pinned.test(line))).toEqual([]);
  });

  it("writes no expression into a script, where its text would be run", () => {
    expect(steps.flatMap(({ run }) => (run?.includes("${{") === true ? [run] : []))).toEqual([]);
  });

  it("leaves no credential in the checkout", () => {
    const checkouts = steps.filter(({ uses }) => uses?.startsWith("actions/checkout@"));
    for (const checkout of checkouts)
      expect(checkout.with).toMatchObject({ "persist-credentials": false });
  });

  it("shows no secret but its own token, and none to a pull request", () => {
    expect(text).not.toMatch(/secrets\./);
    expect(text).not.toContain("pull_request_target");
  });

  it("runs scripts that there are", () => {
    const { scripts } = z
      .looseObject({ scripts: z.record(z.string(), z.string()) })
      .parse(JSON.parse(readFileSync(new URL("package.json", root), "utf8")));
    const named = [...text.matchAll(/npm run ([a-z:]+)/g)].map(([, name = ""]) => name);
    expect(named.filter((name) => !(name in scripts))).toEqual([]);
  });
});

describe("rights to write", () => {
  it("are given to jobs that need them, each alone", () => {
    const given = files.flatMap(({ name, text }) =>
      Object.entries(workflow.parse(parse(text)).jobs).flatMap(([job, { permissions = {} }]) =>
        Object.entries(permissions)
          .filter(([, right]) => right === "write")
          .map(([what]) => `${name} ${job}: ${what}`),
      ),
    );
    expect(given.toSorted()).toEqual([
      "deploy.yml deploy: id-token",
      "release.yml image: packages",
      "release.yml names: packages",
      "release.yml package: attestations",
      "release.yml package: contents",
      "release.yml package: id-token",
    ]);
  });
});

describe("workflows that try an upgrade", () => {
  const jobs = files.flatMap(({ text }) => Object.values(workflow.parse(parse(text)).jobs));
  const trying = jobs.filter((job) => /test:(?:fleet|nightly)/.test(JSON.stringify(job)));

  it("have the history that the program of before is built from, and fail where it is missing", () => {
    expect(trying).toHaveLength(2);
    for (const { steps } of trying) {
      const checkout = steps.find(({ uses }) => uses?.startsWith("actions/checkout@"));
      expect(checkout?.with).toMatchObject({ "fetch-depth": 0 });
      expect(steps.some(({ env }) => env?.["WHOLE_HISTORY"] === "1")).toBe(true);
    }
  });

  it("run against real servers as well, and look at what is deployed, before a night does", () => {
    const scripts = new Set(
      files.flatMap(({ text }) => text.match(/\b(?:test|check):[a-z]+/g) ?? []),
    );
    expect([...scripts]).toEqual(
      expect.arrayContaining(["test:real", "test:fleet", "check:infra", "test:nightly"]),
    );
  });
});

describe("the image of a release", () => {
  it("has a name without a platform, joined of each that was built", () => {
    const text = files.find(({ name }) => name === "release.yml")?.text ?? "";
    const built = [...text.matchAll(/platform: (\w+)/g)].map(([, platform = ""]) => platform);
    const [, joined = ""] = /imagetools create --tag "\$name" (.+)/.exec(text) ?? [];
    const platforms = [...new Set(built)];
    expect(platforms).toHaveLength(2);
    expect(joined).toBe(platforms.map((platform) => `"$name-${platform}"`).join(" "));
  });
});

describe("branches that are deployed", () => {
  it("are stages", () => {
    const text = files.find(({ name }) => name === "deploy.yml")?.text ?? "";
    const [, branches = ""] = /branches: \[([\w, ]+)\]/.exec(text) ?? [];
    const stages = readFileSync(new URL("infra/stages.ts", root), "utf8");
    for (const branch of branches.split(", ")) expect(stages).toContain(`  ${branch}: {`);
  });
});
