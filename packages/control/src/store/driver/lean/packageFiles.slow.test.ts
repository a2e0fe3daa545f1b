import { closeSync, fstatSync, mkdtempSync, openSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { PGlite } from "@electric-sql/pglite";
import { afterEach, describe, expect, it } from "vitest";
import { openPackedFiles, readWhenAsked, rootOf, type FileNode } from "./packageFiles.ts";

const folder = mkdtempSync(join(tmpdir(), "packed-"));
const opened: number[] = [];

afterEach(() => {
  for (const descriptor of opened.splice(0)) closeSync(descriptor);
  rmSync(folder, { recursive: true, force: true });
});

describe("readWhenAsked", () => {
  it("takes files out of memory, and reads each as it was", () => {
    const { root, first, second, packed, files } = diskOf("one", "second");
    expect(readWhenAsked(root, files)).toBe(true);
    expect(packed.byteLength).toBe(0);
    expect([first, second].map(textOf)).toEqual(["one", "second"]);
    expect([first, second].map(({ mode }) => mode)).toEqual([0o100444, 0o100444]);
  });

  it("leaves all in memory when one is missing", () => {
    const { root, first, packed, files } = diskOf("one", "second");
    first.contents = new Uint8Array(3);
    expect(readWhenAsked(root, files)).toBe(false);
    expect(packed.byteLength).toBe(9);
  });

  it("finds all files of PGlite, which reads them from the disk", async () => {
    const files = openPackedFiles();
    opened.push(files.descriptor);
    const pglite = await PGlite.create();
    expect(readWhenAsked(rootOf(pglite), files)).toBe(true);
    const words = await pglite.query("select to_tsvector('english', 'the dogs')::text as words");
    expect(words.rows).toEqual([{ words: "'dog':2" }]);
    await pglite.close();
  }, 60_000);
});

/** A disk with two packed files, and one that is not. */
function diskOf(...texts: readonly [string, string]) {
  const path = join(mkdtempSync(`${folder}-`), "data");
  writeFileSync(path, texts.join(""));
  const descriptor = openSync(path, "r");
  opened.push(descriptor);
  const packed = new TextEncoder().encode(texts.join("")).slice().buffer;
  const [length] = texts.map((text) => text.length);
  const first: FileNode = { contents: new Uint8Array(packed, 0, length), mode: 0o100644 };
  const second: FileNode = { contents: new Uint8Array(packed, length), mode: 0o100644 };
  const other: FileNode = { contents: new Uint8Array(4), mode: 0o100644 };
  const below: FileNode = { contents: { second, other }, mode: 0o40755 };
  const root: FileNode = { contents: { first, below }, mode: 0o40755 };
  return { root, first, second, packed, files: { descriptor, bytes: fstatSync(descriptor).size } };
}

function textOf({ contents }: FileNode): string {
  return contents instanceof Uint8Array ? new TextDecoder().decode(contents) : "a folder";
}
