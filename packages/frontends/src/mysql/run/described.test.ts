/** What a prepared statement is described with before it runs. */
import type { NativeFormat } from "@gateway/core/type/vector.ts";
import { PacketWriter } from "@gateway/wire/mysql/packetWriter.ts";
import { collationId, columnType } from "@gateway/wire/mysql/protocol.ts";
import { putColumn } from "@gateway/wire/mysql/reply.ts";
import { describe, expect, it } from "vitest";
import { clientOf, serverOf } from "../rig/mysql.ts";

const format: NativeFormat = "mysqlRows";
const column = { name: "told", type: { kind: "text" }, nullable: true } as const;

/** A definition as a server sends it, with names that a neutral column has not. */
function definitionOf(name: string, type: number): Uint8Array {
  const out = new PacketWriter();
  out.begin();
  const names = { schema: "demo", table: "customer", name };
  putColumn(out, {
    ...names,
    collation: collationId.binary,
    length: 11,
    type,
    flags: 1,
    decimals: 0,
  });
  out.end();
  return out.bytes.slice(0, out.at);
}

describe("the description of a prepared statement", () => {
  it("is the engine's own, in its packets", async () => {
    const native = {
      format,
      parameters: definitionOf("?", columnType.longlong),
      columns: definitionOf("id", columnType.long),
    };
    const description = { parameters: [{ kind: "null" }], columns: [column], native } as const;
    await using server = await serverOf({
      descriptions: { "select id from t where id = $1": description },
    });
    await using client = await clientOf(server);
    const prepared = (await client.prepare("select id from t where id = ?")) as unknown as {
      readonly statement: {
        readonly columns: readonly unknown[];
        readonly parameters: readonly unknown[];
      };
    };
    expect(prepared.statement.columns).toMatchObject([
      { schema: "demo", orgTable: "customer", name: "id", orgName: "id", columnLength: 11 },
    ]);
    expect(prepared.statement.parameters).toMatchObject([{ columnType: columnType.longlong }]);
  });

  it("says of a column of no table that it has no name there", async () => {
    const description = { parameters: [], columns: [column] };
    await using server = await serverOf({ descriptions: { "select 1": description } });
    await using client = await clientOf(server);
    const prepared = (await client.prepare("select 1")) as unknown as {
      readonly statement: { readonly columns: readonly unknown[] };
    };
    expect(prepared.statement.columns).toMatchObject([{ name: "told", orgName: "", table: "" }]);
  });
});
