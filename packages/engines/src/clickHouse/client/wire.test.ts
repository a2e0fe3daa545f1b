/** The address of a statement says nothing of the one before. */
import { describe, expect, it } from "vitest";
import type { Http1Pool } from "../../connect/http1/pool.ts";
import {
  writableRequest,
  type FormedRequest,
  type HttpRequest,
} from "../../connect/http1/request.ts";
import { account } from "../identity.ts";
import { loginHeaders, submit, type RelayedAsk, type Submission, type Wire } from "./wire.ts";

const form = { isForm: true, raw: true, acceptEncoding: undefined, body: undefined };
const rows = { bytes: (async function* () {})(), encoding: undefined, blocks: true };
const relays: readonly (RelayedAsk | undefined)[] = [
  undefined,
  { ...form, query: "&default_format=CSV" },
  { ...form, query: "&default_format=JSON" },
  { ...form, query: "&param_a=1", isForm: false },
  { ...form, query: "&default_format=CSV", body: rows, isForm: false },
  { ...form, query: "", raw: false },
];
const submissions: Submission[] = [];
for (const queryId of ["gateway/a/1/q_1", "gateway/a/1/q_2", "gateway/b/1/q_1", "x&y", "a/b&c"]) {
  for (const database of [undefined, "", "db", "d&b"]) {
    for (const relay of relays) {
      submissions.push({ sql: "SELECT 1", caller: account, queryId, database, fields: [], relay });
    }
  }
}

describe("the address of a statement", () => {
  it("is its own, behind any other", () => {
    for (const before of submissions) {
      for (const one of submissions) {
        addressOf(before);
        expect(addressOf(one)).toBe(expected(one));
      }
    }
  });

  it("has the fields of its statement behind all others", () => {
    const one = { sql: "SELECT 1", caller: account, queryId: "gateway/a/1/q", database: "db" };
    const fields = [["param_a", "ü&"]] as const;
    expect(addressOf({ ...one, fields })).toBe(
      "/?query_id=gateway%2Fa%2F1%2Fq&database=db&own=1&param_a=%C3%BC%26",
    );
  });
});

function addressOf(submission: Submission): string {
  const paths: (string | undefined)[] = [];
  const ask = (request: HttpRequest | FormedRequest) => {
    paths.push(writableRequest(request, "host")?.head.split(" ")[1]);
  };
  const pool = { ask } as unknown as Http1Pool;
  const wire: Wire = {
    pool,
    control: pool,
    login: loginHeaders(undefined),
    settings: "own=1",
    relaySettings: "raw=1",
  };
  submit(wire, submission, submission.sql, new AbortController().signal);
  return paths.join();
}

function expected({ queryId, database, relay, sql }: Submission): string {
  const parts = [`/?query_id=${encodeURIComponent(queryId)}`];
  if (database !== undefined) parts.push(`&database=${encodeURIComponent(database)}`);
  if (relay?.body !== undefined) parts.push(`&query=${encodeURIComponent(sql)}&decompress=1`);
  parts.push(relay?.query ?? "", relay?.raw === true ? "&raw=1" : "&own=1");
  return parts.join("");
}
