/**
 * `GET /worker/config`, `/worker/config/wait` and `/worker/config/stream`: the snapshot, and three
 * ways to learn that there is another one.
 *
 * A wait carries no configuration: the worker fetches after it. It is never streamed, because its
 * status (200 or 304) must be known before the first byte.
 */
import { etagOf } from "@gateway/contract/revision.ts";
import { imUsed, spliceName } from "@gateway/contract/snapshotDelta.ts";
import { waitSecsMax, waitSecsMaxFunction, type StreamEnd } from "@gateway/contract/workerApi.ts";
import type { Context } from "hono";
import type { ControlDeps } from "../../deps.ts";
import type { WorkerEnv } from "../auth.ts";
import { streamKeepAliveMs, waitersMax, waitSecsDefault } from "../limits.ts";
import { notConfigured, tooBusy } from "../refuse.ts";
import type { Serve, Served, Splice } from "./served.ts";
import type { ConfigWatch } from "./watch.ts";

type WorkerContext = Context<WorkerEnv>;
type Handler = (ctx: WorkerContext) => Promise<Response>;

/** What is there for a caller with that secret; undefined while there is no configuration. */
export type Current = (secretIndex: number) => Promise<Served | undefined>;

/**
 * The snapshot as it is served at this moment. A function looks at the store first: nothing kept it
 * up to date between two invocations.
 */
export function currentOf({ config, host }: ControlDeps, serve: Serve): Current {
  return async (secretIndex) => {
    if (host === "function") await config.refresh();
    const built = config.current();
    return built && serve(built, config.freshness().confirmedAt, secretIndex);
  };
}

/** `GET /worker/config` */
export function getSnapshot(current: Current): Handler {
  return async (ctx) => {
    const served = await current(ctx.get("secretIndex"));
    if (served === undefined) return notConfigured();
    const headers = { ...revisionHeaders(served), vary: "Accept-Encoding, A-IM" };
    const known = ctx.req.header("if-none-match");
    if (names(known, headers.etag)) return new Response(null, { status: 304, headers });
    const splice = takesSplices(ctx.req.header("a-im")) ? spliceFor(served, known) : undefined;
    if (splice !== undefined) {
      const { base, bytes } = splice;
      const im = { im: spliceName, "delta-base": etagOf(base.revision) };
      return new Response(bytes, { status: imUsed, headers: { ...headers, ...im } });
    }
    const json = { ...headers, "content-type": "application/json" };
    return acceptsGzip(ctx.req.header("accept-encoding"))
      ? new Response(served.gzip(), { headers: { ...json, "content-encoding": "gzip" } })
      : new Response(served.identity(), { headers: json });
  };
}

/** The difference to one that the reader names as known. `*` names none. */
function spliceFor(served: Served, known: string | undefined): Splice | undefined {
  if (known === undefined || known.includes("*")) return undefined;
  return served.splice(({ revision }) => names(known, etagOf(revision)));
}

/** `A-IM` (RFC 3229 §10.5.3): a list of names. */
function takesSplices(manipulations = ""): boolean {
  return manipulations.split(",").some((name) => name.trim().toLowerCase() === spliceName);
}

/** `GET /worker/config/wait?since=` */
export function waitForChange(deps: ControlDeps, current: Current, watch: ConfigWatch): Handler {
  const secsMax = deps.host === "function" ? waitSecsMaxFunction : waitSecsMax;
  return async (ctx) => {
    const secretIndex = ctx.get("secretIndex");
    const since = ctx.req.query("since");
    const before = await current(secretIndex);
    if (before === undefined) return notConfigured();
    if (since === undefined || since !== before.head.revision) return headAnswer(before);

    const holdSecs = Math.min(holdSecsOf(ctx.req.header("prefer")), secsMax);
    if (watch.waiting >= waitersMax) return tooBusy();
    // Also over when the caller hung up or the process stops: then nobody reads, or 304 is the truth.
    await watch.changed(since, holdSecs * 1_000, ctx.req.raw.signal);
    const after = (await current(secretIndex)) ?? before;
    const headers = { "preference-applied": `wait=${holdSecs}` };
    if (after.head.revision !== since) return headAnswer(after, headers);
    return new Response(null, { status: 304, headers: { ...revisionHeaders(after), ...headers } });
  };
}

/**
 * `GET /worker/config/stream?since=`: a line for each new head, an empty line for a silence, and at
 * its end (a limit, or the process stops) the position to go on with.
 */
export function streamChanges(
  deps: ControlDeps,
  current: Current,
  watch: ConfigWatch,
  secsMax: number,
): Handler {
  return async (ctx) => {
    const secretIndex = ctx.get("secretIndex");
    const found = await current(secretIndex);
    if (found === undefined) return notConfigured();
    if (watch.waiting >= waitersMax) return tooBusy();
    const first: Served = found;
    const left = new AbortController();
    const signal = AbortSignal.any([ctx.req.raw.signal, left.signal]);

    async function* lines(): AsyncGenerator<string, void, void> {
      const endMs = deps.clock.nowMs() + secsMax * 1_000;
      let since = ctx.req.query("since");
      for (;;) {
        const { head, headJson } = (await current(secretIndex)) ?? first;
        // The first line leaves at once, so that the client and what is between see the stream open.
        yield head.revision === since ? "\n" : `${headJson}\n`;
        since = head.revision;
        const leftMs = endMs - deps.clock.nowMs();
        if (deps.stopping.aborted || leftMs <= 0) break;
        await watch.changed(since, Math.min(leftMs, streamKeepAliveMs), signal);
        if (signal.aborted) return;
      }
      const end: StreamEnd = { resume: since };
      yield `${JSON.stringify(end)}\n`;
    }

    return new Response(
      streamOf(lines(), left, (bug) => deps.log.bug(bug)),
      {
        headers: { ...noStore, "content-type": "application/x-ndjson", "x-accel-buffering": "no" },
      },
    );
  };
}

/** Asks for a line when the reader has taken the one before: a client that does not read holds one line. */
function streamOf(
  lines: AsyncGenerator<string, void, void>,
  left: AbortController,
  report: (bug: unknown) => void,
): ReadableStream<Uint8Array> {
  const encoder = new TextEncoder();
  return new ReadableStream<Uint8Array>({
    pull: async (controller) => {
      try {
        const line = await lines.next();
        if (left.signal.aborted) return;
        if (line.done === true) controller.close();
        else controller.enqueue(encoder.encode(line.value));
      } catch (bug) {
        report(bug);
        // Without the position to go on with, which tells the reader that it ended early.
        controller.close();
      }
    },
    cancel: () => left.abort(),
  });
}

const noStore = { "cache-control": "private, no-store" } as const;

function revisionHeaders({ built }: Served) {
  return { ...noStore, etag: etagOf(built.revision) };
}

/** 200 of a wait. */
function headAnswer(served: Served, more: Readonly<Record<string, string>> = {}): Response {
  const headers = { ...revisionHeaders(served), ...more, "content-type": "application/json" };
  return new Response(served.headJson, { headers });
}

/** `Prefer: wait=N` (RFC 7240 §4.3), among other preferences. */
function holdSecsOf(prefer = ""): number {
  const secs = /(?:^|[,;])\s*wait\s*=\s*"?(\d{1,9})"?\s*(?:$|[,;])/i.exec(prefer)?.[1];
  return secs === undefined ? waitSecsDefault : Number(secs);
}

/** `If-None-Match` (RFC 9110 §13.1.2): a list of tags, compared weakly, or `*`. */
function names(ifNoneMatch = "", etag: string): boolean {
  const tags = ifNoneMatch.split(",").map((tag) => tag.trim().replace(/^W\//, ""));
  return tags.includes(etag) || tags.includes("*");
}

/** Named with another weight than 0 (RFC 9110 §12.5.3). */
function acceptsGzip(acceptEncoding = ""): boolean {
  return acceptEncoding.split(",").some((item) => {
    const [coding = "", ...parameters] = item.toLowerCase().split(";");
    const refused = parameters.some((parameter) => /^\s*q\s*=\s*0(?:\.0*)?\s*$/.test(parameter));
    return ["gzip", "x-gzip", "*"].includes(coding.trim()) && !refused;
  });
}
