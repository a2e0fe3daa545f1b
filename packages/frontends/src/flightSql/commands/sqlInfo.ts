/**
 * `CommandGetSqlInfo`: what this server is and can do. It answers what is true of the gateway itself; what differs
 * between engines is left out, as the protocol allows, but for the quote of names.
 */
import { ok } from "@gateway/core/result.ts";
import { vectorOf } from "@gateway/core/type/build.ts";
import type { Dialect } from "@gateway/core/sql/dialect.ts";
import type { DataType, Value } from "@gateway/core/type/type.ts";
import type { ArrowField } from "@gateway/wire/flight/arrowType.ts";
import { SqlInfo, SqlSupportedTransaction } from "../proto/FlightSql_pb.js";
import { bodySource, type Source } from "../run/source.ts";
import { bodyOf, type Body } from "../../arrow/body.ts";
import { fieldOf } from "../value/types.ts";

const text: DataType = { kind: "text" };
const int32: DataType = { kind: "integer", bits: 32, signed: true };

/** The members of the union, in the order of the protocol. */
const members = {
  string_value: text,
  bool_value: { kind: "boolean" },
  bigint_value: { kind: "integer", bits: 64, signed: true },
  int32_bitmask: int32,
  string_list: { kind: "list", item: text },
  int32_to_int32_list_map: { kind: "map", key: int32, value: { kind: "list", item: int32 } },
} as const satisfies Record<string, DataType>;

type Member = keyof typeof members;
const memberNames = Object.keys(members) as readonly Member[];

const codeField: ArrowField = fieldOf({
  name: "info_name",
  type: { kind: "integer", bits: 32, signed: false },
  nullable: false,
});

const fields: readonly ArrowField[] = [
  codeField,
  {
    name: "value",
    type: { kind: "union" },
    nullable: false,
    children: memberNames.map((name) => fieldOf({ name, type: members[name], nullable: true })),
    metadata: new Map(),
  },
];

interface Info {
  readonly code: number;
  readonly member: Member;
  readonly value: Value;
}

const name = "Query Gateway";

function string(code: SqlInfo, value: string): Info {
  return { code, member: "string_value", value };
}

function boolean(code: SqlInfo, value: boolean): Info {
  return { code, member: "bool_value", value };
}

function infosFor(dialect: Dialect): readonly Info[] {
  const quote = dialect === "mysql" || dialect === "clickhouse" ? "`" : '"';
  return [
    string(SqlInfo.FLIGHT_SQL_SERVER_NAME, name),
    string(SqlInfo.FLIGHT_SQL_SERVER_VERSION, "1"),
    boolean(SqlInfo.FLIGHT_SQL_SERVER_READ_ONLY, false),
    boolean(SqlInfo.FLIGHT_SQL_SERVER_SQL, true),
    boolean(SqlInfo.FLIGHT_SQL_SERVER_SUBSTRAIT, false),
    {
      code: SqlInfo.FLIGHT_SQL_SERVER_TRANSACTION,
      member: "int32_bitmask",
      value: BigInt(SqlSupportedTransaction.TRANSACTION),
    },
    boolean(SqlInfo.FLIGHT_SQL_SERVER_CANCEL, true),
    boolean(SqlInfo.FLIGHT_SQL_SERVER_BULK_INGESTION, true),
    boolean(SqlInfo.FLIGHT_SQL_SERVER_INGEST_TRANSACTIONS_SUPPORTED, true),
    string(SqlInfo.SQL_IDENTIFIER_QUOTE_CHAR, quote),
  ];
}

/** What was asked for, of what is known; everything when nothing was named. */
export function sqlInfo(codes: readonly number[], dialect: Dialect): Source {
  const wanted = new Set(codes);
  const infos = infosFor(dialect).filter(({ code }) => wanted.size === 0 || wanted.has(code));
  return bodySource(fields, async () => ok(infoBody(infos)));
}

/** A dense union: for each row which member it is, and which value of that member. */
function infoBody(infos: readonly Info[]): Body {
  const codes = vectorOf(
    { kind: "integer", bits: 32, signed: false },
    infos.map(({ code }) => BigInt(code)),
  );
  const head = bodyOf([
    {
      batch: { form: "columnar", rows: infos.length, columns: [codes] },
      from: 0,
      count: infos.length,
    },
  ]);
  const counts = new Map<Member, number>();
  const places = infos.map(({ member }) => {
    const place = counts.get(member) ?? 0;
    counts.set(member, place + 1);
    return place;
  });
  const types = Uint8Array.from(infos, ({ member }) => memberNames.indexOf(member));
  const offsets = new Uint8Array(Int32Array.from(places).buffer);
  const nodes = [...head.nodes, { length: infos.length, nullCount: 0 }];
  const buffers = [
    ...head.buffers,
    { length: types.length, chunks: [types] },
    { length: offsets.length, chunks: [offsets] },
  ];
  for (const member of memberNames) {
    const values = infos.filter((info) => info.member === member).map(({ value }) => value);
    const column = vectorOf(members[member], values);
    const batch = { form: "columnar", rows: values.length, columns: [column] } as const;
    const child = bodyOf([{ batch, from: 0, count: values.length }]);
    nodes.push(...child.nodes);
    buffers.push(...child.buffers);
  }
  return { rows: infos.length, nodes, buffers };
}
