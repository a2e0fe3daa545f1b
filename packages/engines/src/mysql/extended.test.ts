/** MariaDB's blocks in column definitions: for clients that agreed to them, and out of sight of all others. */
import type { ResultEvent } from "@gateway/core/query/event.ts";
import { streamOf } from "@gateway/core/query/courseStream.ts";
import { Home } from "@gateway/core/query/home.ts";
import { packetHeaderBytes, commandCode } from "@gateway/wire/mysql/protocol.ts";
import { describe, expect, it } from "vitest";
import { hostOf, identifiedOf, never, valueOf } from "../rig/backend.ts";
import { open } from "./adapter.ts";
import { mysqlConfig } from "./config.ts";
import { columnOf, eofOf, preparedOf, ScriptedMysql, status, type Answer } from "./rig/scripted.ts";

const fixedBytes = 13;
/** A text that is JSON; another of which nothing is said. */
const [json, other] = [withBlock(columnOf("a"), "0601046a736f6e"), withBlock(columnOf("b"), "00")];
const [plainJson, plainOther] = [hexOf(columnOf("a")), hexOf(columnOf("b"))];
const row = Uint8Array.of(2, 0x7b, 0x7d, 1, 0x78);
const answer = [Uint8Array.of(2), json, other, eofOf(), row, eofOf()];
const several = [...answer.slice(0, 5), eofOf(status.autocommit | status.more), ...answer];

describe("column definitions of a MariaDB", () => {
  it.each([
    ["at once", true],
    ["piece by piece", false],
  ] as const)(
    "reach a client that agreed to their blocks as they came, %s",
    async (_how, whole) => {
      const agreed = { extendedMetadata: true, whole };
      expect(await definitions(answer, agreed)).toEqual([hexOf(json), hexOf(other)]);
      expect(await definitions(answer, { whole })).toEqual([plainJson, plainOther]);
      expect(await definitions(answer, agreed)).toEqual([hexOf(json), hexOf(other)]);
    },
  );

  it("do so with each of several results", async () => {
    const both = await definitions(several, { extendedMetadata: true });
    expect(both).toEqual([json, other, json, other].map(hexOf));
    expect(await definitions(several, {})).toEqual([0, 1].flatMap(() => [plainJson, plainOther]));
  });

  it("do so as it describes a statement", async () => {
    const prepared = [preparedOf(3, 1, 1), other, eofOf(), json, eofOf()];
    for (const [extendedMetadata, wanted] of [
      [true, [hexOf(other), hexOf(json)]],
      [undefined, [plainOther, plainJson]],
    ] as const) {
      await using server = await scripted(prepared);
      await using backend = await backendOf(server);
      const described = valueOf(await backend.describe(queryOf(extendedMetadata, "do ?"), never));
      const { native } = described;
      if (native?.format !== "mysqlRows") throw new Error("no definitions");
      expect([native.parameters, native.columns].flatMap(payloadsIn)).toEqual(wanted);
    }
  });

  it("are the server's lie where a block is longer than it says", async () => {
    const longer = withBlock(columnOf("a"), "0501046a736f6e");
    await using server = await scripted([Uint8Array.of(1), longer, eofOf(), row, eofOf()]);
    await using backend = await backendOf(server);
    const events = await eventsOf(backend.execute(queryOf(true), never));
    expect(events.at(-1)).toMatchObject({ kind: "failed", error: { code: "engine.broken" } });
  });
});

describe("what a server says of itself", () => {
  it("is known from the first check, and from any connection", async () => {
    await using server = await ScriptedMysql.start(() => undefined, "5.5.5-10.11.6-MariaDB");
    await using backend = await backendOf(server);
    expect(backend.statuses).toBeUndefined();
    await backend.probe(never);
    expect(backend.statuses?.get("version")).toBe("5.5.5-10.11.6-MariaDB");
    await using again = await backendOf(server);
    await eventsOf(again.execute(queryOf(undefined), never));
    expect(Object.fromEntries(again.statuses ?? [])).toEqual({
      version: "5.5.5-10.11.6-MariaDB",
      mariadb_capabilities: "0",
      query_attributes: "OFF",
    });
  });
});

/** Payloads of all definitions of the answer, in order. */
async function definitions(
  answered: Answer,
  { extendedMetadata, whole = false }: { extendedMetadata?: boolean; whole?: boolean },
): Promise<readonly string[]> {
  await using server = await scripted(answered);
  await using backend = await backendOf(server);
  const query = queryOf(extendedMetadata);
  const events = await eventsOf(
    whole && backend.course
      ? streamOf(backend.course(query, never, true))
      : backend.execute(query, never),
  );
  expect(events.at(-1)?.kind).toBe("done");
  return events.flatMap((event) => {
    if (event.kind === "columns") return payloadsIn(bytesOf(event));
    if (event.kind === "done" && event.whole !== undefined)
      return payloadsIn(bytesOf(event.whole.columns));
    const isNext = event.kind === "batch" && event.batch.form === "native";
    return isNext && event.batch.format === "mysqlNext" ? payloadsIn(event.batch.bytes) : [];
  });
}

function bytesOf({ native }: Extract<ResultEvent, { kind: "columns" }>): Uint8Array {
  if (native?.format !== "mysqlRows") throw new Error("no definitions");
  return native.bytes;
}

async function eventsOf(stream: AsyncIterable<ResultEvent>): Promise<readonly ResultEvent[]> {
  const events: ResultEvent[] = [];
  for await (const event of stream) events.push(event);
  return events;
}

function queryOf(extendedMetadata: boolean | undefined, sql = "select a, b from t") {
  const session = { frontend: "mysqlWire", dialect: "mysql" } as const;
  const takes = ["mysqlRows", "mysqlBinaryRows", "mysqlNext"] as const;
  const mysql = { home: new Home(), foundRows: false, ignoreSpace: false, extendedMetadata };
  return { ...identifiedOf(sql, [], session), mysql, takes };
}

function scripted(answered: Answer): Promise<ScriptedMysql> {
  return ScriptedMysql.start(({ code, tagged }) => {
    const isAsked = tagged && (code === commandCode.query || code === commandCode.stmtPrepare);
    return isAsked ? answered : undefined;
  }, "5.5.5-10.11.6-MariaDB");
}

async function backendOf(server: ScriptedMysql) {
  const auth = { type: "basic", username: "ann", password: "none" };
  const hosts = [`127.0.0.1:${server.port}`];
  return valueOf(await open("c", mysqlConfig.parse({ engine: "mysql", hosts, auth }), hostOf()));
}

function withBlock(definition: Uint8Array, block: string): Uint8Array {
  const at = definition.length - fixedBytes;
  const bytes = Buffer.from(block, "hex");
  return Buffer.concat([definition.subarray(0, at), bytes, definition.subarray(at)]);
}

function payloadsIn(packets: Uint8Array): readonly string[] {
  const found: string[] = [];
  for (let at = 0; at < packets.length;) {
    const end = at + packetHeaderBytes + (packets[at] ?? 0);
    found.push(hexOf(packets.subarray(at + packetHeaderBytes, end)));
    at = end;
  }
  return found;
}

function hexOf(bytes: Uint8Array): string {
  return Buffer.from(bytes).toString("hex");
}
