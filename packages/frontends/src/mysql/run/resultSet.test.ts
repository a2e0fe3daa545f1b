/** An answer that came whole is, byte for byte, what its events one by one are. */
import type { ResultEvent } from "@gateway/core/query/event.ts";
import { columnOf } from "@gateway/core/type/build.ts";
import { capability } from "@gateway/wire/mysql/protocol.ts";
import { describe, expect, it } from "vitest";
import type { Script } from "../../rig/scriptedDoor.ts";
import { doneOf, serverOf } from "../rig/mysql.ts";
import { ascii, flags, packetOf, RawClient } from "../rig/raw.ts";

const columns = [columnOf("a", { kind: "text" })];
const definitions = Buffer.from(packetOf("036465660000000161000cff00fcff0300fd0000000000", 2));
const others = Buffer.from(packetOf("036465660000000162000cff00fcff0300fd0000000000", 2));
const report = { changedCount: 0, insertId: 0n, info: "", foundRows: undefined };
/** No index was used. */
const noIndex = 32;

const answers = {
  "select a": resultOf(definitions, 2),
  "select slow": resultOf(definitions, 2, { status: 2 | noIndex }),
  "select b": resultOf(others, 1),
  "select many": resultOf(definitions, 300),
  "select none": [...resultOf(definitions, 1).slice(0, 1), doneOf()],
  "select warned": resultOf(definitions, 1, { warnings: 3 }),
} as const satisfies Record<string, readonly ResultEvent[]>;

const asked = Object.keys(answers).flatMap((sql) => [sql, sql, sql, "select a"]);
const counted = ["select found_rows()", "select row_count()"];

describe("an answer that came whole", () => {
  it.each([
    ["that does without EOF", flags],
    ["that waits for EOF", flags & ~capability.deprecateEof],
  ])("is as its events one by one for a client %s", async (_, capabilities) => {
    const texts = asked.flatMap((sql) => [sql, ...counted]);
    const oneByOne = await bytesOf(texts, capabilities, false);
    expect(await bytesOf(texts, capabilities, true)).toEqual(oneByOne);
    expect(new Set(oneByOne).size).toBeGreaterThan(8);
  });

  it("ends at the session's limit of rows", async () => {
    const texts = ["set sql_select_limit = 1", "select a", "select a"];
    // A server of MySQL's has the limit itself.
    const oneByOne = await bytesOf(texts, flags, false, {});
    expect(await bytesOf(texts, flags, true, {})).toEqual(oneByOne);
  });

  it("may be one of several", async () => {
    const texts = ["select a; select b; select a"];
    const capabilities = flags | capability.multiStatements | capability.multiResults;
    const oneByOne = await bytesOf(texts, capabilities, false);
    expect(await bytesOf(texts, capabilities, true)).toEqual(oneByOne);
  });
});

/** Everything that a client is sent for each text, a ping behind it: its answer ends what is read. */
async function bytesOf(
  texts: readonly string[],
  capabilities: number,
  whole: boolean,
  engine: Partial<Script> = { dialect: "mysql", speaks: "mysql" },
) {
  await using server = await serverOf({ answers, ...engine });
  if (whole)
    Object.assign(server.door, {
      answer: ({ sql }: { readonly sql: keyof typeof answers }) => Promise.resolve(answers[sql]),
    });
  using client = await RawClient.login(server, capabilities);
  const found: string[] = [];
  for (const text of texts) {
    const came: Buffer[] = [];
    const take = (bytes: Buffer) => void came.push(bytes);
    client.socket.on("data", take);
    client.send(`03${ascii(text)}`, "0e");
    const pong = packetOf("00000002000000", 1);
    const isOver = () => Buffer.concat(came).subarray(-pong.length).equals(pong);
    while (!isOver()) await client.answer();
    client.socket.off("data", take);
    found.push(Buffer.concat(came).toString("hex"));
  }
  expect(server.bugs()).toEqual([]);
  return found;
}

function resultOf(
  bytes: Uint8Array,
  rows: number,
  { status = 2, warnings = 0 } = {},
): readonly ResultEvent[] {
  const packets = Array.from({ length: rows }, (_, row) => packetOf("0178", (row + 4) & 0xff));
  const native = { format: "mysqlRows", bytes, status: 2 } as const;
  const rest = { form: "native", format: "mysqlRows", rows } as const;
  return [
    { kind: "columns", columns, native },
    { kind: "batch", batch: { ...rest, bytes: Buffer.concat(packets) } },
    doneOf({ report: { ...report, warnings, status } }),
  ];
}
