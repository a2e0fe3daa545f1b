/**
 * A deployment of the control plane as functions, without the platform: the built bundles, a database
 * behind Neon's protocol, and the deploy step, in the order in which infra/ does it.
 */
import { randomBytes } from "node:crypto";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Database } from "@gateway/control/store/database.ts";
import { drizzleStore } from "@gateway/control/store/drizzle.ts";
import { openNeon } from "@gateway/control/store/driver/neon.ts";
import { readMigrations, type Migration } from "@gateway/control/store/migrate/migration.ts";
import { recordedLog } from "@gateway/core/rig/recorder.ts";
import { Secret } from "@gateway/core/secret.ts";
import { functionClock } from "@gateway/gateway/lambda/host.ts";
import { lineLog } from "@gateway/gateway/lambda/log.ts";
import { migrateForDeployment } from "@gateway/gateway/lambda/migration.ts";
import { buildLambda } from "../../packages/gateway/bin/buildLambda.mjs";
import { startNeonEmulator, type Target } from "../neon/emulator.ts";
import { startInstance, type Instance } from "./instance.ts";

/** A PostgreSQL server with an empty database. */
export interface Server extends Target {
  readonly url: string;
}

export interface Deployment extends AsyncDisposable {
  /** The same database, for this process. */
  readonly database: Database;
  /** The program's, oldest first. */
  readonly migrations: readonly Migration[];
  readonly fleetSecret: string;
  readonly encryptionKey: string;
  readonly admin: { readonly name: string; readonly password: string };
  /** What the function answered before the deploy step. */
  readonly before: {
    readonly status: number;
    readonly problem: Readonly<Record<string, unknown>>;
  };
  /** What the deploy step answered when it ran, and when it ran again. */
  readonly steps: readonly unknown[];
  /** What the deploy step logged, used up. */
  readonly setupToken: string;
  readonly setupStatus: number;
  /** Another instance of the function, or of one that was built elsewhere; ends with the deployment. */
  start(built?: string): Promise<Instance>;
}

const secrets = {
  encryptionKey: "an encryption key of this deployment",
  fleetSecret: "a fleet secret of this deployment alone",
} as const;
const admin = { name: "ann", password: "a password of the first admin" } as const;

/** What the deploy step said, run twice. */
interface Stepped {
  readonly steps: readonly unknown[];
  readonly log: string;
}

/** How the deploy step is done on `server`, with its function built into `folder`. */
export type Step = (server: Server, database: Database, folder: string) => Promise<Stepped>;

/** As infra/ does it: a function of its own. Needs a server that takes more than one connection. */
export const stepAsFunction: Step = async (server, _database, folder) => {
  const variables = { GATEWAY_DATABASE_URL: server.url };
  await using migration = await startInstance({ folder, links: {}, variables });
  const steps = [await migration.run({}), await migration.run({})];
  return { steps, log: migration.log() };
};

/** The same in this process, where the server is PGlite, which has one connection. */
export const stepInProcess: Step = async (_server, reached, _folder) => {
  // Tells the runner that nobody else is there to hold the lock against.
  const database: Database = {
    kind: "pglite",
    run: (sql, parameters) => reached.run(sql, parameters),
    script: (sql) => reached.script(sql),
    transaction: (work) => reached.transaction(work),
    [Symbol.asyncDispose]: async () => undefined,
  };
  const lines: string[] = [];
  const host = {
    clock: functionClock,
    log: lineLog("info", (line) => lines.push(line)),
    randomBytes: (length: number) => new Uint8Array(randomBytes(length)),
  };
  const { users } = drizzleStore(database, host);
  const parts = { database, users, files: await ownMigrations(), host };
  const steps = [await migrateForDeployment(parts), await migrateForDeployment(parts)];
  return { steps, log: lines.join("\n") };
};

export async function deploy(server: Server, step: Step = stepInProcess): Promise<Deployment> {
  const folder = mkdtempSync(join(tmpdir(), "gateway-deployment-"));
  await buildLambda(folder);
  const emulator = await startNeonEmulator(server);
  // The functions' own driver routes by name, so the name is one that only they use.
  const named = new URL(server.url);
  named.host = "neon.example";
  const url = named.href;
  const instances: Instance[] = [];
  const start = async (built = folder): Promise<Instance> => {
    const instance = await startInstance({
      folder: join(built, "control"),
      links: {
        DatabaseUrl: url,
        EncryptionKeys: secrets.encryptionKey,
        FleetSecrets: secrets.fleetSecret,
      },
      variables: { GATEWAY_NEON_STAND_IN: emulator.place },
    });
    instances.push(instance);
    return instance;
  };

  const first = await start();
  const refused = await first.ask({ path: "/admin/setup" });
  const { endpoints } = emulator;
  const host = { log: recordedLog() };
  const database = openNeon({ url: new Secret(url), connectionsMax: 1, host, endpoints });
  const { steps, log } = await step(server, database, join(folder, "migration"));
  const setupToken = /"admin\.setupToken","token":"([^"]+)"/.exec(log)?.[1] ?? "";
  const headers = { "content-type": "application/json" };
  const body = JSON.stringify({ token: setupToken, ...admin });
  const setup = await first.ask({ method: "POST", path: "/admin/setup", headers, body });

  return {
    ...secrets,
    database,
    migrations: await ownMigrations(),
    admin,
    before: {
      status: refused.status,
      problem: JSON.parse(refused.text()) as Record<string, unknown>,
    },
    steps,
    setupToken,
    setupStatus: setup.status,
    start,
    [Symbol.asyncDispose]: async () => {
      await Promise.all(instances.map((instance) => instance[Symbol.asyncDispose]()));
      await database[Symbol.asyncDispose]();
      await emulator[Symbol.asyncDispose]();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

async function ownMigrations(): Promise<readonly Migration[]> {
  const read = await readMigrations(new URL("../../migrations/", import.meta.url));
  if (!read.ok) throw new Error(read.error.code);
  return read.value;
}
