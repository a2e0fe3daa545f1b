/**
 * HTTP requests that nobody should send, made from those of a kept corpus (`corpus/NAME.json`) by chance from a seed, and
 * what a whole answer looks like. `sockets.mjs` bundles it.
 */
import { Chance } from "@gateway/wire/http/rig/responses.ts";
import { damagedBytes, damagedJson, damagedText, some } from "./damage.ts";

/** One of a corpus. A body that is no text travels as JSON. */
export interface Sample {
  readonly method: string;
  readonly path: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: unknown;
}

const methods = ["GET", "POST", "PUT", "DELETE", "HEAD", "OPTIONS", "PRI"];
const oddHeaders: readonly (readonly [string, string])[] = [
  ["Content-Encoding", "gzip"],
  ["Content-Encoding", "zstd"],
  ["Accept-Encoding", "gzip, zstd"],
  ["Transfer-Encoding", "chunked"],
  ["Content-Length", "99999999999999999999"],
  ["Content-Length", "-1"],
  ["Expect", "100-continue"],
  ["Authorization", "Basic ===="],
  ["Authorization", "Bearer x.y.z"],
  ["Connection", "close"],
  ["Upgrade", "h2c"],
  ["Host", "evil.example"],
  ["X-Long", "a".repeat(9_000)],
  ["Content-Type", "application/x-www-form-urlencoded"],
];

/** The bytes of one connection: one request, or two that follow each other at once. */
export function connectionBytes(samples: readonly Sample[], token: string, seed: number): Buffer {
  const chance = new Chance(seed);
  const one = requestBytes(samples, token, chance);
  const other = requestBytes(samples, token, chance);
  // What answers HEAD has no body, whatever its head says, so it is read where it is asked alone.
  const isAlone = chance.below(6) !== 0 || isHead(one) || isHead(other);
  const all = isAlone ? [one] : [one, other];
  const whole = Buffer.concat(all);
  return chance.below(5) === 0 ? Buffer.from(damagedBytes([whole], chance)) : whole;
}

export function isHead(request: Buffer): boolean {
  return request.subarray(0, 5).toString() === "HEAD ";
}

function requestBytes(samples: readonly Sample[], token: string, chance: Chance): Buffer {
  const sample = some(samples, chance);
  const paths = samples.map(({ path }) => path);
  const method = chance.below(8) === 0 ? some(methods, chance) : sample.method;
  const path =
    chance.below(3) === 0 ? oneLine(damagedText([sample.path, ...paths], chance)) : sample.path;
  const body = Buffer.from(bodyText(samples, sample, chance));
  const headers = Object.entries(sample.headers ?? {}).map(([name, value]) => {
    const whole = value.replace("{token}", token);
    return [name, chance.below(6) === 0 ? oneLine(damagedText([whole], chance)) : whole] as const;
  });
  if (chance.below(4) === 0) headers.push(some(oddHeaders, chance));
  if (typeof sample.body === "object") headers.push(["Content-Type", "application/json"]);
  const length = chance.below(12) === 0 ? chance.below(2 * body.length + 2) : body.length;
  const lines = [
    `${method} ${path.replaceAll(" ", "%20")} HTTP/1.1`,
    "Host: 127.0.0.1",
    ...(sample.body === undefined ? [] : [`Content-Length: ${length}`]),
    ...headers.map(([name, value]) => `${name}: ${value}`),
  ];
  return Buffer.concat([Buffer.from(`${lines.join("\r\n")}\r\n\r\n`), body]);
}

function bodyText(samples: readonly Sample[], { body }: Sample, chance: Chance): string {
  if (body === undefined) return "";
  const others = samples.map((one) => one.body).filter((one) => one !== undefined);
  if (typeof body === "string") {
    const texts = others.filter((one) => typeof one === "string");
    return damagedText([body, ...texts], chance);
  }
  const text = JSON.stringify(damagedJson(chance.below(3) === 0 ? others : [body], chance));
  return chance.below(4) === 0 ? damagedText([text], chance) : text;
}

/** A header's value and a target are one line; how a listener takes more of them is asked by damage to the bytes. */
function oneLine(text: string): string {
  return text.replaceAll(/[\r\n]/g, "");
}

export interface HttpAnswer {
  readonly status: number;
  readonly headers: ReadonlyMap<string, string>;
  readonly body: Buffer;
}

/** The answers in what a connection brought, strictly read; a text says why they are none (RFC 9112 §4, §6, §7). */
export function answersIn(bytes: Buffer, bodiless: boolean): readonly HttpAnswer[] | string {
  const answers: HttpAnswer[] = [];
  let rest = bytes;
  while (rest.length > 0) {
    const end = rest.indexOf("\r\n\r\n");
    if (end < 0) return "a head without an end";
    const [first = "", ...lines] = rest.subarray(0, end).toString("latin1").split("\r\n");
    const status = Number(/^HTTP\/1\.1 ([1-5]\d\d) ?[^\r\n]*$/.exec(first)?.[1] ?? 0);
    if (status === 0) return `a first line that is none: ${first.slice(0, 80)}`;
    const headers = new Map<string, string>();
    for (const line of lines) {
      const [, name, value] = /^([!#$%&'*+.^_`|~0-9A-Za-z-]+):[ \t]*(.*)$/.exec(line) ?? [];
      if (name === undefined || value === undefined)
        return `a header that is none: ${line.slice(0, 80)}`;
      headers.set(name.toLowerCase(), value);
    }
    rest = rest.subarray(end + 4);
    if (status < 200) continue;
    const read = bodyOf(rest, headers, bodiless || status === 204 || status === 304);
    if (typeof read === "string") return read;
    answers.push({ status, headers, body: read.body });
    rest = read.rest;
  }
  return answers;
}

/** What `answersIn` says where the connection ended within a body. */
export const cutShort = "a body that is shorter than it says";

interface Read {
  readonly body: Buffer;
  readonly rest: Buffer;
}

function bodyOf(
  rest: Buffer,
  headers: ReadonlyMap<string, string>,
  without: boolean,
): Read | string {
  if (without) return { body: Buffer.alloc(0), rest };
  const length = headers.get("content-length");
  if (headers.get("transfer-encoding") === "chunked") {
    return length === undefined ? chunksOf(rest) : "both a length and chunks";
  }
  if (length === undefined) return { body: rest, rest: Buffer.alloc(0) };
  if (!/^\d+$/.test(length)) return `a length that is none: ${length}`;
  if (rest.length < Number(length)) return cutShort;
  return { body: rest.subarray(0, Number(length)), rest: rest.subarray(Number(length)) };
}

function chunksOf(bytes: Buffer): Read | string {
  const parts: Buffer[] = [];
  for (let rest = bytes; ;) {
    const line = rest.indexOf("\r\n");
    const size = Number.parseInt(rest.subarray(0, Math.max(0, line)).toString("latin1"), 16);
    if (line < 0 || Number.isNaN(size)) return "a chunk without a size";
    const from = line + 2;
    if (rest.subarray(from + size, from + size + 2).toString() !== "\r\n") return "a cut chunk";
    parts.push(rest.subarray(from, from + size));
    rest = rest.subarray(from + size + 2);
    if (size === 0) return { body: Buffer.concat(parts), rest };
  }
}
