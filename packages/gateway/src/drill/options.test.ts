import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { drillNames } from "@gateway/contract/drillApi.ts";
import { describe, expect, it } from "vitest";
import { readOptions } from "./options.ts";

const target = ["--target", "https://control.staging:9000", "--worker", "https://w1.staging:8443"];

describe("readOptions", () => {
  it.each([
    [["--worker", "https://w1", "--revoke-user"], "--target is missing"],
    [["--target", "https://c", "--revoke-user"], "--worker is missing"],
    [target, "no drill is chosen"],
    [[...target, "--stop-control", "x"], "belong together: a drill undoes what it did"],
    [[...target, "--heal-engine", "x"], "belong together: a drill undoes what it did"],
    [[...target, "--revoke-user", "--cap", "4"], "--engine-running and --cap belong together"],
    [[...target, "--revoke-user", "--sql", "select 1"], "--sql has no {mark}"],
    [[...target, "--revoke-user", "--hold-secs", "0"], "--hold-secs must be"],
    [[...target, "--revoke-user", "--metrics", "http://w1:9000/metrics"], "must be https"],
    [[...target, "--revoke-user", "--worker", "https://a:b@w2"], "must not hold credentials"],
  ])("refuses %j before anybody is asked", (args, reason) => {
    const read = readOptions(args, {});
    expect(read.ok ? "" : read.error).toContain(reason);
  });

  it("takes drills in their own order, each with its commands", () => {
    const args = ["--revoke-user", "--restart-worker", "r", "--slow-engine", "s"];
    const read = readOptions([...target, ...args, "--heal-engine", "h"], {});
    expect(read).toMatchObject({
      ok: true,
      value: {
        drills: [
          { kind: "hook", name: "workerRestart", begin: "r" },
          { kind: "hooks", name: "slowEngine", begin: "s", end: "h" },
          { kind: "revoke", name: "userRevoked" },
        ],
      },
    });
  });

  it("takes passwords from the environment, and none of them can be printed", () => {
    const environment = { DRILL_ADMIN_PASSWORD: "hunter2", DRILL_CLIENT_PASSWORD: "hunter3" };
    const read = readOptions([...target, "--revoke-user"], environment);
    expect(read.ok && read.value.admin.password?.reveal()).toBe("hunter2");
    expect(JSON.stringify(read)).not.toContain("hunter");
  });
});

describe("docs/drills.md", () => {
  const text = readFileSync(new URL("../../../../docs/drills.md", import.meta.url), "utf8");

  it("shows a command that is taken as it stands", () => {
    const [, shown = ""] = /^```sh\n(.*?)^```/ms.exec(text) ?? [];
    // The shell of the reader takes it apart; what it would call prints what it is given.
    const script = `npx() { shift 2; printf '%s\\0' "$@"; }\n${shown}`;
    const printed = execFileSync("/bin/sh", ["-c", script], { encoding: "utf8" });
    const read = readOptions(printed.split("\0").slice(0, -1), {});
    expect(read.ok ? read.value.drills.map(({ name }) => name) : read.error).toEqual([
      "controlPlaneAway",
      "workerRestart",
      "userRevoked",
    ]);
  });

  it("has a row for each drill, whose options are taken", () => {
    const rows = [...text.matchAll(/^\| `(\w+)` +\| (`--[a-z-]+`(?:, `--[a-z-]+`)?) +\|/gm)];
    expect(rows.map(([, name]) => name)).toEqual([...drillNames]);
    for (const [, name, options = ""] of rows) {
      const given = [...options.matchAll(/--[a-z-]+/g)].flatMap(([option]) =>
        option === "--revoke-user" ? [option] : [option, "true"],
      );
      const read = readOptions([...target, ...given], {});
      expect(read.ok ? read.value.drills.map((drill) => drill.name) : read.error).toEqual([name]);
    }
  });
});
