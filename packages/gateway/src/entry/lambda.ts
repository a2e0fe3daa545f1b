/**
 * The control plane as a function: the same app as in a container, behind Hono's wrappers for the
 * platform.
 *
 * The import opens nothing: an instance that is started ahead of its first request must not hold a
 * connection, and one that can not reach the database must still be able to say so.
 */
import { randomBytes } from "node:crypto";
import { readMigrations } from "@gateway/control/store/migrate/migration.ts";
import { openNeon } from "@gateway/control/store/driver/neon.ts";
import { handle, streamHandle } from "hono/aws-lambda";
import { functionApp, unsetApp } from "../lambda/app.ts";
import { platformCallers } from "../lambda/callers.ts";
import { embeddedMetrics } from "../lambda/embedded.ts";
import { functionClock } from "../lambda/host.ts";
import { lineLog } from "../lambda/log.ts";
import { controlOpening } from "../lambda/openControl.ts";
import { openOnce, type Open } from "../lambda/opening.ts";
import { readSettings, type FunctionSettings } from "../lambda/settings.ts";
import { surroundings } from "./linked.ts";

/** An instance answers one request at a time; a transaction of its own is rare. */
const transactionsMax = 2;

const settings = readSettings(surroundings);
const write = (line: string): void => void process.stdout.write(`${line}\n`);
const log = lineLog(settings.ok ? settings.value.logLevel : "info", write);
const metrics = embeddedMetrics(
  functionClock,
  surroundings.variable("AWS_LAMBDA_FUNCTION_NAME") ?? "none",
  write,
);
const callers = platformCallers();
// Read while the rest of the import and the first request go on; a failure is that of whoever opens.
const migrations = readMigrations(new URL("migrations/", import.meta.url));
const app = settings.ok
  ? functionApp({
      open: openOnce(opening(settings.value)),
      callers,
      log,
      answered: () => metrics.flush(),
      allowedHosts: settings.value.allowedHosts,
    })
  : unsetApp(settings.error, log);

/** For a function URL that streams: everything, the durable stream included. */
export const handler = streamHandle(app);

/** For gateways that take one whole answer. A stream then arrives at its end. */
export const buffered = handle(app);

function opening(wanted: FunctionSettings): Open {
  const host = {
    clock: functionClock,
    log,
    metrics,
    random: () => randomBytes(4).readUInt32LE() / 2 ** 32,
    randomBytes: (length: number) => new Uint8Array(randomBytes(length)),
  };
  const { databaseUrl, neonStandIn } = wanted;
  const database = openNeon({
    url: databaseUrl,
    connectionsMax: transactionsMax,
    host,
    ...(neonStandIn === undefined
      ? {}
      : { endpoints: { fetch: `http://${neonStandIn}/sql`, webSocket: `${neonStandIn}/v2` } }),
  });
  return async () => {
    const files = await migrations;
    if (!files.ok) throw new Error(`no migrations beside the code: ${files.error.code}`);
    return controlOpening({
      settings: wanted,
      host,
      callers,
      database,
      migrations: files.value,
    })();
  };
}
