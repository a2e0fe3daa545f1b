/**
 * Requests that nobody should send, made from a seed: over sockets against a real listener, and
 * straight into the readers of headers, paths and statements. Used by the tests for a moment and by
 * `test/fuzz/trino.mjs` for as long as one likes.
 */
import { connect } from "node:net";
import type { Script } from "../../rig/scriptedDoor.ts";
import { suiteHost } from "../../rig/host.ts";
import { trinoConfig } from "../config.ts";
import { Handles } from "../page/handles.ts";
import { checkHeaders, presentedBy } from "../login/identity.ts";
import { listenWith, times } from "../listen.ts";
import { handle } from "../commands/local.ts";
import { pollOf } from "../page/poll.ts";
import { sessionFrom } from "../session/session.ts";
import { rewriteSystem } from "../catalog/systemRewrite.ts";
import { Chance } from "@gateway/wire/http/rig/responses.ts";
import { parseStatementPath } from "@gateway/wire/trino/path.ts";
import { alice, numbers, parkingDoor, resultOf } from "./trino.ts";

const words = wordsOf(
  "SELECT 1 FROM system . jdbc tables information_schema columns WHERE a LIKE 'x%' ESCAPE PREPARE p EXECUTE IMMEDIATE USING DEALLOCATE DESCRIBE INPUT OUTPUT SET SESSION ROLE TIME ZONE RESET SHOW CATALOGS SCHEMAS CREATE TABLE START TRANSACTION COMMIT USE ( ) [ ] , ; ? $1 '' \" ' -- /* */ ARRAY CAST AS DECIMAL NULL X'0' 1e999 \u0000 \ud800 é",
);

function wordsOf(text: string): readonly [string, ...string[]] {
  return ["", ...text.split(" ")];
}

const values = [
  "alice",
  "",
  "a=b",
  "a=b,c=%zz",
  "system=ROLE%7Bx%7D",
  "json+zstd,json",
  "NONE",
  "Asia/Tokyo",
  "Basic YWxpY2U6eA==",
  "Basic ====",
  "Bearer x.y.z",
  "chunked",
  "gzip",
  "-1",
  "99999999999999999999",
  "close, X-Trino-User",
  "a".repeat(3000),
  "\u00ff\u0001",
] as const;

const names = [
  "X-Trino-User",
  "X_Trino_User",
  "X-Presto-User",
  "X-Trino-Session",
  "X-Trino-Prepared-Statement",
  "X-Trino-Time-Zone",
  "X-Trino-Role",
  "X-Trino-Client-Tags",
  "X-Trino-Transaction-Id",
  "X-Trino-Query-Data-Encoding",
  "X-Trino-Extra-Credential",
  "X-Trino-Resource-Estimate",
  "Authorization",
  "Content-Length",
  "Transfer-Encoding",
  "Content-Encoding",
  "Accept-Encoding",
  "Connection",
  "Host",
  "Origin",
  "X-Forwarded-For",
  "Expect",
  "User-Agent",
] as const;

const paths = [
  "/v1/statement",
  "/v1/statement",
  "/v1/statement",
  "/v1/info",
  "/v1/info/state",
  "/v1/query/x",
  "/v1/statement/executing/aa/bb",
  "/v1/statement/executing/aa/bb?maxWait=1ms&targetResultSize=1MB",
  "/v1/statement/../info",
  "*",
  "http://localhost/v1/info",
  `/${"a/".repeat(400)}`,
] as const;

function sqlFrom(chance: Chance): string {
  if (chance.below(3) === 0) return chance.pick(["SELECT 1", "SHOW CATALOGS", "SHOW SESSION"]);
  return Array.from({ length: chance.below(14) }, () => chance.pick(words)).join(" ");
}

function headersFrom(chance: Chance): readonly string[] {
  const count = chance.below(7);
  return Array.from({ length: count }, () => [chance.pick(names), chance.pick(values)]).flat();
}

/** Some text with a few bytes changed, cut or doubled. */
function damaged(text: string, chance: Chance): string {
  const at = chance.below(text.length + 1);
  switch (chance.below(4)) {
    case 0:
      return text.slice(0, at) + String.fromCharCode(chance.below(256)) + text.slice(at + 1);
    case 1:
      return text.slice(0, at);
    case 2:
      return text.slice(0, at) + text;
    default:
      return text;
  }
}

function requestFrom(chance: Chance, link: string | undefined): string {
  // Half of them are meant well, so that the others find queries to disturb.
  const usual = chance.below(2) === 0;
  const follows = link !== undefined && chance.below(3) === 0;
  const other = chance.pick(["POST", "GET", "GET", "DELETE", "HEAD", "PUT", "PRI"]);
  const method = usual ? (follows ? "GET" : "POST") : other;
  const path = follows ? link : usual ? "/v1/statement" : chance.pick(paths);
  // One character per byte, as it is sent.
  const sql = Buffer.from(sqlFrom(chance)).toString("latin1");
  const plain = chance.below(3) > 0;
  const headers = plain ? ["X-Trino-User", "alice"] : headersFrom(chance);
  const lines: string[] = [];
  for (let index = 0; index < headers.length; index += 2) {
    lines.push(`${headers[index]}: ${headers[index + 1]}\r\n`);
  }
  const body = method === "POST" ? sql : "";
  const length = `Content-Length: ${body.length}\r\n`;
  const request = `${method} ${path} HTTP/1.1\r\nHost: localhost\r\n${length}${lines.join("")}\r\n${body}`;
  return chance.below(8) === 0 ? damaged(request, chance) : request;
}

export interface FuzzFound {
  readonly requests: number;
  /** Answers by their status. */
  readonly statuses: ReadonlyMap<string, number>;
  /** What was logged as a bug. */
  readonly bugs: readonly unknown[];
  /** The longest time from the last byte of a connection to its end. */
  readonly slowestMs: number;
  /** Queries that were begun and not ended when everything was closed. */
  readonly unended: number;
}

const script: Script = { answers: { "SELECT 1": resultOf(numbers, [[1n]]) } };

/** Sends `count` requests over sockets, up to eight on each. */
export async function fuzzListener(count: number, seed: number): Promise<FuzzFound> {
  const chance = new Chance(seed);
  const host = suiteHost();
  const door = parkingDoor({ ...script, clock: host.clock }, host);
  const config = trinoConfig.parse({ host: "127.0.0.1", port: 0, maxMessageBytes: 4096 });
  const listening = await listenWith(
    // A request that is cut in its body waits for more, up to this time.
    { ...times, headersMs: 500, requestMs: 1_000, checkMs: 100 },
    config,
    door,
    host,
  );
  if (!listening.ok) throw new Error(listening.error.detail);
  const { port } = listening.value;
  const statuses = new Map<string, number>();
  let link: string | undefined;
  let requests = 0;
  let slowestMs = 0;
  while (requests < count) {
    const batch = Array.from({ length: 1 + chance.below(8) }, () => requestFrom(chance, link));
    requests += batch.length;
    const from = host.clock.nowMs();
    const answer = await exchange(port, batch.join(""));
    slowestMs = Math.max(slowestMs, host.clock.nowMs() - from);
    for (const [, status = ""] of answer.matchAll(/HTTP\/1\.1 (\d{3}) /g)) {
      statuses.set(status, (statuses.get(status) ?? 0) + 1);
    }
    link = /"nextUri":"http:\/\/[^/"]*([^"]*)"/.exec(answer)?.[1] ?? link;
  }
  await listening.value.drain(AbortSignal.abort());
  const unended = door.queries.length - door.ended.length;
  return { requests, statuses, bugs: host.log.bugs, slowestMs, unended };
}

/** Everything that comes back until the server, which was told that nothing follows, closes. */
function exchange(port: number, bytes: string): Promise<string> {
  return new Promise((resolve) => {
    const socket = connect({ host: "127.0.0.1", port, allowHalfOpen: true });
    let answer = "";
    socket.setEncoding("latin1");
    socket.on("data", (chunk: string) => {
      answer += chunk;
    });
    socket.on("error", () => undefined);
    socket.once("close", () => resolve(answer));
    socket.once("end", () => socket.destroy());
    socket.write(bytes, "latin1");
    socket.write("GET /v1/info HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n");
  });
}

/** Puts `count` made-up requests straight into what reads them; whatever throws is a bug. */
export function fuzzReaders(count: number, seed: number): void {
  const chance = new Chance(seed);
  const host = suiteHost();
  const handles = new Handles(host);
  const door = parkingDoor(script, host);
  const sealed = handles.seal(handles.linkedQuery("q1", "alice"), 1);
  for (let made = 0; made < count; made += 1) {
    const headers = headersFrom(chance);
    checkHeaders(headers);
    const map = Object.fromEntries(
      Array.from({ length: headers.length / 2 }, (_, index) => [
        (headers[index * 2] ?? "").toLowerCase(),
        headers[index * 2 + 1],
      ]),
    );
    presentedBy(map);
    const link = damaged(`/v1/statement/executing/${handles.instance}/${sealed}`, chance);
    const path = parseStatementPath(link);
    const opened = path === undefined ? undefined : handles.open(path.sealed);
    if (opened !== undefined && path?.sealed !== sealed) throw new Error(`opened ${link}`);
    pollOf(damaged("maxWait=1s&targetResultSize=1MB", chance));
    const session = sessionFrom(map, alice, "127.0.0.1");
    if (!session.ok) continue;
    const handling = handle(damaged(sqlFrom(chance), chance), session.value, door);
    if (handling.kind === "run") {
      rewriteSystem(handling.sql, handling.parameters, { catalogs: ["m"], catalog: undefined });
    }
  }
}
