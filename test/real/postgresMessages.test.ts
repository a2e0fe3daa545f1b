/**
 * Messages by chance to a PostgreSQL server and through the gateway in front of it, in orders that no driver would pick:
 * every message that comes back is the same. `npm run test:real` says where the server is.
 */
import { setImmediate } from "node:timers/promises";
import { fieldsOf, RawClient, type Seen } from "@gateway/frontends/postgres/rig/rawClient.ts";
import { Chance } from "@gateway/wire/http/rig/responses.ts";
import pg from "pg";
import { describe, expect, it, onTestFinished } from "vitest";
import { configOf, gatewayOf, portOf } from "../e2e/gateway.ts";
import { emptyDatabase } from "./postgresDatabase.ts";
import { brokenCopies, madeSql, messagesOf, resetSql, type Shown } from "./postgresMessages.ts";
import { seed } from "./seed.ts";

const nightly = process.env["GATEWAY_NIGHTLY"] === "1" ? 10_000 : 150;
const scripts = Number(process.env["SAME_SCRIPTS"] ?? nightly);
/** Only ends what hangs: how long a busy machine takes says nothing. */
const endMs = 30_000;

describe.each(["session", "transaction"])("pooled by %s", (poolMode) => {
  it(
    "gives a client in every state what the server gives",
    { timeout: scripts * 1_000 },
    async () => {
      const database = await emptyDatabase(`messages_${poolMode}`);
      const owner = new pg.Client({ connectionString: database.href });
      await owner.connect();
      onTestFinished(async () => await owner.end());
      await owner.query(madeSql);
      const auth = { type: "basic", username: database.username, password: "none" };
      const local = {
        engine: "postgresql",
        hosts: [database.host],
        database: database.pathname.slice(1),
        auth,
        poolSize: 3,
        poolMode,
      };
      const gateway = await gatewayOf(configOf({ clusters: { local } }));
      onTestFinished(async () => await gateway[Symbol.asyncDispose]());
      const differences: string[] = [];
      let compared = 0;
      const broken = brokenCopies();
      const name = database.pathname.slice(1);
      for (let at = seed - broken.length; at < seed + scripts && differences.length < 5; at += 1) {
        const messages = at < seed ? (broken[seed - 1 - at] ?? []) : messagesOf(at);
        const expected = await played(
          { owner, port: Number(database.port), user: database.username, name },
          messages,
          at,
        );
        const found = await played(
          { owner, port: portOf(gateway, "postgresWire"), user: "ann", name },
          messages,
          at,
        );
        const { equal, place } = comparedTo(expected, found);
        compared += equal;
        if (place === undefined) continue;
        const said = messages.map(({ shown }) => shown).join("\n  ");
        differences.push(
          `script ${at}, answer ${place}:\n  ${said}\nserver: ${expected[place]?.join(" | ")}\nthrough: ${found[place]?.join(" | ")}`,
        );
      }
      expect(differences.join("\n\n")).toBe("");
      process.stdout.write(`seed ${seed}: ${compared} messages compared\n`);
      expect(compared).toBeGreaterThan(scripts * 5);
    },
  );
});

interface Found {
  readonly equal: number;
  /** Which series differs; undefined where none does that may not. */
  readonly place: number | undefined;
}

/**
 * Both answers up to where the gateway may say something else: it promises a Parse and a Bind that the server is asked about
 * with the Execute, and what is wrong with them is told then. What comes behind goes by what was promised.
 */
function comparedTo(expected: readonly Series[], found: readonly Series[]): Found {
  let equal = 0;
  for (let at = 0; at < Math.max(expected.length, found.length); at += 1) {
    const [server = [], through = []] = [expected[at], found[at]];
    if (inOrder(server).join("\n") === inOrder(through).join("\n")) {
      equal += server.length;
      continue;
    }
    const kept = inOrder(server).filter(isNoPromise).join("\n");
    const isPromised =
      kept === inOrder(through).filter(isNoPromise).join("\n") && hasFailed(server);
    return { equal, place: isPromised || isTold(server, through) ? undefined : at };
  }
  return { equal, place: undefined };
}

type Series = readonly string[];

/**
 * Notices come in their own order, before or behind a description. That SET LOCAL is alone is not told in a series, which is
 * a transaction here.
 */
function inOrder(lines: Series): Series {
  const isNotice = (line: string): boolean => line.startsWith("N");
  const series = lines.filter((line) => !line.includes("SET LOCAL can only be used"));
  return [...series.filter((line) => !isNotice(line)), ...series.filter(isNotice)];
}

function hasFailed(series: Series): boolean {
  return series.some((line) => line.startsWith("E"));
}

/** Not what was said of a Parse, a Bind and a portal, whose description comes with its result, before what failed. */
function isNoPromise(line: string, at: number, series: Series): boolean {
  return (
    !/^[12n] /.test(line) && !(line.startsWith("T") && series[at + 1]?.startsWith("E") === true)
  );
}

/** True where the server found with a Parse or a Bind what the gateway hears with the Execute, if there is one. */
function isTold(server: Series, through: Series): boolean {
  const failure = server.find((line) => line.startsWith("E")) ?? "";
  return atBind.test(failure) || tooLate.test(failure) || through.some((line) => own.test(line));
}

/**
 * What the gateway says for itself: a name is taken, formats are missing, or a transaction failed, whatever else may be wrong;
 * modes of a transaction that is open; a portal that gives more rows and has to end before another statement.
 */
const own =
  /"C":"(?:42P05|25P02)"|"M":"bind message |SET TRANSACTION tells its modes|another statement of this session has not ended yet/;
/** A BEGIN with modes behind statements of its series that only read: here it begins a transaction. */
const tooLate = /"M":"SET TRANSACTION [A-Z ]+ must be called before any query/;
const atBind =
  /"M":"bind message |"W":"(?:unnamed portal|portal \\"[^"]*\\") parameter|"M":"incorrect binary data format/;

interface Place {
  readonly owner: pg.Client;
  readonly port: number;
  readonly user: string;
  readonly name: string;
}

/** All that comes back, a line for each message, of a table as it is in the beginning. */
async function played(
  { owner, port, user, name }: Place,
  messages: readonly Shown[],
  at: number,
): Promise<readonly Series[]> {
  await owner.query(resetSql);
  await using client = await RawClient.start(port, { user, database: name });
  const chance = new Chance(Math.abs(at));
  let waiting: Uint8Array[] = [];
  for (const { bytes } of messages) {
    waiting.push(bytes);
    if (chance.below(3) > 0) continue;
    client.send(...waiting);
    waiting = [];
    await setImmediate();
  }
  client.send(...waiting);
  const late = setTimeout(() => client.destroy(), endMs);
  const seen = await client.rest();
  clearTimeout(late);
  return seriesOf(seen.flatMap(lineOf));
}

/** Each up to the server's "ready". */
function seriesOf(lines: readonly string[]): readonly Series[] {
  const all: string[][] = [[]];
  for (const line of lines) {
    all.at(-1)?.push(line);
    if (line.startsWith("Z")) all.push([]);
  }
  return all;
}

/** What a session's settings are is told when they change, wherever that is. */
function lineOf(message: Seen): readonly string[] {
  const { type, body } = message;
  if (type === "S") return [];
  if (type === "E" || type === "N") {
    const { F: _file, L: _line, R: _routine, ...fields } = fieldsOf(message);
    return [`${type} ${JSON.stringify(fields)}`];
  }
  return [`${type} ${body.toString("latin1")}`];
}
