/**
 * Asks the control plane for its configuration: a held wait for the head, and the snapshot when the
 * head names content that is not known here. One request at a time.
 *
 * After each failure the first wait asks for an answer at once: a head is authentic, so it confirms
 * what runs or names what is missing. A 304 confirms nothing, because anybody could send one.
 */
import { compareRevisions, etagOf, type Revision } from "@gateway/contract/revision.ts";
import { revisionOfHead, type SnapshotHead } from "@gateway/contract/snapshot.ts";
import { imUsed, spliceName } from "@gateway/contract/snapshotDelta.ts";
import { waitSecsMax } from "@gateway/contract/workerApi.ts";
import type { SourceEvent } from "@gateway/core/port/configSource.ts";
import type { Host } from "@gateway/core/port/host.ts";
import { err, ok, type Result } from "@gateway/core/result.ts";
import { offerOfHead } from "@gateway/core/snapshot/lifecycle.ts";
import {
  callFailureText,
  retryAfterOf,
  type CallFailure,
  type FleetCalls,
} from "../link/fleetCalls.ts";
import { backoffMsMin, fetchMsMax, snapshotInflatedBytesMax, waitSlackMs } from "../limits.ts";
import { pause, type Wake } from "@gateway/core/tool/pause.ts";
import { backoffOf } from "../link/backoff.ts";
import { jsonIn } from "../link/presence.ts";
import { spliced } from "./splice.ts";
import {
  faultText,
  inflated,
  verifyHead,
  verifySnapshot,
  type HeadKeys,
  type SnapshotFault,
  type VerifiedSnapshot,
} from "./verify.ts";

export interface ControlSourceParts {
  readonly host: Pick<Host, "clock" | "random">;
  readonly calls: FleetCalls;
  readonly keys: HeadKeys;
  readonly pollTimeoutSecs: number;
  /** The newest content that is known here, for instance from disk. */
  known(): Revision | undefined;
  /** What runs here: a difference to it is asked for. */
  active?(): Known | undefined;
  push(event: SourceEvent<VerifiedSnapshot>): void;
  /** Called with each pause after a failed call. Whoever learns that the control plane is back may end the pause. */
  paused?(pause: Wake): void;
}

/** A snapshot that was verified, and canonical JSON of its body. */
export interface Known {
  readonly head: SnapshotHead;
  readonly bytes: Uint8Array;
}

type Failure =
  | { readonly kind: "call"; readonly failure: CallFailure }
  | { readonly kind: "fault"; readonly fault: SnapshotFault };

/** The replica serves an older revision than is known here. That is no failure, but it would answer every wait at once. */
interface Lagging {
  readonly kind: "lagging";
}

/** Asks until `signal` aborts. Never rejects for what the control plane does. */
export async function askControlPlane(
  parts: ControlSourceParts,
  signal: AbortSignal,
): Promise<void> {
  const { clock } = parts.host;
  const backoff = backoffOf(parts.host);
  const asking = new Asking(parts, signal);
  while (!signal.aborted) {
    const begunAtMs = clock.nowMs();
    const asked = await asking.once();
    if (signal.aborted) return;
    if (asked.ok) {
      backoff.reset();
      // A server that does not hold its answers must not be asked without a pause.
      const restMs = begunAtMs + backoffMsMin - clock.nowMs();
      if (asked.value === "nothing" && restMs > 0) await pause(clock, restMs, signal);
      continue;
    }
    if (asked.error.kind === "lagging") {
      await pause(clock, backoff.next(), signal);
      continue;
    }
    asking.failed(asked.error);
    const { error } = asked;
    const retryAfterMs = error.kind === "call" ? retryAfterOf(error.failure) : undefined;
    const rest = pause(clock, backoff.next(retryAfterMs), signal);
    // After a snapshot that did not verify nobody may shorten the pause.
    if (error.kind === "call" && retryAfterMs === undefined) parts.paused?.(rest);
    await rest;
  }
}

class Asking {
  readonly #parts: ControlSourceParts;
  readonly #signal: AbortSignal;
  /** The newest snapshot that was fetched, whether it was taken or not. */
  #fetched: Revision | undefined;
  /** The next wait is to be answered at once. */
  #anew = true;
  /** A difference led to nothing: the next fetch is for the whole. */
  #whole = false;

  constructor(parts: ControlSourceParts, signal: AbortSignal) {
    this.#parts = parts;
    this.#signal = signal;
  }

  failed(failure: Failure): void {
    this.#anew = true;
    const parts = this.#parts;
    const source = "controlPlane";
    if (failure.kind === "fault") {
      parts.push({ kind: "unverified", source, reason: faultText(failure.fault) });
    } else if (failure.failure.code === "tooLarge") {
      parts.push({ kind: "unverified", source, reason: callFailureText(failure.failure) });
    } else {
      parts.push({ kind: "unreachable", source, reason: callFailureText(failure.failure) });
    }
  }

  /** One wait, and what follows from it. `nothing`: what is known here is what is served. */
  async once(): Promise<Result<"nothing" | "fetched", Failure | Lagging>> {
    const known = this.#known();
    const head = await this.#wait(this.#anew ? undefined : known?.hash);
    if (!head.ok) return head;
    if (head.value === undefined) return ok("nothing");
    const offered = revisionOfHead(head.value);
    // A replica may lag behind. Its snapshot would be refused, so it is not fetched.
    const older = known !== undefined && compareRevisions(offered, known) < 0;
    const same = known !== undefined && offered.hash === known.hash;
    if (older || same) {
      this.#anew = false;
      this.#offer(head.value, undefined);
      return older ? err({ kind: "lagging" }) : ok("nothing");
    }
    const fetched = await this.#fetch(known);
    if (!fetched.ok) return fetched;
    this.#anew = false;
    if (fetched.value === undefined) return ok("nothing");
    const revision = revisionOfHead(fetched.value.head);
    const before = this.#fetched;
    if (before === undefined || compareRevisions(revision, before) >= 0) this.#fetched = revision;
    this.#offer(fetched.value.head, fetched.value);
    // Another replica answered than the one that announced the head. Without a pause, requests
    // would alternate between the two.
    return revision.hash === offered.hash ? ok("fetched") : err({ kind: "lagging" });
  }

  #known(): Revision | undefined {
    const known = this.#parts.known();
    const fetched = this.#fetched;
    if (known === undefined || fetched === undefined) return fetched ?? known;
    return compareRevisions(known, fetched) > 0 ? known : fetched;
  }

  /** The head; undefined for a 304. */
  async #wait(since: string | undefined): Promise<Result<SnapshotHead | undefined, Failure>> {
    const { calls, keys, pollTimeoutSecs } = this.#parts;
    const holdSecs = Math.min(pollTimeoutSecs, waitSecsMax);
    const query = since === undefined ? "" : `?since=${encodeURIComponent(since)}`;
    const answer = await calls.call(
      {
        method: "GET",
        path: `/worker/config/wait${query}`,
        headers: { accept: "application/json", prefer: `wait=${holdSecs}` },
        msMax: holdSecs * 1_000 + waitSlackMs,
      },
      this.#signal,
    );
    if (!answer.ok) return err({ kind: "call", failure: answer.error });
    if (answer.value.status === 304) return ok(undefined);
    const head = verifyHead(headIn(answer.value.body), keys);
    return head.ok ? head : err({ kind: "fault", fault: head.error });
  }

  /** The snapshot; undefined when the answer is that nothing is newer. */
  async #fetch(
    known: Revision | undefined,
  ): Promise<Result<VerifiedSnapshot | undefined, Failure>> {
    const { calls, keys } = this.#parts;
    const base = this.#baseOf(known);
    this.#whole = false;
    const answer = await calls.call(
      {
        method: "GET",
        path: "/worker/config",
        headers: {
          accept: "application/json",
          "accept-encoding": "gzip",
          ...(known === undefined ? {} : { "if-none-match": etagOf(known) }),
          ...(base === undefined ? {} : { "a-im": spliceName }),
        },
        msMax: fetchMsMax,
        bytesMax: snapshotInflatedBytesMax,
      },
      this.#signal,
    );
    if (!answer.ok) return err({ kind: "call", failure: answer.error });
    if (answer.value.status === 304) return ok(undefined);
    const coding = answer.value.headers["content-encoding"]?.trim().toLowerCase();
    const inflatedBytes = await inflated(answer.value.body, coding);
    const isSplice = answer.value.status === imUsed && base !== undefined;
    const bytes = inflatedBytes.ok && isSplice ? spliced(base, inflatedBytes.value) : inflatedBytes;
    const verified = bytes.ok ? await verifySnapshot(bytes.value, keys) : bytes;
    if (verified.ok) return verified;
    this.#whole = isSplice;
    return err({ kind: "fault", fault: verified.error });
  }

  /** A difference to anything but what runs here could not be put together. */
  #baseOf(known: Revision | undefined): Uint8Array | undefined {
    const active = this.#whole ? undefined : this.#parts.active?.();
    return active?.head.revision === known?.hash ? active?.bytes : undefined;
  }

  #offer(head: SnapshotHead, body: VerifiedSnapshot | undefined): void {
    this.#parts.push({ kind: "offer", offer: offerOfHead("controlPlane", head), head, body });
  }
}

function headIn(bytes: Uint8Array): unknown {
  const value = jsonIn(bytes);
  return typeof value === "object" && value !== null && "head" in value ? value.head : undefined;
}
