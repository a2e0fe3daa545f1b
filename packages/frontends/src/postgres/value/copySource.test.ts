import { gatewayError } from "@gateway/core/error.ts";
import type { Frame } from "@gateway/wire/postgres/frame.ts";
import { describe, expect, it } from "vitest";
import { Outbox } from "../outbox.ts";
import { ClientCopy } from "./copySource.ts";

const gaveUp = gatewayError("query.cancelled", { sqlState: "57014", message: "given up" });
const copyFailType = 0x66;

describe("a client that breaks off its COPY with another message", () => {
  it("is told its type, and nothing it sends behind it is read", async () => {
    const { copy, lost } = copyOf(undefined, 0x51);
    expect(await copy.next()).toMatchObject({ kind: "failed" });
    expect(copy.errorOf(gaveUp)).toMatchObject({
      code: "query.invalid",
      sqlState: "08P01",
      message: "unexpected message type 0x51 during COPY from stdin",
    });
    expect(lost()).toBe(true);
  });

  it("is told where the server stood", async () => {
    const { copy } = copyOf(undefined, 0x09);
    await copy.next();
    const vendor = { of: "postgres", fields: new Map([["W", "COPY t, line 1"]]) } as const;
    const error = copy.errorOf({ ...gaveUp, vendor });
    expect(error.message).toContain(" 0x09 ");
    expect(error.vendor).toBe(vendor);
  });

  it("is told of a message of the COPY that can not be read by what comes behind", async () => {
    const { copy, lost } = copyOf(undefined, undefined);
    expect(await copy.next()).toMatchObject({ kind: "failed" });
    expect(copy.errorOf(gaveUp)).toBe(gaveUp);
    expect(lost()).toBe(false);
  });

  it("is told what was wrong before, and goes on", async () => {
    const { copy, lost } = copyOf(undefined, 0x51);
    await copy.next();
    const before = gatewayError("query.data", { sqlState: "22P02" });
    expect(copy.errorOf(before)).toBe(before);
    expect(lost()).toBe(false);
  });
});

describe("a COPY", () => {
  it("that its client gives up ends with the server's own error", async () => {
    const { copy, lost } = copyOf({ type: copyFailType, body: Buffer.from("enough\0") }, undefined);
    expect(await copy.next()).toEqual({ kind: "failed", reason: "enough" });
    expect(copy.errorOf(gaveUp)).toBe(gaveUp);
    expect(lost()).toBe(false);
  });

  it("that is given up for a reason without an end says so, and its client goes on", async () => {
    const { copy, lost } = copyOf({ type: copyFailType, body: Buffer.from("enough") }, undefined);
    expect(await copy.next()).toMatchObject({ kind: "failed" });
    expect(copy.errorOf(gaveUp)).toMatchObject({
      sqlState: "08P01",
      message: "invalid string in message",
    });
    expect(lost()).toBe(false);
  });
});

/** A COPY whose client sends this message, or has one of that type before it. */
function copyOf(frame: Frame | undefined, type: number | undefined) {
  let isLost = false;
  const inbox = {
    copyFrame: async () => frame,
    other: () => type,
    lose: () => {
      isLost = true;
    },
    wake: () => {},
  };
  return { copy: new ClientCopy(inbox, new Outbox(() => undefined)), lost: () => isLost };
}
