import { appendFileSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Readable } from "node:stream";
import { afterAll, describe, expect, it } from "vitest";
import { referencePages } from "../docs/pages.ts";
import { docsCommand } from "./docs.ts";

const folder = mkdtempSync(join(tmpdir(), "gateway-docs-"));
afterAll(() => rmSync(folder, { recursive: true }));

const paths = referencePages().map(({ path }) => path);

describe("docsCommand", () => {
  it("writes every page, and with --check says which are stale without writing", async () => {
    const stale = await docs("--check", "--root", folder);
    expect(stale.code).toBe(1);
    expect(stale.err.split("\n").filter((line) => line !== "")).toHaveLength(paths.length);

    const written = await docs("--root", folder);
    expect(written).toEqual({
      code: 0,
      out: paths.map((path) => `${path}: written\n`).join(""),
      err: "",
    });
    expect(await docs("--check", "--root", folder)).toEqual({
      code: 0,
      out: "docs/reference: up to date\n",
      err: "",
    });

    const [changed = ""] = paths;
    appendFileSync(join(folder, changed), "by hand\n");
    const again = await docs("--check", "--root", folder);
    expect(again.code).toBe(1);
    expect(again.err).toBe(`${changed}: is not what the code says; run \`npm run docs\`\n`);
    expect(readFileSync(join(folder, changed), "utf8")).toMatch(/by hand\n$/);

    expect((await docs("--root", folder)).out).toBe(`${changed}: written\n`);
  });

  it("refuses an option it does not know", async () => {
    await expect(docs("--chekc")).rejects.toMatchObject({ code: "ERR_PARSE_ARGS_UNKNOWN_OPTION" });
  });
});

async function docs(...args: readonly string[]) {
  const written = { out: "", err: "" };
  const code = await docsCommand(args, {
    out: (text) => (written.out += text),
    err: (text) => (written.err += text),
    stdin: Readable.from([]),
    environment: {},
    bundle: new URL("file:///"),
  });
  return { code, ...written };
}
