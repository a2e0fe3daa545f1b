import { readClientPage } from "@gateway/wire/trino/clientPage.ts";
import { describe, expect, it } from "vitest";
import { columnsOf } from "./columns.ts";

describe("columnsOf", () => {
  it("answers the same columns for the same text, and others for another", () => {
    const first = read('[{"name":"a","type":"decimal(4, 1)"}]');
    expect(first).toEqual([
      {
        name: "a",
        type: { kind: "decimal", precision: 4, scale: 1 },
        nullable: true,
        engineType: "decimal(4, 1)",
      },
    ]);
    expect(read('[{"name":"a","type":"decimal(4, 1)"}]')).toBe(first);
    expect(read('[{"name":"b","type":"decimal(4, 1)"}]')?.[0]?.name).toBe("b");
  });

  it("keeps no long texts", () => {
    const long = `[{"name":"${"a".repeat(5_000)}","type":"bigint"}]`;
    expect(read(long)).toEqual(read(long));
    expect(read(long)).not.toBe(read(long));
  });

  it("answers undefined for what is no list of columns, each time", () => {
    for (const text of ["{}", "[1]", '[{"name":"a"}]', '[{"name":1,"type":"bigint"}]', '["\\q"]']) {
      expect(read(text)).toBeUndefined();
      expect(read(text)).toBeUndefined();
    }
  });
});

function read(columns: string) {
  const bytes = new TextEncoder().encode(`{"id":"q","columns":${columns},"stats":{}}`);
  const page = readClientPage(bytes);
  if (page === undefined) throw new Error("no page");
  return columnsOf(page, bytes);
}
