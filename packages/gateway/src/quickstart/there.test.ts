import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { holdFolder } from "@gateway/control/store/driver/folderLock.ts";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { alreadyThere } from "./banner.ts";
import { holderOf, tellWhere } from "./there.ts";

const places = [
  { kind: "postgresWire", host: "127.0.0.1", port: 5 },
  { kind: "adminApi", host: "127.0.0.1", port: 6 },
];
let path: string;
beforeEach(() => {
  path = mkdtempSync(join(tmpdir(), "gateway-there-"));
});
afterEach(() => rmSync(path, { recursive: true }));

describe("holderOf", () => {
  it("answers what the living holder of the folder told, and nothing of one that is gone", async () => {
    const store = { type: "pglite", path } as const;
    const opened = await holdFolder(path);
    if (!opened.ok) throw new Error(opened.error.code);
    expect(await holderOf(store)).toBeUndefined();
    const told = tellWhere(store, places);
    expect(await holderOf(store)).toEqual(places);
    // As after a kill: the file is there and the holder is not.
    await opened.value[Symbol.asyncDispose]();
    expect(await holderOf(store)).toBeUndefined();
    told[Symbol.dispose]();
  });
});

describe("alreadyThere", () => {
  it("names every address of the one that runs", () => {
    const text = alreadyThere(places);
    expect(text).toContain("PostgreSQL 127.0.0.1:5\n");
    expect(text).toContain("Admin 127.0.0.1:6\n");
  });
});
