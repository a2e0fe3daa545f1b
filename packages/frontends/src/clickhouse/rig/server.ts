/** An open listener over a scripted door, for the tests of this folder. */
import { afterEach } from "vitest";
import { suiteHost, type SuiteHost } from "../../rig/host.ts";
import { scriptedDoor, type Script, type ScriptedDoor } from "../../rig/scriptedDoor.ts";
import { clickhouseConfig } from "../config.ts";
import { listen } from "../listen.ts";

export interface TestServer {
  readonly door: ScriptedDoor;
  readonly host: SuiteHost;
  readonly port: number;
  /** A request; `sql` is its body. */
  ask(path: string, init?: RequestInit & { readonly sql?: string }): Promise<Answered>;
}

/** An answer with its body. */
export interface Answered {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
  /** The number of the exception; undefined where there is none. */
  readonly code: string | null;
}

const stops: (() => Promise<void>)[] = [];

afterEach(async () => {
  await Promise.all(stops.splice(0).map((stop) => stop()));
});

/** A server that the end of the test stops. */
export async function opened(
  script: Script,
  config: Readonly<Record<string, unknown>> = {},
): Promise<TestServer> {
  const host = suiteHost();
  const door = scriptedDoor({ clock: host.clock, ...script });
  const parsed = clickhouseConfig.parse({ host: "127.0.0.1", port: 0, ...config });
  const listening = await listen(parsed, door, host);
  if (!listening.ok) throw new Error(listening.error.detail);
  const frontend = listening.value;
  const { port } = frontend;
  stops.push(() => frontend.drain(AbortSignal.abort()));
  return {
    door,
    host,
    port,
    ask: async (path, { sql, ...init } = {}) => {
      const body = sql === undefined ? {} : { method: "POST", body: sql };
      const response = await fetch(`http://127.0.0.1:${port}${path}`, { ...body, ...init });
      return {
        status: response.status,
        headers: response.headers,
        text: await response.text(),
        code: response.headers.get("x-clickhouse-exception-code"),
      };
    },
  };
}
