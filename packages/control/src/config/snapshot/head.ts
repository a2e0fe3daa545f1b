/**
 * Serves and verifies the head of a snapshot: position and age, authenticated under the fleet secret
 * that the reader presented, so that neither can be forged on the way.
 *
 * It says nothing about the body; the hash in the head does.
 */
import { createHmac, hkdfSync, timingSafeEqual } from "node:crypto";
import { headKeyInfo, headText, type SnapshotHead } from "@gateway/contract/snapshot.ts";
import type { Secret } from "@gateway/core/secret.ts";
import type { Built } from "../configuration.ts";

/** Derived from one fleet secret; derive it once, not per answer. */
export interface HeadKey {
  readonly mac: (text: string) => Uint8Array;
}

export function headKeyOf(secret: Secret): HeadKey {
  const input = Buffer.from(secret.reveal(), "utf8");
  const key = Buffer.from(hkdfSync("sha256", input, "", headKeyInfo, 32));
  return { mac: (text) => createHmac("sha256", key).update(text, "utf8").digest() };
}

/** The head of `built`, vouched for at `confirmedAt` (Unix milliseconds). */
export function headOf(
  { revision, schemaVersion }: Pick<Built, "revision" | "schemaVersion">,
  confirmedAt: number,
  key: HeadKey,
): SnapshotHead {
  const { epoch, sequence, hash } = revision;
  const head = { schemaVersion, revision: hash, epoch, sequence, confirmedAt };
  return { ...head, mac: Buffer.from(key.mac(headText(head))).toString("hex") };
}

/** True when the head was made under this key and nothing in it was changed. Takes the same time either way. */
export function verifyHead(head: SnapshotHead, key: HeadKey): boolean {
  const { mac, ...rest } = head;
  const given = Buffer.from(mac, "hex");
  const expected = key.mac(headText(rest));
  return given.length === expected.length && timingSafeEqual(given, expected);
}

/** What stands before a body's tail in an answer: `{"head":…,`. */
export function headPrefix(head: SnapshotHead): string {
  return `{"head":${JSON.stringify(head)},`;
}
