import { gatewayError } from "@gateway/core/error.ts";
import { ok } from "@gateway/core/result.ts";
import { readStatement } from "@gateway/core/sql/statement.ts";
import { columnOf } from "@gateway/core/type/build.ts";
import { describe, expect, it } from "vitest";
import {
  describeOf,
  fieldsOf,
  letters,
  parseOf,
  queryOf,
  RawClient,
  sync,
} from "../rig/rawClient.ts";
import type { Prepared } from "../read/statement.ts";
import { int32, resultOf, served } from "../rig/served.ts";
import { keptDescription, knownColumns, portalError } from "./described.ts";

describe("a result of more columns than a message can count", () => {
  it("is an error, and the connection goes on", async () => {
    const wide = Array.from({ length: 32_768 }, (_, index) => columnOf(`c${index}`, int32));
    const one = resultOf([columnOf("one", int32)], [1n]);
    await using server = await served({
      answers: { "select wide": resultOf(wide), "select 1": one },
    });
    await using client = await RawClient.start(server.port);
    client.send(queryOf("select wide"));
    const refused = await client.until("Z");
    expect(letters(refused)).toMatch(/^S*EZ$/);
    const error = refused.find(({ type }) => type === "E");
    expect(error && fieldsOf(error)).toMatchObject({ C: "54011" });
    client.send(queryOf("select 1"));
    expect(letters(await client.until("Z"))).toMatch(/^S*TDCZ$/);
  });

  it("is an error where an engine describes it, before anything runs", async () => {
    const columns = Array.from({ length: 32_768 }, (_, index) => columnOf(`c${index}`, int32));
    await using server = await served({
      answers: {},
      descriptions: { "select wide": { parameters: [], columns } },
    });
    await using client = await RawClient.start(server.port);
    client.send(parseOf("wide", "select wide"), describeOf("S", "wide"), sync);
    const refused = await client.until("Z");
    expect(letters(refused)).toMatch(/^S*1EZ$/);
    const error = refused.find(({ type }) => type === "E");
    expect(error && fieldsOf(error)).toMatchObject({ C: "54011" });
    expect(server.door.queries).toEqual([]);
  });
});

describe("an error of a portal", () => {
  const told = { description: { parameters: [], columns: [columnOf("one", int32)] } };
  const misfit = gatewayError("query.invalid", {
    sqlState: "08P01",
    vendor: { of: "postgres", fields: new Map([["R", "PortalSetResultFormat"]]) },
  });

  it("says that columns changed where the client's formats fit what it was told", () => {
    const prepared = { ...preparedFor("select one"), ...told };
    expect(portalError(prepared, [0], misfit)).toMatchObject({ sqlState: "0A000" });
    expect(portalError(prepared, [0, 1], misfit)).toBe(misfit);
    expect(portalError(preparedFor("select one"), [0], misfit)).toBe(misfit);
    const other = gatewayError("query.data");
    expect(portalError(prepared, [0], other)).toBe(other);
  });

  it("is not prepared for by a FETCH, whose cursor says what it gives", () => {
    const fetch = { ...preparedFor("fetch all in c"), varies: true };
    const described = { parameters: [], columns: [columnOf("one", int32)] };
    expect(keptDescription(fetch, ok(described))).toEqual(ok(described));
    expect(knownColumns(fetch)).toBeUndefined();
  });
});

describe("a BEGIN whose modes are unknown", () => {
  it.each(["begin isolation level nonsense", "start transaction read sometimes"])(
    "is refused, and begins nothing: %s",
    async (sql) => {
      await using server = await served({ answers: {} });
      await using client = await RawClient.start(server.port);
      client.send(queryOf(sql));
      const refused = await client.until("Z");
      const error = refused.find(({ type }) => type === "E");
      expect(error && fieldsOf(error)).toMatchObject({ C: "42601" });
      expect(refused.at(-1)?.body.toString()).toBe("I");
    },
  );
});

function preparedFor(sql: string): Prepared {
  return {
    sql,
    statement: readStatement(sql, "postgres"),
    start: 0,
    kind: { kind: "query" },
    relayed: true,
    text: sql,
    types: [],
    description: undefined,
    casts: undefined,
  };
}
