/** What a Trino client wrote by itself reaches the engine as it wrote it: tags, zones, values. */
import type { Backend } from "@gateway/core/port/backend.ts";
import type { Session } from "@gateway/core/query/query.ts";
import type { Parameter } from "@gateway/core/type/type.ts";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { fakeTrino, type FakeTrino, type Seen } from "../../../../../test/fake/trino.ts";
import { hostOf, ran, valueOf } from "../../rig/backend.ts";
import { open } from "../adapter.ts";
import { trinoConfig } from "../config.ts";

let fake: FakeTrino;
beforeEach(async () => {
  fake = await fakeTrino();
});
afterEach(() => fake[Symbol.asyncDispose]());

describe("of a Trino client", () => {
  it("tags come as it wrote them, the group's behind, and ours last", async () => {
    const tags = new Map([
      ["team", "data"],
      ["a", "2"],
      ["b", ""],
      ["c", ""],
    ]);
    const { headers } = await sentOf({ tags }, { "x-trino-client-tags": "a:1, a: 2,b:,c" });
    expect(headers["x-trino-client-tags"]).toBe("a:1,a: 2,b:,c,team:data,gateway/suite/0/suite");
  });

  it("the zone that it runs in comes as a header, and the one that it set as a property", async () => {
    const berlin = { "x-trino-time-zone": "Europe/Berlin" };
    const zones = async (timezone: string, sent: Record<string, string>) => {
      const { headers } = await sentOf({ settings: new Map([["timezone", timezone]]) }, sent);
      return [headers["x-trino-time-zone"], headers["x-trino-session"]];
    };
    expect(await zones("Europe/Berlin", berlin)).toEqual(["Europe/Berlin", undefined]);
    expect(await zones("Asia/Tokyo", berlin)).toEqual([
      "Europe/Berlin",
      "time_zone_id=Asia%2FTokyo",
    ]);
    expect(await zones("UTC", {})).toEqual([undefined, "time_zone_id=UTC"]);
  });

  it("a text comes as it wrote it, be it no statement or several", async () => {
    for (const sql of ["select 1; select 2", " select ? -- why", "select $1", ";"]) {
      await using backend = await backendOf();
      await ran(backend, sql, { session: { frontend: "trinoHttp" } });
      expect(posts().at(-1)?.body).toBe(sql);
      const { length } = posts();
      await ran(backend, sql);
      expect(posts()).toHaveLength(length);
    }
  });

  it("values come as it wrote them, and all others as literals", async () => {
    const unknown = { type: { kind: "null" }, value: null } as const;
    const parameters: readonly Parameter[] = [
      { ...unknown, expression: "TIME '10:00:00 -08:00'" },
      { type: { kind: "text" }, value: "it's" },
      { ...unknown, expression: "infinity()" },
    ];
    const sent =
      "EXECUTE IMMEDIATE 'select ?, ?, ?' USING 'it''s', TIME '10:00:00 -08:00', infinity()";
    fake.answers.set(sent, () => ({ columns: [["n", "bigint"]] }));
    await using backend = await backendOf();
    await ran(backend, "select $2, $1, $3", { parameters });
    expect(posts()[0]?.body).toBe(sent);
  });
});

/** The submission of a statement of such a client. */
async function sentOf(session: Partial<Session>, headers: Record<string, string>): Promise<Seen> {
  await using backend = await backendOf();
  const client = { frontend: "trinoHttp", headers: new Map(Object.entries(headers)) };
  await ran(backend, "select 1", { session: { ...client, ...session } });
  const seen = posts().at(-1);
  if (seen === undefined) throw new Error("nothing was submitted");
  return seen;
}

function posts(): readonly Seen[] {
  return fake.seen.filter(({ method }) => method === "POST");
}

async function backendOf(): Promise<Backend> {
  const config = trinoConfig.parse({ engine: "trino", endpoint: fake.origin });
  return valueOf(await open("words", config, hostOf()));
}
