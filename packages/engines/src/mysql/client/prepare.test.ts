import { Home } from "@gateway/core/query/home.ts";
import { columnType, commandCode } from "@gateway/wire/mysql/protocol.ts";
import { describe, expect, it } from "vitest";
import { hostOf, identifiedOf, never, valueOf } from "../../rig/backend.ts";
import { open } from "../adapter.ts";
import { mysqlConfig } from "../config.ts";
import { columnOf, eofOf, preparedOf, ScriptedMysql, type Seen } from "../rig/scripted.ts";

const { json, string, longlong } = columnType;

/** An execution of three values: one JSON, one number and one more JSON, whose bytes are the types' numbers as well. */
const body = Uint8Array.of(0, 1, json, 0, longlong, 0, json, 0, 2, 0x7b, 0x7d, ...number(json), 0);

function number(value: number): readonly number[] {
  return [value, 0, 0, 0, 0, 0, 0, 0];
}

/** What a server of this version is sent for it, behind the head. */
async function sentTo(version: string): Promise<Uint8Array | undefined> {
  const script = ({ code }: Seen) =>
    code === commandCode.stmtPrepare
      ? [preparedOf(9, 0, 3), columnOf("?"), columnOf("?"), columnOf("?"), eofOf()]
      : undefined;
  await using server = await ScriptedMysql.start(script, version);
  const auth = { type: "basic", username: "ann", password: "none" };
  const hosts = [`127.0.0.1:${server.port}`];
  const config = mysqlConfig.parse({ engine: "mysql", hosts, auth });
  await using backend = valueOf(await open("c", config, hostOf()));
  const execution = { parameters: 3, body, longData: new Map() };
  const mysql = { home: new Home(), foundRows: false, ignoreSpace: false, execution };
  const session = { frontend: "mysqlWire", dialect: "mysql" } as const;
  const takes = ["mysqlRows", "mysqlBinaryRows", "mysqlNext"] as const;
  const query = { ...identifiedOf("do sleep(? + ? + ?)", [], session), mysql, takes };
  const kinds: string[] = [];
  for await (const { kind } of backend.execute(query, never)) kinds.push(kind);
  expect(kinds.at(-1)).toBe("done");
  return server.seen.find(({ code }) => code === commandCode.stmtExecute)?.payload.subarray(10);
}

describe("values of a prepared statement", () => {
  it("go to a MySQL as they came", async () => {
    expect(await sentTo("9.1.0")).toEqual(Buffer.from(body));
  });

  it("go to a MariaDB with its JSON as strings, and nothing else of them changed", async () => {
    const strings = Buffer.from(body);
    strings[2] = string;
    strings[6] = string;
    expect(await sentTo("5.5.5-10.11.2-MariaDB")).toEqual(strings);
  });
});
