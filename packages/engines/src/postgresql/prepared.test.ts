/** Statements that a connection keeps prepared: sent once, for one user, and never believed when the server is of another mind. */
import type { Backend, Lane } from "@gateway/core/port/backend.ts";
import { statementTag } from "@gateway/core/query/tag.ts";
import type { Identified } from "@gateway/core/query/query.ts";
import { describe, expect, it } from "vitest";
import { hostOf, identifiedOf, never, valueOf } from "../rig/backend.ts";
import { open } from "./adapter.ts";
import { postgresqlConfig, type PostgresqlConfig } from "./config.ts";
import { message, ScriptedPostgres, type SeenMessage } from "./rig/scripted.ts";
import { hidden, preparedTag, tagOfPrepared } from "./sql/preparedTag.ts";

const sql = "select n from t where id = $1";
const firstShared = "PBEPBDES";
const againShared = "BEBDES";

describe("a statement that its client keeps prepared", () => {
  it("is parsed once on a connection, and tagged each time", async () => {
    await using server = await served();
    await using backend = await backendOf(server, { preparedStatementsMax: 2 });
    expect(await run(backend, queryOf(sql))).toBe("done");
    expect(await run(backend, queryOf(sql))).toBe("done");
    expect(server.letters()).toBe(firstShared + againShared);
  });

  it("is parsed each time unless that was asked for, and where a function may do anything", async () => {
    await using server = await served();
    await using plain = await backendOf(server, {});
    for (let turn = 0; turn < 2; turn += 1) await run(plain, queryOf(sql));
    expect(server.letters()).toBe("PBDESPBDES");
    await using backend = await backendOf(server, { preparedStatementsMax: 2 });
    const unnamed = queryOf(sql);
    await run(backend, { ...unnamed, call: { ...unnamed.call, statement: undefined } });
    await run(backend, queryOf("select own_function($1)"));
    expect(server.letters().slice(10)).toMatch(/^PBDESPBDES(?:Q|$)/);
  });

  it("shows no other user what was prepared for one", async () => {
    await using server = await served();
    await using backend = await backendOf(server, { preparedStatementsMax: 2 });
    await run(backend, queryOf(sql, "ada"));
    await run(backend, queryOf(sql, "bob"));
    expect(server.letters()).toBe(`${firstShared}Q${firstShared}`);
    expect(server.texts()).toContain("DEALLOCATE ALL");
  });

  it("gives way to another where there are too many", async () => {
    await using server = await served();
    await using backend = await backendOf(server, { preparedStatementsMax: 1 });
    const other = "select m from t where id = $1";
    for (const text of [sql, other, sql, sql]) await run(backend, queryOf(text));
    const anew = "CBEPBDES";
    expect(server.letters()).toBe(firstShared + anew + anew + againShared);
  });

  it("is there under its client's name, and nothing else is, for a statement that reads the list", async () => {
    await using server = await served();
    await using backend = await backendOf(server, { preparedStatementsMax: 2 });
    await run(backend, queryOf(sql));
    const lists = queryOf("select name from pg_prepared_statements");
    const prepared = () => [{ name: "s", text: "select 's'", types: [23] }];
    server.lists(["gateway_1", 'odd "name"']);
    await run(backend, { ...lists, session: { ...lists.session, prepared } });
    expect(server.letters().slice(firstShared.length)).toMatch(/^QQPSPBDES(?:Q|$)/);
    const texts = server.texts().slice(firstShared.length);
    expect(texts[1]).toBe('DEALLOCATE "gateway_1"; DEALLOCATE "odd ""name"""');
    expect(texts[2]).toBe("\0select 's'\0\0\u0001\0\0\0\u0017");
    // Of a session that keeps none.
    await run(backend, lists);
    expect(server.letters()).toMatch(/QPBDES(?:Q|$)/);
    expect(server.texts()).toContain("DISCARD ALL");
  });

  it("is there before EXECUTE of it is described", async () => {
    await using server = await served();
    await using backend = await backendOf(server, { preparedStatementsMax: 2 });
    const executes = queryOf("execute s");
    const prepared = () => [{ name: "s", text: "select 's'", types: [] }];
    server.lists(["another"]);
    await backend.describe({ ...executes, session: { ...executes.session, prepared } }, never);
    expect(server.letters()).toMatch(/^QQPSPDS/);
    expect(server.texts().slice(1, 3)).toEqual(['DEALLOCATE "another"', "\0select 's'\0\0\0"]);
  });

  it("has nothing more to tell in a session's own connection", async () => {
    await using server = await served();
    await using backend = await backendOf(server, { poolMode: "session" });
    const kept = await backend.keep?.(queryOf(sql), never);
    if (kept === undefined) throw new Error("a pool by session keeps connections");
    const lane = valueOf(kept);
    for (let turn = 0; turn < 2; turn += 1) await run(lane, queryOf(sql));
    expect(server.letters()).toBe("PBDESBDES");
    await lane[Symbol.asyncDispose]();
  });

  it("is prepared anew where the server would have it so, and in a transaction its client hears of that", async () => {
    await using server = await served();
    await using backend = await backendOf(server, { preparedStatementsMax: 2 });
    await run(backend, queryOf(sql));
    server.fail("RevalidateCachedQuery");
    expect(await run(backend, queryOf(sql))).toBe("done");
    expect(server.letters().slice(firstShared.length)).toBe(`${againShared}PBDES`);
    await run(backend, queryOf(sql));
    const lane = valueOf(await backend.begin(queryOf("begin"), never));
    server.fail("RevalidateCachedQuery");
    expect(await run(lane, queryOf(sql))).toBe("query.unsupported");
    await lane[Symbol.asyncDispose]();
  });
});

describe("the tag of a prepared statement", () => {
  const shown = (query: Identified, shared: boolean) => {
    const tag = preparedTag(query, shared);
    return tag && tagOfPrepared(`${tag.prefix}select 1`, tag.name ?? "");
  };

  it("is the query's own in the server's list, or that of its lease", () => {
    const query = queryOf(sql);
    expect(shown(query, true)).toBe(statementTag(query));
    const long = { ...query, slot: { ...query.slot, holder: `i/${"l".repeat(60)}` } };
    expect(shown(long, true)).toBe(`gateway/${long.slot.holder}/prepared`);
    const longer = { ...query, slot: { ...query.slot, holder: `i/${"l".repeat(64)}` } };
    expect(preparedTag(longer, true)).toBeUndefined();
    expect(preparedTag(longer, false)?.prefix).toContain(longer.slot.holder);
  });

  it("is known to be hidden where a client's SQL changed the name", () => {
    const { prefix = "" } = preparedTag(queryOf(sql), true) ?? {};
    for (const name of ["", "a b", "x/y/z"])
      expect(tagOfPrepared(`${prefix}select 1`, name)).toBe(hidden);
    expect(tagOfPrepared("select 1 /* gateway/prepared/i */", "l/q")).toBeUndefined();
  });
});

type Asked = Identified & { readonly call: NonNullable<Identified["call"]> };

function queryOf(text: string, user = "ada"): Asked {
  const query = identifiedOf(text, [], { dialect: "postgres", frontend: "postgresWire" });
  const identity = { ...query.session.identity, user };
  const values = [Buffer.from("1")];
  const call = {
    types: [],
    formats: [],
    values,
    resultFormats: [],
    simple: false,
    statement: "one",
  };
  return { ...query, session: { ...query.session, identity }, call, takes: ["postgresRows"] };
}

/** `done`, or the code of its failure. */
async function run(on: Pick<Lane, "execute">, query: Identified): Promise<string> {
  let last = "";
  for await (const event of on.execute(query, never))
    last = event.kind === "failed" ? event.error.code : event.kind;
  return last;
}

async function served() {
  const seen: SeenMessage[] = [];
  let failing: string | undefined;
  let failed = false;
  let status = 0x49;
  const listed: string[] = [];
  const columns = Buffer.from("00016e0000000000000000000019ffffffffffff0000", "hex");
  const done = message("C", [...Buffer.from("SELECT 1\0")]);
  const answers: Readonly<Record<string, readonly Uint8Array[]>> = {
    P: [message("1")],
    B: [message("2")],
    D: [message("T", [...columns])],
    E: [message("D", [0, 1, 0, 0, 0, 1, 0x31]), done],
    C: [message("3")],
  };
  const server = await ScriptedPostgres.start((one) => {
    const { letter, text } = one;
    if (letter === "X") return [];
    seen.push(one);
    if (letter === "Q" && text.includes("pg_prepared_statements")) {
      const rows = listed.splice(0).map((name) => rowOf(name));
      return [message("T", [...columns]), ...rows, done, message("Z", [status])];
    }
    if (letter === "Q") {
      status = text === "BEGIN" ? 0x54 : 0x49;
      return [message("C", [...Buffer.from(`${text}\0`)]), message("Z", [status])];
    }
    if (letter === "S") {
      failed = false;
      return [message("Z", [status])];
    }
    if (failed) return [];
    // The first Bind of an execution is that of its tag.
    const binds = seen.slice(seen.findLastIndex((before) => before.letter === "S") + 1);
    const second = binds.filter((before) => before.letter === "B").length === 2;
    if (letter !== "B" || failing === undefined || !second) return answers[letter] ?? [];
    const fields = `SERROR\0VERROR\0C0A000\0Mcached plan\0R${failing}\0\0`;
    [failing, failed] = [undefined, true];
    if (status === 0x54) status = 0x45;
    return [message("E", [...Buffer.from(fields)])];
  });
  return {
    port: server.port,
    letters: () => seen.map(({ letter }) => letter).join(""),
    texts: () => seen.map(({ text }) => text),
    lists: (names: readonly string[]) => void listed.push(...names),
    fail: (routine: string) => {
      failing = routine;
    },
    [Symbol.asyncDispose]: () => server[Symbol.asyncDispose](),
  };
}

function rowOf(text: string): Uint8Array {
  return message("D", [0, 1, 0, 0, 0, text.length, ...Buffer.from(text)]);
}

async function backendOf(
  { port }: { readonly port: number },
  more: Partial<PostgresqlConfig>,
): Promise<Backend> {
  const config = postgresqlConfig.parse({
    engine: "postgresql",
    hosts: [`127.0.0.1:${port}`],
    auth: { type: "basic", username: "ann", password: "none" },
    poolSize: 1,
    ...more,
  });
  return valueOf(await open("c", config, hostOf()));
}
