/** A link for tests: on a virtual clock, over a transport that a test answers or that reaches a real app. */
import { virtualHost, type VirtualHost } from "@gateway/core/rig/virtual.ts";
import type { SourceEvent } from "@gateway/core/port/configSource.ts";
import { err, ok, type Result } from "@gateway/core/result.ts";
import type { Secret } from "@gateway/core/secret.ts";
import { dialControlPlane, type Link, type LinkParts } from "../snapshot/dial.ts";
import type { Report } from "../link/presence.ts";
import { testSecret } from "./snapshot.ts";
import type { Transport, TransportFailure, WireAnswer, WireRequest } from "../link/transport.ts";
import type { VerifiedSnapshot } from "../snapshot/verify.ts";

export type Answering = (
  request: WireRequest,
  signal: AbortSignal,
) => Promise<Result<WireAnswer, TransportFailure>>;

export interface TestLink {
  readonly host: VirtualHost;
  readonly link: Link;
  readonly events: SourceEvent<VerifiedSnapshot>[];
  /** Paths of every request, without query, in order. */
  readonly paths: string[];
  readonly requests: WireRequest[];
  /** Most requests of one path that were open at once. */
  openMax(): number;
  count(path: string): number;
  lines(event: string): number;
  /** Turns of the event loop until `done`, without moving the clock: for work in other threads. */
  until(done: () => boolean): Promise<void>;
  stop(): Promise<void>;
}

export interface TestLinkOptions {
  readonly host?: VirtualHost;
  readonly secrets?: readonly [Secret, ...Secret[]];
  readonly presence?: Partial<LinkParts["presence"]>;
  readonly known?: LinkParts["known"];
  readonly active?: LinkParts["active"];
  readonly pollTimeoutSecs?: number;
}

/** Starts a link over `answer`. */
export function testLink(answer: Answering, options: TestLinkOptions = {}): TestLink {
  const host = options.host ?? virtualHost(1);
  const events: SourceEvent<VerifiedSnapshot>[] = [];
  const requests: WireRequest[] = [];
  const paths: string[] = [];
  const open = new Map<string, number>();
  let openMax = 0;
  const transport: Transport = {
    send: async (request, signal) => {
      const path = new URL(request.url).pathname.replace(/\/register\/.*/, "/register/id");
      requests.push(request);
      paths.push(path);
      const now = (open.get(path) ?? 0) + 1;
      open.set(path, now);
      openMax = Math.max(openMax, now);
      const answered = await answer(request, signal);
      open.set(path, now - 1);
      return answered;
    },
    [Symbol.asyncDispose]: () => Promise.resolve(),
  };
  const { secrets = [testSecret], pollTimeoutSecs = 30 } = options;
  const config = { url: "https://control/", allowInsecureHttp: false, secrets, pollTimeoutSecs };
  const dialled = dialControlPlane(config, {
    host,
    transport,
    known: options.known ?? (() => undefined),
    ...(options.active && { active: options.active }),
    push: (event) => events.push(event),
    presence: { ...presenceParts, ...options.presence },
  });
  if (!dialled.ok) throw new Error(dialled.error);
  const stopping = new AbortController();
  const running = dialled.value.run(stopping.signal);
  return {
    host,
    link: dialled.value,
    events,
    requests,
    paths,
    openMax: () => openMax,
    count: (path) => paths.filter((one) => one === path).length,
    lines: (event) => host.log.lines.filter((line) => line.event === event).length,
    until: async (done) => {
      for (let turn = 0; !done(); turn += 1) {
        if (turn > 20_000) throw new Error("it did not happen");
        await host.settle();
      }
    },
    stop: async () => {
      stopping.abort();
      await running;
    },
  };
}

const report: Report = { status: "active", stale: false, queries: [] };

const presenceParts: LinkParts["presence"] = {
  name: "pod-1",
  version: "0.1.0",
  heartbeatIntervalSecs: 10,
  labels: () => ({}),
  report: () => report,
  leasesLost: () => {},
  cancel: () => {},
  predecessorProof: () => undefined,
  registered: () => {},
};

/** An answer with a JSON body. */
export function json(
  value: unknown,
  more: Partial<WireAnswer> = {},
): Result<WireAnswer, TransportFailure> {
  return ok({ status: 200, headers: {}, body: Buffer.from(JSON.stringify(value)), ...more });
}

/** An answer that is only a status. */
export function status(
  code: number,
  headers: Readonly<Record<string, string>> = {},
): Result<WireAnswer, TransportFailure> {
  return ok({ status: code, headers, body: new Uint8Array() });
}

/** Never answers, until the caller gives up. */
export function silence(signal: AbortSignal): Promise<Result<WireAnswer, TransportFailure>> {
  return new Promise((resolve) => {
    const end = (): void => resolve(err({ code: "stopped" }));
    signal.addEventListener("abort", end, { once: true });
    if (signal.aborted) end();
  });
}

/** Answers of an app, as a socket would bring them. */
export function overApp(app: { fetch(request: Request): Response | Promise<Response> }): Answering {
  return async ({ url, method, headers, body }, signal) => {
    const sent = body === undefined ? {} : { body: Buffer.from(body) };
    const request = new Request(url, { method, headers: { ...headers }, ...sent, signal });
    const answered = Promise.resolve(app.fetch(request)).then(async (response) =>
      ok({
        status: response.status,
        headers: Object.fromEntries(response.headers),
        body: new Uint8Array(await response.arrayBuffer()),
      }),
    );
    return Promise.race([answered, silence(signal)]);
  };
}
