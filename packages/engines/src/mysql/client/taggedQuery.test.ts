import { describe, expect, it } from "vitest";
import { noAttributes } from "@gateway/wire/mysql/attributes.ts";
import { commandCode } from "@gateway/wire/mysql/protocol.ts";
import type { Identified } from "@gateway/core/query/query.ts";
import { tagComment } from "@gateway/core/query/tag.ts";
import { commandPackets } from "../../starRocks/page/packets.ts";
import { taggedQuery } from "./taggedQuery.ts";

const tagged = { slot: { holder: "worker/1a" }, id: "20260101_1" } as Identified;

describe("taggedQuery", () => {
  it.each([
    ["select 1", undefined],
    ["select 1", noAttributes],
    ["select 'one that is longer than a byte can tell' ".repeat(8), undefined],
    ["", undefined],
  ])("writes what is written of the joined text: %s", (text, head) => {
    const joined = `${tagComment(tagged)}${text}`;
    expect(joined).toBe(`/* gateway/worker/1a/20260101_1 */ ${text}`);
    const written = taggedQuery(tagged, text, head);
    expect(hexOf(written)).toBe(hexOf(commandPackets(commandCode.query, joined, head)));
  });

  it.each([
    ["text that is long", tagged, "x".repeat(1_001)],
    ["text beyond ASCII", tagged, "select 'é'"],
    ["tag beyond ASCII", { ...tagged, slot: { ...tagged.slot, holder: "wörker/1" } }, "select 1"],
  ])("leaves a %s to the platform", (_what, query, text) => {
    expect(taggedQuery(query, text, undefined)).toBeUndefined();
  });
});

function hexOf(bytes: Uint8Array | undefined): string | undefined {
  return bytes && Buffer.from(bytes).toString("hex");
}
