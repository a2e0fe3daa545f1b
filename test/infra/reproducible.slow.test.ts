/** What a release ships comes out the same, byte for byte, in another folder and at another time. */
import { createHash } from "node:crypto";
import { mkdtempSync, readFileSync, readdirSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, it } from "vitest";
import { buildLambda } from "../../packages/gateway/bin/buildLambda.mjs";

const folder = mkdtempSync(join(tmpdir(), "gateway-same-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

describe("the functions", () => {
  it("come out the same in another folder and at another time", async () => {
    const made: Record<string, string>[] = [];
    for (const name of ["first", "second"]) {
      const to = join(folder, name);
      await buildLambda(to);
      made.push(hashesOf(to));
    }
    expect(Object.keys(made[0] ?? {}).length).toBeGreaterThan(50);
    expect(made[1]).toEqual(made[0]);
  }, 120_000);
});

/** By the path below `of`. */
function hashesOf(of: string): Record<string, string> {
  const paths = readdirSync(of, { recursive: true }).map(String).toSorted();
  const files = paths.filter((path) => statSync(join(of, path)).isFile());
  return Object.fromEntries(
    files.map((path) => [
      path,
      createHash("sha256")
        .update(readFileSync(join(of, path)))
        .digest("hex"),
    ]),
  );
}
