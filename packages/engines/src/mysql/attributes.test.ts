/** Query attributes of a client: beside its statement alone, and only to a server that takes them. */
import type { ResultEvent } from "@gateway/core/query/event.ts";
import { Home } from "@gateway/core/query/home.ts";
import type { MysqlCall } from "@gateway/core/query/mysqlCall.ts";
import { capability, columnType, commandCode } from "@gateway/wire/mysql/protocol.ts";
import { describe, expect, it } from "vitest";
import { hostOf, identifiedOf, never, valueOf } from "../rig/backend.ts";
import { open } from "./adapter.ts";
import { mysqlConfig } from "./config.ts";
import { columnOf, eofOf, preparedOf, ScriptedMysql, type Seen } from "./rig/scripted.ts";

const { varString, longlong } = columnType;
const sql = "select a from t";

/** `a` is `x`, `b` is NULL. */
const attributes = {
  count: 2,
  nulls: Uint8Array.of(2),
  types: Uint8Array.of(varString, 0, 1, 0x61, varString, 0, 1, 0x62),
  values: Uint8Array.of(1, 0x78),
};
const attributesHex = hexOf(attributes.types);
/** One value, which is NULL, and a number. */
const execution = {
  parameters: 2,
  body: Uint8Array.of(1, 1, longlong, 0x80, longlong, 0, 7, 0, 0, 0, 0, 0, 0, 0),
  longData: new Map<number, Uint8Array>(),
};
const noValues = { parameters: 0, body: new Uint8Array(0), longData: new Map() };

describe("a text", () => {
  it("goes with its attributes behind the code, the tag in the text", async () => {
    const { sent } = await sentFor({ attributes });
    expect(sent).toMatch(new RegExp(`^0302010201${attributesHex}0178${hexOf("/* gateway/")}`));
    expect(sent.endsWith(hexOf(` */ ${sql}`))).toBe(true);
  });

  it("says that there are none, also where it is long", async () => {
    expect((await sentFor({})).sent).toMatch(new RegExp(`^030001${hexOf("/* gateway/")}`));
    const long = `select '${"x".repeat(2_000)}'`;
    const { sent } = await sentFor({}, { text: long });
    expect(sent).toMatch(new RegExp(`^030001${hexOf("/* gateway/")}`));
    expect(sent.endsWith(hexOf(long))).toBe(true);
  });

  it("brings none to what is asked for it", async () => {
    const session = { settings: new Map([["sql_mode", "ANSI"]]), schema: "other" };
    const { seen } = await sentFor({ attributes }, { session });
    const own = seen.filter(({ code, tagged }) => code === commandCode.query && !tagged);
    expect(own.length).toBeGreaterThan(0);
    for (const { payload } of own) expect([...payload.subarray(0, 3)]).toEqual([3, 0, 1]);
  });

  it("goes as it always did to a server that takes none", async () => {
    expect((await sentFor({}, { takes: false })).sent).toMatch(
      new RegExp(`^03${hexOf("/* gateway/")}`),
    );
  });

  it("is refused there with some: nothing of it is sent", async () => {
    for (const call of [{ attributes }, { attributes, execution: noValues }]) {
      const { seen, last } = await sentFor(call, { takes: false });
      expect(last).toMatchObject({ kind: "failed", error: { code: "query.unsupported" } });
      expect(seen.some(({ tagged }) => tagged)).toBe(false);
    }
  });
});

describe("an execution", () => {
  it("has its values first, without names, and the attributes behind them", async () => {
    const { sent } = await sentFor({ attributes, execution }, { places: 2 });
    const types = `${hexOf([longlong, 0x80, 0])}${hexOf([longlong, 0, 0])}${attributesHex}`;
    expect(sent).toBe(`17090000000801000000040901${types}07000000000000000178`);
  });

  it("has names without attributes too, and nothing at all without values", async () => {
    const { sent } = await sentFor({ execution }, { places: 2 });
    const types = `${hexOf([longlong, 0x80, 0])}${hexOf([longlong, 0, 0])}`;
    expect(sent).toBe(`17090000000801000000020101${types}0700000000000000`);
    expect((await sentFor({ execution: noValues })).sent).toBe("17090000000001000000");
  });

  it("has attributes alone where the statement has no places", async () => {
    const { sent } = await sentFor({ attributes, execution: noValues });
    expect(sent).toBe(`17090000000801000000020201${attributesHex}0178`);
  });

  it("goes as the client sent it to a server that takes none", async () => {
    const { sent } = await sentFor({ execution }, { takes: false, places: 2 });
    expect(sent).toBe(`17090000000001000000${hexOf(execution.body)}`);
  });
});

describe("what a server says of itself", () => {
  it.each([true, false])("has whether it takes attributes: %s", async (takes) => {
    await using server = await scripted({ takes });
    await using backend = await backendOf(server);
    await backend.probe(never);
    expect(backend.statuses?.get("query_attributes")).toBe(takes ? "ON" : "OFF");
  });
});

interface Way {
  readonly takes?: boolean;
  readonly places?: number;
  readonly text?: string;
  readonly session?: object;
}

/** What the server gets of the client's own statement, its own packet as digits. */
async function sentFor(call: Partial<MysqlCall>, way: Way = {}) {
  await using server = await scripted(way);
  await using backend = await backendOf(server);
  const session = { frontend: "mysqlWire", dialect: "mysql", ...way.session } as const;
  const takes = ["mysqlRows", "mysqlBinaryRows", "mysqlNext"] as const;
  const mysql = { home: new Home(), foundRows: false, ignoreSpace: false, ...call };
  const query = { ...identifiedOf(way.text ?? sql, [], session), mysql, takes };
  let last: ResultEvent | undefined;
  for await (const event of backend.execute(query, never)) last = event;
  const { seen } = server;
  const isOwn = ({ code, tagged }: Seen) =>
    code === commandCode.stmtExecute || (code === commandCode.query && tagged);
  return { seen, last, sent: hexOf(seen.find(isOwn)?.payload ?? []) };
}

function scripted({ takes = true, places = 0 }: Way): Promise<ScriptedMysql> {
  const definitions = Array.from({ length: places }, () => columnOf("?"));
  const prepared = [preparedOf(9, 0, places), ...definitions, ...(places > 0 ? [eofOf()] : [])];
  const script = ({ code }: Seen) => (code === commandCode.stmtPrepare ? prepared : undefined);
  return ScriptedMysql.start(script, "9.1.0", takes ? capability.queryAttributes : 0);
}

async function backendOf(server: ScriptedMysql) {
  const auth = { type: "basic", username: "ann", password: "none" };
  const hosts = [`127.0.0.1:${server.port}`];
  return valueOf(await open("c", mysqlConfig.parse({ engine: "mysql", hosts, auth }), hostOf()));
}

function hexOf(bytes: Uint8Array | readonly number[] | string): string {
  return Buffer.from(bytes as Uint8Array).toString("hex");
}
