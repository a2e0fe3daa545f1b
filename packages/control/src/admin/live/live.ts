/**
 * `/admin/events` and `/admin/live`: what runs at this moment, pushed to whoever keeps a page open, and to be
 * polled where nothing can be pushed.
 */
import {
  liveDeltaSchema,
  liveEndSchema,
  liveSchema,
  type LiveEnd,
} from "@gateway/contract/studioApi.ts";
import { z } from "zod";
import { adminOf, allows, type Admin } from "../auth/admin.ts";
import { standingOf } from "../auth/still.ts";
import { refuse } from "../refuse.ts";
import { route, type AdminApi } from "../route.ts";
import { boardsOf, type Boards } from "./board.ts";
import { wholeOf } from "./delta.ts";
import { liveStream } from "./stream.ts";

/** A browser has one per page that is open. */
const streamsPerUserMax = 16;
const streamsMax = 256;
/** So often it is looked whether the reader still may. */
const standingEveryMs = 10_000;
/** While the database is down a reader goes on for as long as it may read elsewhere. */
const unknownMsMax = 60_000;
/** Then the reader begins anew, so that no answer goes on for days. */
const streamMsMax = 3_600_000;

/** Least role of both. */
const role = "viewer";
const tag = "live";

export function liveRoutes(api: AdminApi): void {
  const boards = boardsOf(api.deps);
  liveRoute(api, boards);
  eventsRoute(api, boards);
}

function liveRoute(api: AdminApi, boards: Boards): void {
  route(
    api,
    ["GET", "/live"],
    {
      tag,
      summary: "What runs, waits and stands at this moment",
      description: "The state that `/admin/events` begins with. SQL is for operators and admins.",
      role,
      responses: { 200: { description: "The state.", schema: liveSchema } },
    },
    async ({ c }) => Response.json(wholeOf(await boards.current(), seesTexts(adminOf(c)))),
  );
}

function eventsRoute(api: AdminApi, boards: Boards): void {
  const { deps } = api;
  const open = new Map<string, number>();
  // One listener for all, however many there are.
  const stops = new Set<() => void>();
  deps.stopping.addEventListener("abort", () => {
    for (const stop of stops) stop();
  });
  const operation = {
    tag,
    summary: "The same as server-sent events",
    description:
      "Event `snapshot` with the whole state, then `delta` with what changed, also after a reconnect; `end` with the reason before the stream ends. Ends with the session, with a change of the role, and when the process stops. 501 in a function: poll `/admin/live` every two seconds.",
    role,
    responses: {
      200: {
        description: "Events.",
        contentType: "text/event-stream",
        schema: z.union([liveSchema, liveDeltaSchema, liveEndSchema]),
      },
    },
    refusals: [429, 501],
  } as const;
  route(api, ["GET", "/events"], operation, ({ c }) => {
    if (deps.host === "function") {
      const detail = "This control plane runs as a function. Poll /admin/live instead.";
      return refuse(501, { code: "notHere", detail });
    }
    const admin = adminOf(c);
    if (!taken(open, admin.name)) {
      const detail = `At most ${streamsPerUserMax} streams of one user, ${streamsMax} of all.`;
      return refuse(429, { code: "tooManyStreams", detail }, { "retry-after": "30" });
    }
    const ended = new AbortController();
    const ending = endOf(deps, { admin, stops, closed: ended.signal });
    const stream = liveStream({
      clock: deps.clock,
      boards,
      texts: seesTexts(admin),
      ending,
      closed: () => {
        ended.abort();
        freed(open, admin.name);
      },
    });
    return new Response(stream, {
      headers: { "content-type": "text/event-stream", "x-accel-buffering": "no" },
    });
  });
}

function seesTexts(admin: Admin): boolean {
  return allows(admin.role, "operator");
}

function taken(open: Map<string, number>, name: string): boolean {
  const all = [...open.values()].reduce((sum, count) => sum + count, 0);
  const own = open.get(name) ?? 0;
  if (own >= streamsPerUserMax || all >= streamsMax) return false;
  open.set(name, own + 1);
  return true;
}

function freed(open: Map<string, number>, name: string): void {
  const left = (open.get(name) ?? 1) - 1;
  if (left > 0) open.set(name, left);
  else open.delete(name);
}

interface Reader {
  readonly admin: Admin;
  /** Called when the process stops. */
  readonly stops: Set<() => void>;
  /** Aborted when the reader left: nobody looks any more. */
  readonly closed: AbortSignal;
}

/** Resolves with the reason why the reader's stream has to end. */
function endOf(
  deps: AdminApi["deps"],
  { admin, stops, closed }: Reader,
): Promise<LiveEnd["reason"]> {
  const { clock, stopping } = deps;
  const begunMs = clock.nowMs();
  return new Promise((resolve) => {
    let confirmedMs = begunMs;
    let timer: Disposable | undefined;
    const stop = (): void => end("stopping");
    const end = (reason: LiveEnd["reason"]): void => {
      timer?.[Symbol.dispose]();
      stops.delete(stop);
      resolve(reason);
    };
    const look = async (): Promise<void> => {
      const standing = await standingOf(deps, admin, role);
      if (closed.aborted) return;
      if (standing === "ok") confirmedMs = clock.nowMs();
      if (standing === "signedOut" || standing === "role") end(standing);
      else if (clock.nowMs() - confirmedMs > unknownMsMax) end("unavailable");
      else if (clock.nowMs() - begunMs > streamMsMax) end("age");
      else timer = clock.timer(standingEveryMs, () => void look());
    };
    timer = clock.timer(standingEveryMs, () => void look());
    stops.add(stop);
    closed.addEventListener("abort", () => end("age"), { once: true });
    if (stopping.aborted) stop();
  });
}
