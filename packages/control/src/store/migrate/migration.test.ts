import { createHash } from "node:crypto";
import { describe, expect, it } from "vitest";
import { err, ok } from "@gateway/core/result.ts";
import { loadMigrations, migrationsOf, readMigrations } from "./migration.ts";

describe("migrationsOf", () => {
  it("reads name, version, time and Drizzle's hash of each file, in the journal's order", () => {
    const text = "select 1;\n--> statement-breakpoint\nselect 2;\n";
    const journal = journalOf(["V001__one", 5], ["V003__three_things", 9]);
    const read = migrationsOf({ journal, files: { V001__one: text, V003__three_things: "" } });
    const hash = createHash("sha256").update(text).digest("hex");
    expect(read.ok && read.value[0]).toEqual({
      name: "V001__one",
      version: "V001",
      when: 5,
      hash,
      parts: ["select 1;\n", "\nselect 2;\n"],
      outside: false,
    });
    expect(read.ok && read.value.map(({ version }) => version)).toEqual(["V001", "V003"]);
  });

  it("runs a file outside a transaction for its first line only", () => {
    const journal = journalOf(["a", 1], ["b", 2]);
    const files = {
      a: "-- outside a transaction\nselect 1",
      b: "select 1\n-- outside a transaction",
    };
    const read = migrationsOf({ journal, files });
    expect(read.ok && read.value.map(({ outside }) => outside)).toEqual([true, false]);
  });

  it("refuses an order of the journal in which Drizzle's tool would skip a file", () => {
    const journal = journalOf(["a", 2], ["b", 2]);
    expect(migrationsOf({ journal, files: { a: "", b: "" } })).toEqual(
      err({ code: "journal", detail: "b is out of order" }),
    );
  });

  it("refuses a journal that is none, and one that names a file that is not there", () => {
    expect(migrationsOf({ journal: "{", files: {} })).toEqual(
      err({ code: "journal", detail: "not a journal" }),
    );
    expect(migrationsOf({ journal: journalOf(["../a", 1]), files: {} }).ok).toBe(false);
    expect(migrationsOf({ journal: journalOf(["a", 1]), files: {} })).toEqual(
      err({ code: "missing", name: "a" }),
    );
  });
});

describe("loadMigrations", () => {
  const folder = new URL("../../../../../migrations/", import.meta.url);

  it("reads the texts that a bundle keeps, from which the same migrations come", async () => {
    const texts = await loadMigrations(folder);
    const read = await readMigrations(folder);
    expect(read.ok && read.value.length).toBeGreaterThan(0);
    expect(texts.ok && migrationsOf(texts.value)).toEqual(read);
    expect(texts).toEqual(ok(JSON.parse(JSON.stringify(texts.ok && texts.value))));
  });

  it("says that a folder has no journal", async () => {
    expect(await loadMigrations(new URL("none/", folder))).toEqual(
      err({ code: "journal", detail: "not found" }),
    );
  });
});

function journalOf(...entries: readonly (readonly [string, number])[]): string {
  return JSON.stringify({ entries: entries.map(([tag, when]) => ({ tag, when })) });
}
