import { describe, expect, it } from "vitest";
import { sentHeaders, SentHeaders } from "./sentHeaders.ts";

describe("SentHeaders.areSame", () => {
  const raw = [
    "Host",
    "a",
    "Authorization",
    "Basic 1",
    "X-Trino-User",
    "alice",
    "Content-Length",
    "8",
  ];
  const sent = new SentHeaders(raw);

  it("takes secrets and the length for the same, whatever they are", () => {
    expect(sent.areSame(raw)).toBe(true);
    expect(sent.areSame(raw.with(3, "Basic 2").with(7, "9"))).toBe(true);
    expect(JSON.stringify(Object.values(sent))).not.toContain("Basic");
  });

  it.each([
    ["another value", raw.with(5, "bob")],
    ["another name", raw.with(4, "X-Trino-Source")],
    ["one header more", [...raw, "X-Trino-Role", "r"]],
    ["one header less", raw.slice(0, -2)],
    ["another order", [...raw.slice(2), ...raw.slice(0, 2)]],
  ])("tells %s apart", (_case, other) => {
    expect(sent.areSame(other)).toBe(false);
  });
});

describe("sentHeaders", () => {
  it("remembers no more than a few kilobytes for a connection", () => {
    expect(sentHeaders(["X-Trino-Session", "a".repeat(4000)])).toBeInstanceOf(SentHeaders);
    expect(sentHeaders(["X-Trino-Session", "a".repeat(5000)])).toBeUndefined();
  });
});
