/**
 * Statements by chance to a PostgreSQL server and through the gateway in front of it: the answers are equal, or the
 * gateway refuses. `npm run test:real` says where the server is.
 */
import { join } from "node:path";
import { RawClient } from "@gateway/frontends/postgres/rig/rawClient.ts";
import { afterAll, beforeAll, expect, it } from "vitest";
import { configOf, gatewayOf, portOf, type TestGateway } from "../e2e/gateway.ts";
import { driverFolder } from "./adbcHost.ts";
import { emptyDatabase } from "./postgresDatabase.ts";
import { compared, type Compared } from "./postgresCompared.ts";
import type { Scripted } from "./postgresPick.ts";
import { prepared, scriptOf } from "./postgresStatements.ts";
import { texts } from "./postgresTexts.ts";
import { asked, sentOf, typesOf, type Answer } from "./postgresWays.ts";
import { seed } from "./seed.ts";

const nightly = process.env["GATEWAY_NIGHTLY"] === "1" ? 10_000 : 150;
const scripts = Number(process.env["SAME_SCRIPTS"] ?? nightly);

/** Two databases and a gateway, on a machine with much to do. */
const startMsMax = 240_000;

let gateway: TestGateway;
let types: ReadonlyMap<string, number>;
/** A connection to the server, one through the gateway, and the server behind each. */
let direct: RawClient;
let through: RawClient;
let owners: readonly RawClient[];

beforeAll(async () => {
  const own = await emptyDatabase("same_direct");
  const behind = await emptyDatabase("same_through");
  const started = ({ pathname, username, port }: URL) => clientOf(Number(port), username, pathname);
  owners = [await started(own), await started(behind)];
  await reset();
  direct = await started(own);
  types = await typesOf(direct, Object.keys(texts));
  const auth = { type: "basic", username: own.username, password: "none" };
  const local = { ...engineBefore(behind), auth, poolSize: 3 };
  gateway = await gatewayOf(configOf({ clusters: { local } }));
  through = await clientOf(portOf(gateway, "postgresWire"), "ann", behind.pathname);
}, startMsMax);
afterAll(async () => {
  for (const client of [direct, through, ...owners]) client.destroy();
  await gateway[Symbol.asyncDispose]();
});

it(
  "answers statements by chance as the server does, or refuses them",
  async () => {
    const counts = { equal: 0, refused: 0, different: 0 };
    const reasons = new Map<string, number>();
    const named = new Map<string, number>();
    const differences: string[] = [];
    for (let at = seed; at < seed + scripts; at += 1) {
      for (const { statement, found } of await playedBoth(scriptOf(at))) {
        const reason = found.kind === "different" ? meantBy(statement) : undefined;
        if (reason !== undefined) {
          named.set(reason, (named.get(reason) ?? 0) + 1);
          continue;
        }
        counts[found.kind] += 1;
        if (found.kind === "refused") {
          reasons.set(found.reason, (reasons.get(found.reason) ?? 0) + 1);
        }
        if (found.kind === "different") {
          differences.push(`script ${at}: ${shown(statement)}\n${found.how}`);
        }
      }
    }
    const often = [...reasons].toSorted(([, one], [, other]) => other - one);
    const lines = [
      ...often.map(([reason, count]) => `refused ${count}: ${reason}`),
      ...[...named].map(([reason, count]) => `named ${count}: ${reason}`),
    ];
    process.stdout.write(`seed ${seed}: ${JSON.stringify(counts)}\n${lines.join("\n")}\n`);
    expect(differences.slice(0, 10)).toEqual([]);
    expect(counts.equal).toBeGreaterThan(counts.refused);
  },
  scripts * 1_000,
);

/** `SAME_ENGINE` names another one than the driver's. */
function engineBefore({ host, pathname }: URL): object {
  if (process.env["SAME_ENGINE"] === "postgresql") {
    return { engine: "postgresql", hosts: [host], database: pathname.slice(1) };
  }
  const driver = join(driverFolder, "libadbc_driver_postgresql.so");
  return { engine: "adbc", driver, uri: `postgresql://${host}${pathname}` };
}

/** Differences that are known, by the statements that have them. */
const meant: readonly {
  readonly why: string;
  readonly of: RegExp;
  /** What one of its values looks like; absent: any. */
  readonly given?: RegExp;
}[] = [
  {
    why: "what a setting takes is not looked up at the server, and an isolation counts for the next statement",
    of: /^(?:select set_config\('|set (?:local |session )?work_mem\b)/,
  },
  {
    why: "an array of several dimensions is bound as a text with a cast, which names a column that has no name",
    of: /^select \$1$/,
    given: /^\{\{/,
  },
  {
    why: "what a client said is JSON is bound as a text, whose cast is tried where a server has none for it",
    given: /^\{"\{/,
    of: /^select \$\d::(?:date|timestamptz?|int[248]|bool)\[\]$/,
  },
  {
    why: "a value that came under another type is bound as a text, whose cast the server has where it has none of that type's",
    of: /^select \$1::(?:xid8|box\[\])$/,
  },
  {
    why: "a search path is shown as the client wrote it, without the quotes that a word of SQL gets",
    of: /current_setting\('search_path'|^show search_path/,
  },
];

function meantBy({ sql, values }: Scripted): string | undefined {
  const isGiven = (like: RegExp): boolean => values.some(({ text }) => like.test(text ?? ""));
  return meant.find(({ of, given }) => of.test(sql) && (given === undefined || isGiven(given)))
    ?.why;
}

interface Played {
  readonly statement: Scripted;
  readonly found: Compared;
}

/** A script on both connections, up to where they part. */
async function playedBoth(script: readonly Scripted[]): Promise<readonly Played[]> {
  const played: Played[] = [];
  for (const statement of script) {
    const sent = await sentOf(direct, types, statement);
    const own = await asked(direct, sent);
    const found = compared(own, await asked(through, sent));
    played.push({ statement, found });
    if (found.kind === "equal" && !isLate(statement, own)) continue;
    for (const client of [direct, through]) {
      for (const sql of ["rollback", "discard all"]) await asked(client, { sql });
    }
    if (!reads.test(statement.sql)) await reset();
    break;
  }
  return played;
}

/**
 * A value that can not be read is found before anything runs there, and as it runs here: a sequence has given a
 * number by then, which nothing takes back.
 */
function isLate({ sql, values }: Scripted, { error }: Answer): boolean {
  return error !== undefined && values.length > 0 && /\binsert\b/i.test(sql);
}

const reads = /^\s*(?:select(?!.* into )|values|table|show|begin|start|set|reset|explain)\b/i;

/** Both databases as the first script found them. */
async function reset(): Promise<void> {
  const begin = "drop schema public cascade; create schema public;";
  for (const client of owners) {
    const { error } = await asked(client, { sql: begin + prepared });
    if (error !== undefined) throw new Error(JSON.stringify(error));
  }
}

async function clientOf(port: number, user: string, path: string): Promise<RawClient> {
  // The gateway says that a session begins in UTC.
  return await RawClient.start(port, { user, database: path.slice(1), timezone: "UTC" });
}

function shown({ sql, form, values, binaryRows }: Scripted): string {
  return `${sql} [${form}${binaryRows ? ", binary rows" : ""}] ${JSON.stringify(values)}`;
}
