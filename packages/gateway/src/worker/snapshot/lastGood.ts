/**
 * The active snapshot on disk, so that a fleet starts with everything else dead: sealed under the
 * fleet secret, written whole, read once at the start.
 *
 * It is a copy like a peer's: it keeps the time of the last confirmation, and every offer's age is
 * judged in one place.
 */
import { sameRevision } from "@gateway/contract/revision.ts";
import { revisionOfHead, type SnapshotHead } from "@gateway/contract/snapshot.ts";
import type { SourceEvent } from "@gateway/core/port/configSource.ts";
import type { Host } from "@gateway/core/port/host.ts";
import { err, ok, type Result } from "@gateway/core/result.ts";
import type { Secret } from "@gateway/core/secret.ts";
import { offerOfHead } from "@gateway/core/snapshot/lifecycle.ts";
import { z } from "zod";
import { lastGoodFreshMs, snapshotInflatedBytesMax } from "../limits.ts";
import { jsonIn } from "../link/presence.ts";
import { seal, sealOverhead, unseal, type SealFault } from "../state/sealing.ts";
import type { StateDir } from "../state/stateDir.ts";
import {
  faultText,
  headKeysOf,
  verifySnapshot,
  type SnapshotFault,
  type VerifiedSnapshot,
} from "./verify.ts";

export interface LastGoodParts {
  readonly host: Pick<Host, "log" | "randomBytes">;
  readonly dir: Pick<StateDir, "read" | "write">;
  /** Current, then previous. The current one seals. */
  readonly secrets: readonly [Secret, ...Secret[]];
  /** The snapshot of one fleet must not start a worker of another. */
  readonly controlPlaneUrl: string;
}

export type LastGoodRefusal =
  | { readonly code: "unreadable"; readonly detail: string }
  | { readonly code: SealFault }
  /** Written for another control plane. */
  | { readonly code: "foreign" }
  | { readonly code: "snapshot"; readonly fault: SnapshotFault };

export interface LastGood {
  /** What is there; undefined when nothing is. Never throws, whatever lies in the file. */
  read(): Promise<Result<VerifiedSnapshot | undefined, LastGoodRefusal>>;
  /**
   * Keeps what is active. A new revision is written at once, a mere confirmation every few minutes,
   * and everything anew after the secret was changed. Writes run one at a time; of those that wait
   * only the last is done.
   */
  save(head: SnapshotHead, bytes: Uint8Array): void;
  /** Why the last write failed; undefined when it did not. */
  problem(): string | undefined;
  /** Resolves when nothing waits to be written. */
  settled(): Promise<void>;
}

export const lastGoodFile = "last-good";

const headerSchema = z.looseObject({ controlPlane: z.string() });
/** The header is one line in front of the snapshot. */
const newline = 0x0a;
const headerBytesMax = 8_192;

/** One line for status and log. */
export function lastGoodText(refusal: LastGoodRefusal): string {
  switch (refusal.code) {
    case "unreadable":
      return `the last good configuration can not be read (${refusal.detail})`;
    case "malformed":
      return "the last good configuration is damaged";
    case "keyUnknown":
      return "the last good configuration was sealed under another fleet secret";
    case "notAuthentic":
      return "the last good configuration was changed since it was written";
    case "foreign":
      return "the last good configuration belongs to another control plane";
    case "snapshot":
      return `last good configuration: ${faultText(refusal.fault)}`;
  }
}

/** What the disk says at a start: an offer, a damaged file, or nothing. */
export async function diskEvent(
  lastGood: LastGood,
): Promise<SourceEvent<VerifiedSnapshot> | undefined> {
  const read = await lastGood.read();
  if (!read.ok) return { kind: "unverified", source: "disk", reason: lastGoodText(read.error) };
  if (read.value === undefined) return undefined;
  const { head } = read.value;
  return { kind: "offer", offer: offerOfHead("disk", head), head, body: read.value };
}

export function lastGoodOf(parts: LastGoodParts): LastGood {
  return new OnDisk(parts);
}

/** What the file is to hold. */
interface Copy {
  readonly head: SnapshotHead;
  readonly bytes: Uint8Array;
}

class OnDisk implements LastGood {
  readonly #parts: LastGoodParts;
  /** Head in the file; undefined when there is none, or one that must be written anew. */
  #written: SnapshotHead | undefined;
  #wanted: Copy | undefined;
  #writing: Promise<void> | undefined;
  #problem: string | undefined;

  constructor(parts: LastGoodParts) {
    this.#parts = parts;
  }

  problem(): string | undefined {
    return this.#problem;
  }

  async settled(): Promise<void> {
    while (this.#writing !== undefined) await this.#writing;
  }

  async read(): Promise<Result<VerifiedSnapshot | undefined, LastGoodRefusal>> {
    const { dir, secrets, controlPlaneUrl } = this.#parts;
    const bytesMax = snapshotInflatedBytesMax + headerBytesMax + sealOverhead;
    const file = await dir.read(lastGoodFile, bytesMax);
    if (!file.ok) return err({ code: "unreadable", detail: file.error });
    if (file.value === undefined) return ok(undefined);
    const opened = unseal(file.value, secrets, sealed);
    if (!opened.ok) return err({ code: opened.error });
    const { bytes, secretIndex } = opened.value;
    const end = bytes.subarray(0, headerBytesMax).indexOf(newline);
    const header = headerSchema.safeParse(jsonIn(bytes.subarray(0, Math.max(0, end))));
    if (!header.success) return err({ code: "malformed" });
    if (header.data.controlPlane !== controlPlaneUrl) return err({ code: "foreign" });
    const verified = await verifySnapshot(bytes.subarray(end + 1), headKeysOf(secrets));
    if (!verified.ok) return err({ code: "snapshot", fault: verified.error });
    // A file sealed under the previous secret must be written anew before that secret is removed.
    if (secretIndex === 0) this.#written = verified.value.head;
    return verified;
  }

  save(head: SnapshotHead, bytes: Uint8Array): void {
    if (!this.#due(head)) return;
    this.#wanted = { head, bytes };
    this.#writing ??= this.#write().finally(() => {
      this.#writing = undefined;
    });
  }

  #due(head: SnapshotHead): boolean {
    const last = this.#wanted?.head ?? this.#written;
    if (last === undefined || !sameRevision(revisionOfHead(last), revisionOfHead(head)))
      return true;
    return head.confirmedAt - last.confirmedAt >= lastGoodFreshMs;
  }

  async #write(): Promise<void> {
    const { dir, host, secrets, controlPlaneUrl } = this.#parts;
    for (let next = this.#wanted; next !== undefined; next = this.#wanted) {
      const { head } = next;
      const plain = Buffer.concat([
        Buffer.from(`${JSON.stringify({ controlPlane: controlPlaneUrl })}\n`, "utf8"),
        servedBytes(head, next.bytes),
      ]);
      const wrote = await dir.write(lastGoodFile, seal(plain, secrets[0], sealed, host));
      this.#became(wrote.ok ? undefined : wrote.error);
      this.#written = wrote.ok ? head : undefined;
      if (this.#wanted === next) this.#wanted = undefined;
    }
  }

  #became(problem: string | undefined): void {
    if (problem === this.#problem) return;
    this.#problem = problem;
    if (problem === undefined) this.#parts.host.log.write("info", "worker.lastGoodWritten", {});
    else this.#parts.host.log.write("error", "worker.lastGoodFailed", { reason: problem });
  }
}

const sealed = { purpose: "last good", context: "" } as const;

/** `{head, …body}` from a head and the canonical bytes of its body. */
export function servedBytes(head: SnapshotHead, bytes: Uint8Array): Uint8Array {
  const prefix = Buffer.from(`{"head":${JSON.stringify(head)},`, "utf8");
  return Buffer.concat([prefix, bytes.subarray(1)]);
}
