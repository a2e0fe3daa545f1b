/**
 * The contract of an opened backend, run by every engine with its own SQL.
 *
 * What `packages/core/src/port/backend.ts` promises and types can not say: the order of events, what
 * an abort does, that nothing is collected, that what was begun is over. Each engine passes samples in
 * its dialect; what it can not do is skipped by name with a reason.
 */
import type { Backend, Lane } from "@gateway/core/port/backend.ts";
import type { ResultEvent } from "@gateway/core/query/event.ts";
import type { Parameter, Value } from "@gateway/core/type/type.ts";
import { typeName } from "@gateway/core/type/name.ts";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { codeOf, identifiedOf, never, ran, valueOf } from "./rig/backend.ts";

/** Statements in the engine's dialect. Tables live where an unqualified name is looked for. */
export interface EngineSamples {
  /** Runs for minutes and answers no row. */
  readonly endless: string;
  /** Answers more rows than any machine holds, from the first moment on. */
  readonly flood: string;
  /** Creates table `suite_t` with the columns `id` (integer) and `label` (text). */
  readonly createTable: string;
  readonly dropTable: string;
  /** Answers its only parameter in one column. */
  readonly echo: string;
  /** Values that come back from `echo` exactly as they went in. */
  readonly values: readonly Parameter[];
  /** Not valid, and where (UTF-16 units, from 1). */
  readonly broken: { readonly sql: string; readonly position: number };
}

export interface EngineSuiteOptions {
  /** Tests of the suite that this engine can not pass, by their full name. */
  readonly skip: readonly { readonly test: string; readonly reason: string }[];
}

/** Runs the contract. `open` answers a backend that serves one statement at a time. */
export function engineSuite(
  name: string,
  samples: EngineSamples,
  open: () => Promise<Backend>,
  { skip }: EngineSuiteOptions,
): void {
  const stated = new Set<string>();
  const check = (test: string, run: () => Promise<void>): void => {
    stated.add(test);
    const reason = skip.find((one) => one.test === test)?.reason;
    // oxlint-disable-next-line vitest/valid-title, vitest/expect-expect -- callers pass a title and expect
    it(test, { timeout: 20_000 }, async (context) => {
      context.skip(reason !== undefined, reason); // not `it.skipIf`: test/compat reads the reason
      await run();
    });
  };

  describe(`${name} as a backend`, () => {
    let backend: Backend;
    beforeAll(async () => {
      backend = await open();
      expect((await ran(backend, samples.createTable)).last?.kind).toBe("done");
      await ran(backend, "insert into suite_t values (1, 'one'), (2, 'two')");
    }, 30_000);
    afterAll(async () => {
      await ran(backend, samples.dropTable);
      await backend[Symbol.asyncDispose]();
    });

    describe("execute", () => {
      check("answers columns, then batches, then done, and nothing after it", async () => {
        const { kinds } = await ran(backend, "select id, label from suite_t order by id");
        expect(kinds[0]).toBe("columns");
        expect(kinds.at(-1)).toBe("done");
        expect(new Set(kinds.slice(1, -1))).toEqual(new Set(["batch"]));
      });

      check("answers the columns of an empty result too", async () => {
        const { kinds, columns } = await ran(backend, "select id, label from suite_t where id < 0");
        expect(kinds.filter((kind) => kind !== "batch")).toEqual(["columns", "done"]);
        expect(columns.map((column) => column.name)).toEqual(["id", "label"]);
      });

      check("answers a change with its name and the number of rows, and no columns", async () => {
        const { kinds, last } = await ran(
          backend,
          "update suite_t set label = label where id <= 2",
        );
        expect(kinds).toEqual(["done"]);
        expect(last).toMatchObject({ updateType: "UPDATE", updateCount: 2 });
      });

      for (const parameter of samples.values) {
        const shown = `${typeName(parameter.type)} ${shownValue(parameter.value)}`;
        check(`gives back ${shown} as it came`, async () => {
          const { rows, last } = await ran(backend, samples.echo, { parameters: [parameter] });
          expect(last?.kind).toBe("done");
          expect(rows).toEqual([[parameter.value]]);
        });
      }

      check("refuses another number of parameters than the statement has", async () => {
        expect(codeOf(await ran(backend, samples.echo))).toBe("query.parameters");
      });

      check("refuses a text with several statements and runs none of them", async () => {
        const several = await ran(backend, "delete from suite_t; select 1");
        expect(codeOf(several)).toBe("query.unsupported");
        expect((await ran(backend, "select count(*) from suite_t")).rows).toEqual([[2n]]);
      });

      check("says where a text is broken", async () => {
        const { sql, position } = samples.broken;
        const { last } = await ran(backend, sql);
        expect(last).toMatchObject({ kind: "failed", error: { code: "query.syntax", position } });
      });

      check("names a table that is not there by its own code", async () => {
        expect(codeOf(await ran(backend, "select * from suite_nowhere"))).toBe(
          "query.unknownObject",
        );
      });

      check("does not run ahead of its reader", async () => {
        const stream = backend.execute(identifiedOf(samples.flood), never);
        const kinds: string[] = [];
        for (let count = 0; count < 6; count += 1) {
          const step = await stream.next();
          if (step.done !== true) kinds.push(step.value.kind);
        }
        expect(kinds).toEqual(["columns", ...Array.from({ length: 5 }, () => "batch")]);
        await stream.return();
      });
    });

    describe("an aborted query", () => {
      check("ends with query.cancelled while it runs, and the next one is answered", async () => {
        const controller = new AbortController();
        const running = ran(backend, samples.endless, { signal: controller.signal });
        controller.abort();
        expect(codeOf(await running)).toBe("query.cancelled");
        expect((await ran(backend, "select 1")).last?.kind).toBe("done");
      });

      check("ends with query.cancelled between two batches", async () => {
        const controller = new AbortController();
        const events: ResultEvent[] = [];
        for await (const event of backend.execute(identifiedOf(samples.flood), controller.signal)) {
          events.push(event);
          if (events.length === 4) controller.abort();
        }
        expect(events.at(-1)).toMatchObject({ kind: "failed", error: { code: "query.cancelled" } });
      });

      check("never begins when the signal came first", async () => {
        const aborted = await ran(backend, "delete from suite_t", { signal: AbortSignal.abort() });
        expect(codeOf(aborted)).toBe("query.cancelled");
        expect((await ran(backend, "select count(*) from suite_t")).rows).toEqual([[2n]]);
      });

      check("leaves its place in the line for a connection", async () => {
        const first = backend.execute(identifiedOf(samples.flood), never);
        await first.next();
        const controller = new AbortController();
        const waiting = ran(backend, "select 1", { signal: controller.signal });
        controller.abort();
        expect(codeOf(await waiting)).toBe("query.cancelled");
        await first.return();
      });
    });

    describe("a reader that leaves", () => {
      check("ends the statement in the engine, and the next one is answered", async () => {
        const stream = backend.execute(identifiedOf(samples.flood), never);
        await stream.next();
        await stream.next();
        await stream.return();
        expect(await stream.next()).toEqual({ done: true, value: undefined });
        expect((await ran(backend, "select 1")).last?.kind).toBe("done");
      });
    });

    describe("a description", () => {
      check("names the columns and parameters of a query", async () => {
        const found = await described(backend, "select id, label from suite_t where id = $1");
        expect(found.columns.map((column) => column.name)).toEqual(["id", "label"]);
        expect(found.parameters.map(({ kind }) => kind)).toEqual(["integer"]);
      });

      check("does not run what it describes", async () => {
        const found = await described(backend, "delete from suite_t where id = $1");
        expect(found.columns).toEqual([]);
        expect((await ran(backend, "select count(*) from suite_t")).rows).toEqual([[2n]]);
      });

      check("answers a broken text with its error", async () => {
        const found = await backend.describe(identifiedOf(samples.broken.sql), never);
        expect(found).toMatchObject({ ok: false, error: { code: "query.syntax" } });
      });
    });

    describe("a transaction", () => {
      check("keeps its changes when it is committed", async () => {
        await using lane = await begun(backend);
        await ran(lane, "insert into suite_t values (3, 'three')");
        expect((await lane.commit(never)).ok).toBe(true);
        await lane[Symbol.asyncDispose]();
        expect((await ran(backend, "delete from suite_t where id = 3")).last).toMatchObject({
          updateCount: 1,
        });
      });

      check("takes its changes back when it is rolled back", async () => {
        await using lane = await begun(backend);
        await ran(lane, "delete from suite_t");
        expect((await ran(lane, "select count(*) from suite_t")).rows).toEqual([[0n]]);
        expect((await lane.rollback(never)).ok).toBe(true);
        await lane[Symbol.asyncDispose]();
        expect((await ran(backend, "select count(*) from suite_t")).rows).toEqual([[2n]]);
      });

      check("takes its changes back when its session leaves", async () => {
        const lane = await begun(backend);
        await ran(lane, "delete from suite_t");
        await lane[Symbol.asyncDispose]();
        await lane[Symbol.asyncDispose]();
        expect((await ran(backend, "select count(*) from suite_t")).rows).toEqual([[2n]]);
      });

      check("is over when its session leaves in the middle of a statement", async () => {
        const lane = await begun(backend);
        const stream = lane.execute(identifiedOf(samples.flood), never);
        await stream.next();
        await lane[Symbol.asyncDispose]();
        await stream.return();
        expect((await ran(backend, "select 1")).last?.kind).toBe("done");
      });

      check("sees its own tables when it describes", async () => {
        await using lane = await begun(backend);
        await ran(lane, "create table suite_new (a integer)");
        const found = await described(lane, "select a from suite_new");
        expect(found.columns.map((column) => column.name)).toEqual(["a"]);
      });
    });

    describe("probe", () => {
      check("finds an engine that answers healthy", async () => {
        expect(await backend.probe(never)).toBe("healthy");
      });
    });

    describe("listTables", () => {
      check("names tables with their columns", async () => {
        const listed = await backend.listTables(identifiedOf("show tables"), never);
        const tables = listed.ok ? listed.value : [];
        const table = tables.find((one) => one.name === "suite_t");
        expect(table?.columns.map((column) => column.name)).toEqual(["id", "label"]);
        expect(backend.catalogs).toContain(table?.catalog);
      });
    });

    describe("a disposed backend", () => {
      check("is closed once, and answers with an error", async () => {
        const other = await open();
        await other[Symbol.asyncDispose]();
        await other[Symbol.asyncDispose]();
        const { last } = await ran(other, "select 1");
        expect(last?.kind).toBe("failed");
        expect(await other.probe(never)).toBe("unhealthy");
      });
    });
    // As a test, because vitest reads what stands inside a `describe` only later.
    it("has every test that is skipped", () => {
      expect(skip.map(({ test }) => test).filter((test) => !stated.has(test))).toEqual([]);
    });
  });
}

async function described(lane: Lane, sql: string) {
  return valueOf(await lane.describe(identifiedOf(sql), never));
}

async function begun(backend: Backend) {
  return valueOf(await backend.begin(identifiedOf("begin"), never));
}

function shownValue(value: Value): string {
  const plain = (_key: string, part: unknown) => (typeof part === "bigint" ? `${part}` : part);
  const shown = JSON.stringify(value, plain);
  return shown.length > 40 ? `${shown.slice(0, 40)}…` : shown;
}
