import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, it } from "vitest";
import { readBounded } from "./file.ts";

const folder = mkdtempSync(join(tmpdir(), "gateway-file-"));
afterAll(() => rmSync(folder, { recursive: true }));

describe("readBounded", () => {
  it("reads a file that is exactly as long as it may be", () => {
    const file = fileOf("fits", "12345678");
    expect(readBounded(file, 8)).toEqual({ ok: true, value: new TextEncoder().encode("12345678") });
  });

  it("refuses one byte more", () => {
    expect(readBounded(fileOf("long", "123456789"), 8)).toEqual({
      ok: false,
      error: { kind: "tooLarge" },
    });
  });

  it("reads an empty file", () => {
    expect(readBounded(fileOf("empty", ""), 8)).toEqual({ ok: true, value: new Uint8Array() });
  });

  it.runIf(process.platform !== "win32")("ends on a device that never ends", () => {
    expect(readBounded("/dev/zero", 1_000)).toEqual({ ok: false, error: { kind: "tooLarge" } });
  });

  it("names why a file can not be read", () => {
    expect(readBounded(join(folder, "gone"), 8)).toEqual({
      ok: false,
      error: { kind: "unreadable", code: "ENOENT" },
    });
    expect(readBounded(folder, 8)).toEqual({
      ok: false,
      error: { kind: "unreadable", code: "EISDIR" },
    });
  });
});

function fileOf(name: string, text: string): string {
  const file = join(folder, name);
  writeFileSync(file, text);
  return file;
}
