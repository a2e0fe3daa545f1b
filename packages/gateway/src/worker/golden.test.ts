/**
 * Formats as the first release wrote them. Later releases must go on reading these files: they are
 * added to and never rewritten.
 */
import { readFileSync } from "node:fs";
import { queryRecordSchema, recordBatchSchema } from "@gateway/contract/record.ts";
import { virtualHost } from "@gateway/core/rig/virtual.ts";
import { ok } from "@gateway/core/result.ts";
import { describe, expect, it } from "vitest";
import { lastGoodFile, lastGoodOf } from "./snapshot/lastGood.ts";
import { openSpoolDisk } from "./records/spoolDisk.ts";
import { bodyOf, testSecret } from "./rig/snapshot.ts";
import { cellOf } from "./rig/spool.ts";
import { headKeysOf, verifySnapshot } from "./snapshot/verify.ts";

describe("files of earlier releases", () => {
  it("reads snapshot format 1", async () => {
    const verified = await verifySnapshot(golden("snapshot-v1.txt"), headKeysOf([testSecret]));
    expect(verified).toMatchObject({ ok: true, value: { body: bodyOf("duck") } });
  });

  it("reads a last good configuration of format 1", async () => {
    const read = await lastGoodOf({
      host: virtualHost(1),
      dir: { ...dirOf({ [lastGoodFile]: sealed("last-good-v1.txt") }) },
      secrets: [testSecret],
      controlPlaneUrl: "https://control",
    }).read();
    expect(read).toMatchObject({ ok: true, value: { body: bodyOf("duck") } });
  });

  it("reads a spool of format 1, and finds what had not been sent", async () => {
    const disk = await openSpoolDisk({
      host: virtualHost(1),
      dir: dirOf({
        "spool-0": sealed("spool-v1.txt"),
        "spool-position": sealed("position-v1.txt"),
      }),
      secrets: [testSecret],
    });
    expect(disk.restored).toMatchObject({ lost: 0, entries: [{ at: 1 }, { at: 2 }] });
    const [first] = disk.restored.entries;
    expect(queryRecordSchema.safeParse(JSON.parse(first?.text ?? "")).success).toBe(true);
  });

  it("reads a batch of records of format 1", () => {
    const value: unknown = JSON.parse(golden("batch-v1.txt").toString("utf8"));
    const batch = recordBatchSchema.parse(value);
    expect(batch.records.map((record) => queryRecordSchema.safeParse(record).success)).toEqual([
      true,
      true,
    ]);
  });
});

function golden(name: string): Buffer {
  return readFileSync(new URL(`golden/${name}`, import.meta.url));
}

/** Sealed files are binary, and lie here as base64. */
function sealed(name: string): Uint8Array {
  return new Uint8Array(Buffer.from(golden(name).toString("utf8"), "base64"));
}

function dirOf(files: Readonly<Record<string, Uint8Array>>) {
  return {
    read: (name: string) => Promise.resolve(ok(files[name])),
    write: () => Promise.resolve(ok(undefined)),
    remove: () => Promise.resolve(ok(undefined)),
    list: () => Promise.resolve(ok(Object.keys(files))),
    cell: (name: string) => Promise.resolve(ok(cellOf(files[name]))),
  };
}
