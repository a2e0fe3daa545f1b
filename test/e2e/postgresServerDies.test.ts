/** What a client of PostgreSQL is told when the server behind engine `postgresql` ends in the middle: in every state of a series. */
import {
  bindOf,
  closeOf,
  describeOf,
  executeOf,
  fieldsOf,
  flush,
  letters,
  messageOf,
  parseOf,
  queryOf,
  RawClient,
  statusOf,
  sync,
  type Seen,
} from "@gateway/frontends/postgres/rig/rawClient.ts";
import {
  message,
  ScriptedPostgres,
  type Script,
} from "@gateway/engines/postgresql/rig/scripted.ts";
import { describe, expect, it } from "vitest";
import { configOf, gatewayOf, portOf } from "./gateway.ts";

const columns = message("T", [
  ...Buffer.from("00016e0000000000000000000019ffffffffffff0000", "hex"),
]);
const row = message("D", [0, 1, 0, 0, 0, 1, 0x31]);
const done = message("C", [...Buffer.from("SELECT 1\0")]);
/** What PostgreSQL calls a failure of what lies under it (`io_error`). */
const broken = "58030";
const dying = "select 'dies' from t";
const [begin, rollback] = [queryOf("begin"), queryOf("rollback")];
const series = [parseOf("", dying), bindOf(), describeOf("P"), executeOf()];

describe("a server that ends in the middle of a series", () => {
  it.each([
    ["at its Parse", "P", [...series, sync], "EZ"],
    ["at its Execute, with its columns told", "E", [...series, sync], "12TEZ"],
    ["behind its rows, which look whole", "S", [...series, sync], "12TDEZ"],
    ["at a simple query", "Q", [queryOf(dying)], "EZ"],
    [
      "with more of the series on its way",
      "E",
      [...series, ...series, closeOf("P", ""), sync],
      "12TEZ",
    ],
    ["with a Flush before the Sync", "E", [...series, flush, executeOf(), sync], "12TEZ"],
  ] as const)("%s", async (_when, letter, sent, answered) => {
    await using stand = await standOf(letter);
    const { client } = stand;
    client.send(...sent);
    const seen = await until(client);
    // Parse and Bind may be answered before their engine is asked.
    expect(letters(seen).replace(/^12(?=E)/, "")).toBe(answered);
    expect(codeOf(seen)).toBe(broken);
    expect(statusAt(seen)).toBe("I");
    // The next statement has another connection, and all of its answer.
    client.send(parseOf("", "select 'lives' from t"), bindOf(), executeOf(), sync);
    expect(letters(await until(client))).toBe("12DCZ");
  });

  it("at the Parse of a statement that its client keeps is no error of its text", async () => {
    await using stand = await standOf("P");
    const { client } = stand;
    client.send(parseOf("s", dying), sync);
    expect(letters(await until(client))).toBe("1Z");
    client.send(bindOf({ statement: "s" }), executeOf(), sync);
    expect(letters(await until(client))).toBe("2DCZ");
  });

  it("leaves a transaction failed, and takes its end", async () => {
    await using stand = await standOf("E");
    const { client } = stand;
    client.send(begin);
    expect(statusAt(await until(client))).toBe("T");
    client.send(...series, sync);
    const seen = await until(client);
    expect([letters(seen), codeOf(seen)]).toEqual(["12TEZ", broken]);
    client.send(queryOf("commit"));
    const ended = await until(client);
    expect(letters(ended)).not.toContain("COMMIT");
    expect(
      ended.filter(({ type }) => type === "C").map(({ body }) => body.toString()),
    ).not.toContain("COMMIT\0");
    expect(statusAt(ended)).toBe("I");
    client.send(rollback);
    await until(client);
    client.send(queryOf("select 'lives' from t"));
    expect(letters(await until(client))).toBe("TDCZ");
  });

  it("between two parts of a portal fails the second", async () => {
    await using stand = await standOf("never");
    const { client, server } = stand;
    client.send(
      begin,
      parseOf("", "select 'parts' from t"),
      bindOf({ portal: "p" }),
      executeOf("p", 1),
      sync,
    );
    await until(client);
    await until(client);
    await server.endAll();
    client.send(executeOf("p", 1), sync);
    const seen = await until(client);
    // Rows that had come are the portal's.
    expect(letters(seen)).toBe("DsZ");
    client.send(queryOf("select 'in' from t"));
    const next = await until(client);
    expect([letters(next), statusAt(next)]).toEqual(["EZ", "E"]);
    client.send(rollback);
    expect(statusAt(await until(client))).toBe("I");
  });

  it("in the middle of a COPY of its client's passes over what was on its way", async () => {
    await using stand = await standOf("d");
    const { client } = stand;
    client.send(queryOf("copy t from stdin"));
    expect(letters(await until(client, "G"))).toBe("G");
    client.send(
      messageOf("d", Buffer.from("1\n")),
      messageOf("d", Buffer.from("2\n")),
      messageOf("c"),
    );
    const seen = await until(client);
    expect([letters(seen), codeOf(seen)]).toEqual(["EZ", broken]);
    client.send(queryOf("select 'lives' from t"));
    expect(letters(await until(client))).toBe("TDCZ");
  });
});

/** A gateway before a server that ends its connection, once, at this message of the statement that dies. */
async function standOf(letter: string) {
  let died = false;
  const server = await ScriptedPostgres.start((seen) => {
    const dies =
      !died && seen.letter === letter && (seen.text.includes("'dies'") || letter === "d");
    died ||= dies;
    return dies ? "close" : answerOf(seen);
  });
  const auth = { type: "basic", username: "gateway", password: "none" };
  const hosts = [`127.0.0.1:${server.port}`];
  const local = { engine: "postgresql", hosts, auth, poolSize: 1 };
  const gateway = await gatewayOf(configOf({ clusters: { local } }));
  const quiet = { options: "-c gateway.report_query_id=off" };
  const client = await RawClient.start(portOf(gateway, "postgresWire"), quiet);
  return {
    client,
    server,
    [Symbol.asyncDispose]: async () => {
      client.destroy();
      await gateway[Symbol.asyncDispose]();
      await server[Symbol.asyncDispose]();
    },
  };
}

function answerOf({ letter, text }: Parameters<Script>[0]): ReturnType<Script> {
  const ready = message("Z", [/^BEGIN|'parts'|'in'/.test(text) ? 0x54 : 0x49]);
  switch (letter) {
    case "P":
      return [message("1")];
    case "B":
      return [message("2")];
    case "D":
      return [columns];
    case "E":
      return text.includes("'parts'") ? [row, row, row, done] : [row, done];
    case "S":
      return [ready];
    case "Q": {
      if (text.includes("copy t")) return [message("G", [0, 0, 0])];
      if (text.includes("from t")) return [columns, row, done, ready];
      const word = text.split(/[ ;]/, 1)[0] ?? "";
      return [message("C", [...Buffer.from(`${word}\0`)]), ready];
    }
    default:
      return [];
  }
}

async function until(client: RawClient, last = "Z"): Promise<readonly Seen[]> {
  const seen = await client.until(last);
  return seen.filter((one) => one.type !== "S" || !statusOf(one)[0].startsWith("gateway."));
}

function codeOf(seen: readonly Seen[]): string | undefined {
  const error = seen.find(({ type }) => type === "E");
  return error && fieldsOf(error)["C"];
}

function statusAt(seen: readonly Seen[]): string | undefined {
  return seen.at(-1)?.body.toString();
}
