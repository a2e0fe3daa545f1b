/** A MySQL listener over a scripted door, and clients of it, for the tests of this folder. */
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Frontend } from "@gateway/core/port/frontend.ts";
import { virtualHost } from "@gateway/core/rig/virtual.ts";
import type { DoneEvent, ResultEvent } from "@gateway/core/query/event.ts";
import { batchOf } from "@gateway/core/type/build.ts";
import type { Column, Value } from "@gateway/core/type/type.ts";
import { createConnection, type Connection, type ConnectionOptions } from "mysql2/promise";
import { certificateOf } from "../../listener/rig/certificate.ts";
import { scriptedDoor, type Script, type ScriptedDoor } from "../../rig/scriptedDoor.ts";
import { mysqlConfig } from "../config.ts";
import { listen } from "../listen.ts";

export interface OpenServer extends AsyncDisposable {
  readonly frontend: Frontend;
  readonly door: ScriptedDoor;
  readonly port: number;
  readonly host: ReturnType<typeof virtualHost>;
  /** What went wrong in the frontend itself; stays empty. */
  bugs(): readonly unknown[];
}

/** Opens a listener on loopback with a free port. */
export async function serverOf(
  script: Partial<Script> = {},
  config: object = {},
): Promise<OpenServer> {
  const door = scriptedDoor({ answers: {}, ...script });
  const host = virtualHost(1);
  const parsed = mysqlConfig.parse({ host: "127.0.0.1", port: 0, ...config });
  const opened = await listen(parsed, door, host);
  if (!opened.ok) throw new Error(opened.error.detail);
  const frontend = opened.value;
  return {
    frontend,
    door,
    host,
    port: frontend.port,
    bugs: () => host.log.bugs,
    [Symbol.asyncDispose]: () => frontend.drain(AbortSignal.abort()),
  };
}

/** The `tls` section of a config, its files in a folder that is removed on disposal; `ca` signs clients' certificates. */
export function tlsFilesOf({ ca }: { readonly ca?: string } = {}): Disposable & {
  readonly tls: object;
  readonly cert: string;
} {
  const folder = mkdtempSync(join(tmpdir(), "mysql-"));
  const { cert, key } = certificateOf("localhost");
  const certFile = join(folder, "cert.pem");
  const keyFile = join(folder, "key.pem");
  writeFileSync(certFile, cert);
  writeFileSync(keyFile, key);
  const clientCaFile = join(folder, "ca.pem");
  if (ca !== undefined) writeFileSync(clientCaFile, ca);
  return {
    tls: { certFile, keyFile, ...(ca === undefined ? {} : { clientCaFile }) },
    cert,
    [Symbol.dispose]: () => rmSync(folder, { recursive: true }),
  };
}

export const statsOf = { queueMs: 0, executionMs: 0, rows: 0, bytes: 0 } as const;

/** The last event of a success. */
export function doneOf(more: Partial<DoneEvent> = {}): DoneEvent {
  return { kind: "done", stats: statsOf, ...more };
}

/** The events of a result. */
export function resultOf(
  columns: readonly Column[],
  rows: readonly (readonly Value[])[],
): readonly ResultEvent[] {
  return [{ kind: "columns", columns }, { kind: "batch", batch: batchOf(columns, rows) }, doneOf()];
}

/** A client that is logged in, closed on disposal. */
export async function clientOf(
  server: OpenServer,
  options: ConnectionOptions = {},
): Promise<Connection & AsyncDisposable> {
  const base = { host: "127.0.0.1", port: server.port, user: "ann" };
  const client = await createConnection({ ...base, ...options });
  // The package reports the loss of a connection that nobody waits on as an event.
  client.on("error", () => undefined);
  return Object.assign(client, { [Symbol.asyncDispose]: async () => client.destroy() });
}

/** What a promise that must fail fails with. */
export async function failureOf(attempt: Promise<unknown>): Promise<Error> {
  try {
    await attempt;
  } catch (failure) {
    return failure instanceof Error ? failure : new Error(String(failure));
  }
  throw new Error("it did not fail");
}
