import { execFileSync } from "node:child_process";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";
import { describe, expect, it } from "vitest";
import { Cells } from "./cells.ts";
import { Members } from "./members.ts";

describe("Members", () => {
  it("has them in the order in which they came", () => {
    const members = new Members<string>();
    const [a, b, c, d] = ["a", "b", "c", "d"].map((name) => members.add(name));
    expect([members.values(), members.size, members.first?.value]).toEqual([
      ["a", "b", "c", "d"],
      4,
      "a",
    ]);
    for (const [one, left] of [
      [b, "acd"],
      [a, "cd"],
      [d, "c"],
      [c, ""],
    ] as const) {
      if (one !== undefined) members.remove(one);
      expect([members.values().join(""), members.size]).toEqual([left, left.length]);
    }
    expect(members.first).toBeUndefined();
    members.add("e");
    expect(members.values()).toEqual(["e"]);
  });

  it("lets go once, and knows no more of who went", () => {
    const members = new Members<string>();
    const one = members.add("one");
    members.add("other");
    members.remove(one);
    members.remove(one);
    expect([members.size, one.value, one.before, one.behind]).toEqual([
      1,
      undefined,
      undefined,
      undefined,
    ]);
  });
});

describe("Cells", () => {
  it("is a map", () => {
    const cells = new Cells<string, number>();
    cells.set("a", 1);
    cells.set("b", 2);
    cells.set("a", 3);
    expect([cells.size, cells.get("a"), cells.get("c")]).toEqual([2, 3, undefined]);
    expect(cells.entries()).toEqual([
      ["a", 3],
      ["b", 2],
    ]);
    expect([cells.delete("a"), cells.delete("a"), cells.values()]).toEqual([true, false, [2]]);
    cells.clear();
    expect([cells.size, cells.get("b")]).toEqual([0, undefined]);
  });
});

describe("what comes and goes", () => {
  it("is not kept by what it came to, where a map's old tables keep nearly all of it", async () => {
    const entry = fileURLToPath(new URL("rig/kept.ts", import.meta.url));
    const { outputFiles } = await build({
      entryPoints: [entry],
      bundle: true,
      format: "esm",
      platform: "node",
      write: false,
    });
    const program = outputFiles[0]?.text ?? "";
    const inMap = promotedBy(program, "map");
    expect(inMap).toBeGreaterThan(10_000_000);
    for (const way of ["cells", "aged", "members"]) {
      expect(promotedBy(program, way)).toBeLessThan(inMap / 3);
    }
  });
});

/** Bytes that small collections moved to the old part of the heap. */
function promotedBy(program: string, way: string): number {
  const traced = ["--expose-gc", "--trace-gc", "--trace-gc-nvp"];
  const flags = [...traced, "--input-type=module", "-", way];
  const said = execFileSync(process.execPath, flags, { input: program, encoding: "utf8" });
  const moved = [...said.matchAll(/ gc=s .* promoted=(\d+) /g)].map(([, bytes]) => Number(bytes));
  if (moved.length === 0) throw new Error("nothing was collected");
  return moved.reduce((sum, bytes) => sum + bytes, 0);
}
