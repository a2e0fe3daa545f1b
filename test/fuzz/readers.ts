/**
 * Readers of what strangers and peers send that have no generator of their own: Arrow's messages, Flight's commands,
 * ClickHouse's blocks and fields, Snowflake's bindings, tokens and keys, and what processes say to each other. None may
 * throw but what its contract names, keep a promise open, or answer more than its limit.
 */
import { EventEmitter } from "node:events";
import { generateKeyPairSync } from "node:crypto";
import { Secret } from "@gateway/core/secret.ts";
import { virtualHost } from "@gateway/core/rig/virtual.ts";
import { readKeys } from "@gateway/access/client/oidc/jwks.ts";
import { fingerprintOf, UserKeys } from "@gateway/access/client/static/keyPair.ts";
import { looksLikeToken, readHead } from "@gateway/access/client/token.ts";
import { fieldsOf } from "@gateway/frontends/clickhouse/read/fields.ts";
import { createsTemporary } from "@gateway/frontends/clickhouse/read/firstWords.ts";
import { insertForm } from "@gateway/frontends/clickhouse/read/insertForm.ts";
import { numberedParameters } from "@gateway/frontends/clickhouse/read/namedParameters.ts";
import {
  endFrame,
  FrameError,
  headerFrame,
  messageFrame,
  readAnswer,
  readRequest,
  requestFrame,
} from "@gateway/frontends/flightSql/carry/frames.ts";
import { handleIn } from "@gateway/frontends/flightSql/carry/named.ts";
import { methodTable, type MethodName } from "@gateway/frontends/flightSql/machine.ts";
import { readCommand } from "@gateway/frontends/flightSql/read/command.ts";
import { statementOf } from "@gateway/frontends/flightSql/rig/client.ts";
import { parameterFields, parameterRows } from "@gateway/frontends/flightSql/value/parameters.ts";
import { bulkOf } from "@gateway/frontends/snowflake/read/arrays.ts";
import { respelled } from "@gateway/frontends/snowflake/read/literals.ts";
import { readLocal } from "@gateway/frontends/snowflake/read/local.ts";
import { newState } from "@gateway/frontends/snowflake/session/state.ts";
import { readBindings } from "@gateway/frontends/snowflake/value/bindings.ts";
import { idOf, uuidOf } from "@gateway/frontends/snowflake/value/queryUuid.ts";
import type { Chance } from "@gateway/wire/http/rig/responses.ts";
import { Channel, type Port } from "@gateway/gateway/processes/channel.ts";
import type { ToParent } from "@gateway/gateway/processes/message.ts";
import { Switchboard, type Line } from "@gateway/gateway/processes/switchboard.ts";
import { readMessage } from "@gateway/wire/flight/arrowRead.ts";
import { batchMetadata, schemaMetadata } from "@gateway/wire/flight/arrowWrite.ts";
import type { ArrowField, ArrowType } from "@gateway/wire/flight/arrowType.ts";
import { compressedBlocks, readCompressed } from "@gateway/wire/clickhouse/compressed.ts";
import { lz4Bound, lz4Compress, lz4Decompress } from "@gateway/wire/clickhouse/lz4.ts";
import { damagedBytes, damagedJson, damagedText, some } from "./damage.ts";

/** One made-up input, read. Throws what is a bug. `accepted` says that it was taken and not refused. */
export type Target = (chance: Chance) => boolean | Promise<boolean>;

const bytesMax = 4_096;
const rowsMost = 1_000_000;

const types: readonly ArrowType[] = [
  { kind: "utf8" },
  { kind: "largeUtf8" },
  { kind: "binary" },
  { kind: "bool" },
  { kind: "null" },
  { kind: "int", bits: 64, signed: true },
  { kind: "int", bits: 8, signed: false },
  { kind: "float", bits: 64 },
  { kind: "float", bits: 32 },
  { kind: "decimal", precision: 10, scale: 2, bits: 128 },
  { kind: "date", unit: "day" },
  { kind: "date", unit: "ms" },
  { kind: "time", unit: "us" },
  { kind: "timestamp", unit: "us", zone: "UTC" },
  { kind: "timestamp", unit: "ns", zone: undefined },
  { kind: "interval" },
  { kind: "fixedBinary", width: 16 },
  { kind: "list" },
  { kind: "struct" },
];
const fields: readonly ArrowField[] = types.map((type, index) => ({
  name: `c${index}`,
  type,
  nullable: true,
  children: type.kind === "list" ? [fieldOf({ kind: "int", bits: 32, signed: true })] : [],
  metadata: new Map([["k", "v"]]),
}));
const schemas = [schemaMetadata(fields), schemaMetadata([fieldOf({ kind: "utf8" })])];
const bodies = [
  new Uint8Array(64).fill(7),
  new Uint8Array(256),
  Uint8Array.of(1, 2, 3, 4, 5, 6, 7, 8),
];
const batches = [[8, 16, 32], [0, 64], [8, 8], []].map(
  (bufferLengths) =>
    batchMetadata({ rows: 1, nodes: [{ length: 1, nullCount: 0 }], bufferLengths }).metadata,
);

const plain = Buffer.from("a text that is a text that is a text".repeat(4));
const blocks = [compressedBlocks(plain), compressedBlocks(new Uint8Array(500))];
const packed = packedOf(plain);

const commands = [statementOf("select 1"), statementOf("select '😀' -- x")];
const methods = Object.keys(methodTable) as readonly MethodName[];
const frames = [
  Buffer.concat([headerFrame("a", "b"), messageFrame(Buffer.from("xy")), endFrame(undefined)]),
  Buffer.concat([messageFrame(Buffer.alloc(300)), endFrame({ code: 5, details: "gone" })]),
  Buffer.concat([requestFrame(plain), requestFrame(Buffer.alloc(0))]),
];

const statements = [
  "insert into t (a, b) values (?, ?)",
  "select {a:UInt8}, '{b:String}' from t format JSON settings x = 1",
  "create or replace temporary table t (a String) as select 'it\\'s'",
  "alter session set TIMEZONE = 'UTC'",
  "use schema a.b",
  "use role r",
  "alter session unset TIMEZONE;",
  "put file://a @b",
  "set x = 1",
  "insert into t format CSV\n1,2",
  'select $$a$$, "q""q", `x`, /* c */ -- d\n 1',
];
const queryStrings = [
  "query=select+1&user=a&password=b&param_a=1&session_id=x&session_timeout=60",
  "database=d&default_format=JSON&max_execution_time=1.5&wait_end_of_query=1",
];
const bindings = [
  { 1: { type: "FIXED", value: "5" }, 2: { type: "TEXT", value: "a" } },
  {
    1: { type: "TIMESTAMP_TZ", value: ["1 2", null] },
    2: { type: "BINARY", value: ["00ff", "7"] },
  },
  { 1: { type: "DATE", value: "1700000000000" }, 2: { type: "REAL", value: "1e400" } },
  { 1: { type: "BOOLEAN", value: "true" }, 2: { type: "TIME", value: "3600000000000" } },
  {
    1: { type: "TIMESTAMP_NTZ", value: "1700000000000000000" },
    2: { type: "FIXED", value: "1.5" },
  },
];

const pair = generateKeyPairSync("rsa", { modulusLength: 2_048 });
const jwk = { ...pair.publicKey.export({ format: "jwk" }), kid: "a", alg: "RS256", use: "sig" };
const owner = { rsaPublicKey: String(pair.publicKey.export({ format: "pem", type: "spki" })) };
const userKeys = new UserKeys("acc", { ann: owner });
const now = 1_000;
const tokens = [
  tokenOf(
    { alg: "RS256" },
    { sub: "ACC.ANN", iss: `ACC.ANN.${fingerprintOf(pair.publicKey)}`, iat: now, exp: now + 60 },
  ),
  tokenOf({ alg: "RS256", kid: "a" }, { sub: "ACC.ANN", iss: "ACC.ANN.SHA256:x", iat: 1, exp: 2 }),
  tokenOf({ alg: "none", typ: "JWT" }, { sub: "a" }),
  tokenOf({ alg: "ES256", crit: ["b64"], b64: false }, {}),
];

const siblingMessages = [
  { kind: "question", id: 1, topic: "double", question: 3 },
  { kind: "answers", id: 1, answers: [1, 2] },
  { kind: "stop", signal: "SIGTERM" },
  { kind: "ask", id: 1, topic: "double", question: 3, to: 1 },
  { kind: "answer", id: 1, answer: 6 },
];

export const targets: Readonly<Record<string, Target>> = {
  "Arrow metadata": (chance) => {
    const message = readMessage(damagedBytes([...schemas, ...batches], chance));
    return message.kind !== "bad";
  },
  "parameters of Arrow": (chance) => {
    const known = parameterFields(damagedBytes(schemas, chance));
    const read = parameterRows(
      known.ok && chance.below(2) === 0 ? known.value : [some(fields, chance)],
      damagedBytes(batches, chance),
      damagedBytes(bodies, chance),
    );
    if (read.ok && read.value.length > rowsMost) throw new Error(`${read.value.length} rows`);
    return read.ok;
  },
  "blocks of ClickHouse": (chance) => {
    const read = readCompressed(damagedBytes(blocks, chance), bytesMax);
    if (typeof read === "string") return false;
    if (read.length > bytesMax) throw new Error(`${read.length} bytes`);
    return true;
  },
  LZ4: (chance) => {
    const length = chance.below(bytesMax);
    const read = lz4Decompress(damagedBytes([packed], chance), length);
    if (read !== undefined && read.length !== length) throw new Error(`${read.length} bytes`);
    return read !== undefined;
  },
  "commands of Flight": (chance) => {
    const bytes = damagedBytes(commands, chance);
    handleIn(some(methods, chance), bytes, bytesMax);
    return readCommand(bytes, some(["info", "poll", "schema", "put", "get"], chance), bytesMax).ok;
  },
  "carried frames of Flight": async (chance) => {
    const bytes = damagedBytes(frames, chance);
    const read = chance.below(2) === 0 ? readRequest : readAnswer;
    try {
      for await (const piece of read(inPieces(bytes, chance), bytesMax)) {
        const message = piece instanceof Uint8Array ? piece : undefined;
        if ((message?.length ?? 0) > bytesMax) throw new Error(`${message?.length} bytes`);
      }
      return true;
    } catch (error) {
      if (error instanceof FrameError) return false;
      throw error;
    }
  },
  "fields of ClickHouse": (chance) => {
    const found = fieldsOf(damagedText(queryStrings, chance));
    const sql = damagedText(statements, chance);
    insertForm(sql);
    createsTemporary(sql);
    return numberedParameters(sql, [["a", damagedText(["1", "x"], chance)]]).ok && found.ok;
  },
  "statements of Snowflake": (chance) => {
    const sql = damagedText(statements, chance);
    const dialect = some(["generic", "duckdb", "postgres", "mysql"] as const, chance);
    readLocal(sql, newState);
    idOf(uuidOf(sql.slice(0, 64)));
    idOf(damagedText(["01b2c3d4-0000-0000-0000-000000000000"], chance));
    const bound = readBindings(damagedJson(bindings, chance));
    return respelled(sql, dialect).ok && bound.ok && bulkOf(sql, bound.value).ok;
  },
  tokens: (chance) => {
    const text = damagedText(tokens, chance);
    looksLikeToken(text);
    if (userKeys.userOf(new Secret(text), undefined, now * 1_000) !== undefined) {
      throw new Error("somebody is let in");
    }
    return readHead(text) !== undefined;
  },
  keys: (chance) => {
    const found = readKeys(damagedJson([{ keys: [jwk, { ...jwk, kty: "oct", k: "eA" }] }], chance));
    return found !== undefined && found.length > 0;
  },
  "messages of processes": siblings,
};

/** Two processes and the one that brings their messages, each of which says anything to any other. */
async function siblings(chance: Chance): Promise<boolean> {
  const host = virtualHost(1);
  const switchboard = new Switchboard(host.clock);
  const lines = [0, 1].map((index) => {
    const port = new EventEmitter() as EventEmitter & Port;
    const line: Line = { index, send: (message) => port.emit("message", copied(message)) };
    port.send = (message) => {
      const told = copied(message);
      if (isToParent(told)) switchboard.take(line, told);
      return true;
    };
    switchboard.join(line);
    const channel = new Channel({ index, count: 2 }, port, host.log);
    channel.answer({ name: "double" }, (value: number) => value * 2);
    return { port, line, channel };
  });
  const [first, second] = lines;
  if (first === undefined || second === undefined) throw new Error("two were made");
  const asked = first.channel.ask({ name: "double" }, 21);
  for (let count = chance.below(6); count >= 0; count -= 1) {
    const message = copied(damagedJson(siblingMessages, chance));
    const { port, line } = some(lines, chance);
    if (chance.below(2) === 0) port.emit("message", message);
    else if (isToParent(message)) switchboard.take(line, message);
  }
  await host.advance(3_000);
  const answers: readonly unknown[] = await asked;
  if (!Array.isArray(answers)) throw new Error(`answered with ${JSON.stringify(answers)}`);
  if (host.log.bugs.length > 0) throw host.log.bugs[0];
  return answers[0] === 42;
}

/** As `crew.ts` looks at what comes before it hands it on. */
function isToParent(message: unknown): message is Extract<ToParent, { kind: "ask" | "answer" }> {
  if (typeof message !== "object" || message === null || !("kind" in message)) return false;
  return message.kind === "ask" || message.kind === "answer";
}

function copied(message: unknown): unknown {
  return JSON.parse(JSON.stringify(message ?? null)) as unknown;
}

async function* inPieces(bytes: Uint8Array, chance: Chance): AsyncGenerator<Uint8Array> {
  for (let at = 0; at < bytes.length;) {
    const to = at + 1 + chance.below(bytes.length);
    yield bytes.subarray(at, to);
    at = to;
  }
}

function fieldOf(type: ArrowType): ArrowField {
  return { name: "f", type, nullable: true, children: [], metadata: new Map() };
}

function packedOf(bytes: Uint8Array): Uint8Array {
  const out = new Uint8Array(lz4Bound(bytes.length));
  return out.subarray(0, lz4Compress(bytes, out, 0));
}

function tokenOf(head: object, claims: object): string {
  const part = (value: object) => Buffer.from(JSON.stringify(value)).toString("base64url");
  return `${part(head)}.${part(claims)}.${Buffer.alloc(64, 7).toString("base64url")}`;
}
