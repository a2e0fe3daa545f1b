import { lend } from "@gateway/core/tool/socket/lent.ts";
import { describe, expect, it } from "vitest";
import { Outbox } from "./outbox.ts";

const never = new AbortController().signal;

describe("rows that are written already", () => {
  it("go behind what gathered, as they lie", async () => {
    const { sent, out } = opened();
    out.writer.bytes(Uint8Array.of(1, 2));
    const rows = lent();
    await out.passOn(rows.bytes, never);
    expect(sent.map((bytes) => [...bytes])).toEqual([[1, 2], [...rows.bytes]]);
    expect(sent[1]).toBe(rows.bytes);
    expect(out.place).toBe(2 + rows.bytes.length);
    expect(rows.isBack).toBe(true);
  });

  it("are not given back before they have left, also where nobody waits for that any more", async () => {
    const { leave, out } = opened(true);
    const rows = lent();
    const controller = new AbortController();
    const passing = out.passOn(rows.bytes, controller.signal);
    controller.abort();
    await passing;
    expect(rows.isBack).toBe(false);
    leave();
    await expect.poll(() => rows.isBack).toBe(true);
  });

  it("stay whoever's that made another message of them", async () => {
    const { sent, out } = opened();
    const rows = lent();
    const { bytes } = await out.aside(1_000, () => out.passOn(rows.bytes, never));
    expect([...(bytes ?? [])]).toEqual([...rows.bytes]);
    expect(rows.isBack).toBe(false);
    expect(sent).toEqual([]);
  });
});

function lent(): { readonly bytes: Uint8Array; readonly isBack: boolean } {
  const bytes = new Uint8Array(100).fill(7);
  const rows = { bytes, isBack: false };
  lend(bytes, () => {
    rows.isBack = true;
  });
  return rows;
}

/** `stalls`: nothing leaves before `leave`. */
function opened(stalls = false) {
  const sent: Uint8Array[] = [];
  let leave = (): void => {};
  const left = new Promise<void>((resolve) => {
    leave = resolve;
  });
  const out = new Outbox((bytes) => {
    sent.push(bytes);
    return stalls ? left : undefined;
  });
  return { sent, out, leave: () => leave() };
}
