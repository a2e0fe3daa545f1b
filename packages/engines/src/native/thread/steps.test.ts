/** Where a connection stands: DuckDB's driver, which takes both options, and drivers that take none. */
import { afterAll, beforeAll, beforeEach, afterEach, describe, expect, it } from "vitest";
import { ok } from "@gateway/core/result.ts";
import { handleStruct } from "../memory/abi.ts";
import { closeDatabase, Connection, openDatabase } from "./connection.ts";
import { Driver, failureOf, type AdbcFailure } from "../driver.ts";
import { duckDbDriver } from "../../duckDb/library/library.ts";
import { contextOptions, type ConnectionStep } from "../message.ts";
import { MemoryBlock } from "../memory/native.ts";
import { takeSteps } from "./steps.ts";

const { catalog, schema } = contextOptions;

describe("a driver that takes both options", () => {
  let driver: Driver;
  let database: number;
  let connection: Connection;
  beforeAll(() => {
    const choice = duckDbDriver();
    if (!choice.ok) throw new Error(choice.error);
    const loaded = Driver.load(choice.value.library, choice.value.entrypoint);
    if (!loaded.ok) throw new Error(loaded.error.message);
    driver = loaded.value;
    const setup = ["create schema away", "attach ':memory:' as other", 'create schema "a b"'];
    const statements = setup.map((sql) => ({ sql }));
    const opened = openDatabase(driver, { options: [], setup: statements });
    if (!opened.ok) throw new Error(opened.error.message);
    database = opened.value.address;
  });
  afterAll(() => closeDatabase(driver, database));
  beforeEach(() => {
    const opened = Connection.open(driver, database, new MemoryBlock(handleStruct.bytes));
    if (!opened.ok) throw new Error(opened.error.message);
    connection = opened.value;
  });
  afterEach(() => connection[Symbol.dispose]());

  const after = (...steps: readonly ConnectionStep[]): AdbcFailure | undefined =>
    takeSteps(connection, steps, () => ok(["memory", "other"]));
  /** Fails where the connection does not stand there. */
  const standsIn = (name: string): string =>
    `select case when current_catalog() || '.' || current_schema() = '${name}' then 1 else error('no') end`;

  it("stands there afterwards", () => {
    expect(after([schema, "away"], standsIn("memory.away"))).toBeUndefined();
    expect(after([catalog, "other"], standsIn("other.main"))).toBeUndefined();
    const both = [[catalog, "memory"] as const, [schema, "away"] as const];
    expect(after(...both, standsIn("memory.away"))).toBeUndefined();
  });

  it("is not believed when it took the name for something else", () => {
    // It says USE, which finds a schema of this name too.
    expect(after([catalog, "away"])).toEqual(contextRefused("catalog", "away"));
  });

  it("is refused for what is not there, and nothing behind it runs", () => {
    const behind = "create table never (a integer)";
    expect(after([catalog, "nowhere"], behind)).toEqual(contextRefused("catalog", "nowhere"));
    expect(after([schema, "nowhere"], behind)).toEqual(contextRefused("schema", "nowhere"));
    expect(after("select * from never")).toMatchObject({ code: "driver" });
  });

  it("is given no name that could be read as SQL", () => {
    for (const name of ["other; create table never (a integer)", "a b", 'x"', "a--b", "", "x\0"]) {
      expect(after([schema, name])).toEqual(contextRefused("schema", name));
    }
    expect(after("select * from never")).toMatchObject({ code: "driver" });
    expect(after('use "a b"', [schema, "a b"])).toBeUndefined();
  });
});

describe("a driver that takes no option", () => {
  it("is where a session stands that names its only catalog as listings show it", () => {
    const named = (steps: readonly ConnectionStep[]) =>
      takeSteps(fixedTo(), steps, () => ok(["sales"]));
    expect(
      named([
        [catalog, "sales"],
        [schema, "sales"],
      ]),
    ).toBeUndefined();
    expect(named([[schema, "public"]])).toEqual(contextRefused("schema", "public"));
    const nameless = (steps: readonly ConnectionStep[]) =>
      takeSteps(fixedTo(), steps, () => ok([]));
    expect(
      nameless([
        [catalog, "adbc"],
        [schema, "main"],
      ]),
    ).toBeUndefined();
    expect(nameless([[catalog, "sales"]])).toEqual(contextRefused("catalog", "sales"));
  });

  it("is nowhere among several catalogs", () => {
    const steps: readonly ConnectionStep[] = [[catalog, "sales"]];
    const failure = takeSteps(fixedTo(), steps, () => ok(["sales", "stock"]));
    expect(failure).toEqual(contextRefused("catalog", "sales"));
  });

  it("is believed in what its engine says of it", () => {
    const lost: AdbcFailure = { ...failureOf("driver", "gone"), status: 10, sqlState: "08006" };
    const failure = takeSteps(fixedTo(lost), [[catalog, "sales"]], () => ok(["sales"]));
    expect(failure).toEqual({ ...lost, code: "contextRefused" });
  });
});

function contextRefused(object: string, name: string): AdbcFailure {
  return failureOf("contextRefused", `the driver can not go to the ${object} "${name}"`);
}

const notImplemented: AdbcFailure = { ...failureOf("driver", "unknown option"), status: 2 };

/** A connection of ADBC 1.0.0, which does not say where it stands. */
function fixedTo(refusal = notImplemented): Parameters<typeof takeSteps>[0] {
  const driver = { has: () => false, call: () => refusal };
  return { driver, address: 0, runAll: () => undefined };
}
