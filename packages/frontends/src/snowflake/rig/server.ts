/** A listener over a scripted door, and a client of the protocol by hand, for what a driver does not show. */
import { afterEach } from "vitest";
import type { AskedElsewhere, Elsewhere, RelayedRequest } from "../../listener/elsewhere.ts";
import { suiteHost } from "../../rig/host.ts";
import { scriptedDoor, type Script, type ScriptedDoor } from "../../rig/scriptedDoor.ts";
import { snowflakeConfig } from "../config.ts";
import { listen } from "../listen.ts";

/** An answer as JSON. */
export interface Answer {
  readonly success: boolean;
  readonly code: string | null;
  readonly message: string | null;
  // oxlint-disable-next-line typescript/no-explicit-any -- each test knows what it asked for
  readonly data: any;
  readonly status: number;
}

export interface TestServer {
  readonly door: ScriptedDoor;
  readonly url: string;
  /** A request that another gateway's client sent. */
  relayed(asked: AskedElsewhere): void;
  /** The server's clock goes so much ahead; timers do not. */
  later(ms: number): void;
  post(path: string, body?: unknown, token?: string, signal?: AbortSignal): Promise<Answer>;
  get(path: string, token?: string): Promise<Answer>;
  /** Logs in; the tokens of the session. */
  logIn(
    data?: Readonly<Record<string, unknown>>,
    place?: string,
  ): Promise<{
    readonly token: string;
    readonly masterToken: string;
    readonly displayUserName: string;
  }>;
}

const open: (() => Promise<void>)[] = [];
afterEach(async () => {
  await Promise.all(open.splice(0).map((end) => end()));
});

/** A server that the end of the test stops. */
export async function opened(
  script: Script,
  config: Readonly<Record<string, unknown>> = {},
  elsewhere?: Elsewhere,
): Promise<TestServer> {
  const real = suiteHost();
  let aheadMs = 0;
  const host = { ...real, clock: { ...real.clock, nowMs: () => real.clock.nowMs() + aheadMs } };
  const door = scriptedDoor({ clock: host.clock, ...script });
  const parsed = snowflakeConfig.parse({ host: "127.0.0.1", port: 0, ...config });
  const listening = await listen(parsed, door, host, elsewhere);
  if (!listening.ok) throw new Error(listening.error.detail);
  open.push(() => listening.value.drain(AbortSignal.abort()));
  const url = `http://127.0.0.1:${listening.value.port}`;
  const ask = async (path: string, token: string | undefined, init: RequestInit) => {
    const headers = {
      ...(init.headers as Record<string, string>),
      ...(token === undefined ? {} : { authorization: `Snowflake Token="${token}"` }),
    };
    const response = await fetch(url + path, { ...init, headers });
    const text = await response.text();
    const json = text.startsWith("{") ? (JSON.parse(text) as Answer) : { message: text };
    return { ...json, status: response.status } as Answer;
  };
  const post: TestServer["post"] = (path, body = {}, token, signal) =>
    ask(path, token, {
      method: "POST",
      body: JSON.stringify(body),
      ...(signal === undefined ? {} : { signal }),
    });
  return {
    door,
    url,
    // What a request is read of is there, whoever read it.
    relayed: (asked) => listening.value.relayed?.(asked as RelayedRequest),
    later: (ms) => void (aheadMs += ms),
    post,
    get: (path, token) => ask(path, token, {}),
    logIn: async (data = {}, place = "") => {
      const body = { data: { LOGIN_NAME: "ann", PASSWORD: "secret", ...data } };
      const answer = await post(`/session/v1/login-request?${place}`, body);
      if (!answer.success) throw Object.assign(new Error(answer.message ?? ""), answer);
      return answer.data as Awaited<ReturnType<TestServer["logIn"]>>;
    },
  };
}
