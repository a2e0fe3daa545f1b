/** A session over a real mirror and a scripted door, for the tests of this folder. Threads come from the bundle. */
import { nodeHost } from "@gateway/gateway/host/node.ts";
import type { TableListing } from "@gateway/core/port/backend.ts";
import type { Host } from "@gateway/core/port/host.ts";
import type { ResultEvent } from "@gateway/core/query/event.ts";
import type { Session } from "@gateway/core/query/query.ts";
import { ok } from "@gateway/core/result.ts";
import { columnOf } from "@gateway/core/type/build.ts";
import { scriptedDoor } from "../../rig/scriptedDoor.ts";
import { ClientSession } from "../session/clientSession.ts";
import type { CatalogMode } from "../config.ts";
import { sessionOf } from "@gateway/core/rig/session.ts";
import type { MirrorValue } from "../catalog/message.ts";
import { Mirrors } from "../catalog/mirrors.ts";
import { SessionCatalog } from "../catalog/sessionCatalog.ts";

const int32 = { kind: "integer", bits: 32, signed: true } as const;

/** Tables of one schema, with every kind of key and a type of each family. */
export const tables: readonly TableListing[] = [
  {
    catalog: "memory",
    schema: "main",
    name: "orders",
    kind: "table",
    columns: [
      columnOf("id", { kind: "integer", bits: 64, signed: true }, false),
      columnOf("customer", int32),
      columnOf("total", { kind: "decimal", precision: 12, scale: 2 }),
      columnOf("at", { kind: "timestamp", unit: "us", zoned: true }),
      columnOf("tags", { kind: "list", item: { kind: "text" } }),
      columnOf("details", { kind: "struct", fields: [] }),
    ],
    keys: [
      { kind: "primary", columns: ["id"] },
      { kind: "unique", columns: ["customer", "at"] },
      { kind: "foreign", columns: ["customer"], table: "customers", tableColumns: ["id"] },
    ],
  },
  {
    catalog: "memory",
    schema: "main",
    name: "customers",
    kind: "table",
    columns: [columnOf("id", int32, false)],
    keys: [{ kind: "primary", columns: ["id"] }],
  },
  {
    catalog: "memory",
    schema: "main",
    name: "recent",
    kind: "view",
    columns: [columnOf("id", int32)],
  },
  { catalog: "other", schema: "main", name: "elsewhere", kind: "table", columns: [] },
];

/** A table without columns. */
export function tableOf(name: string): TableListing {
  return { catalog: "memory", schema: "main", name, kind: "table", columns: [] };
}

/** What a client of the catalog sees of an answer. */
export interface CatalogResult {
  readonly columns: readonly string[];
  readonly rows: readonly (readonly (string | null)[])[];
  /** SQLSTATE or code, and the message, of a failure. */
  readonly error: string | undefined;
}

function hostOfBundle(): Host {
  return nodeHost(new URL("../../../../gateway/dist/", import.meta.url), "silent");
}

/** Real threads, for a host whose clock is a test's. */
export function threadsOfBundle(): Host["threads"] {
  return hostOfBundle().threads;
}

/** Listings and sessions of one gateway. */
export class CatalogBench implements AsyncDisposable {
  readonly mirrors: Mirrors;
  /** What the next listing answers. */
  listed: readonly TableListing[] = tables;
  listings = 0;
  /** Key of the scope that sessions see: each has a mirror of its own. */
  scope = "one";

  constructor(mode: CatalogMode = "mirror", host: Host = hostOfBundle()) {
    const door = {
      ...scriptedDoor({ answers: {}, catalogs: ["memory", "other"] }),
      tables: async () =>
        ok({
          key: this.scope,
          list: async () => {
            this.listings += 1;
            return ok(this.listed);
          },
        }),
    };
    this.mirrors = new Mirrors(mode, door, host);
  }

  session(more: Partial<Session> = {}): ClientSession {
    return new ClientSession(sessionOf(more));
  }

  /** Runs a statement as a user and reads its cells as text. */
  async ask(
    sql: string,
    values: readonly MirrorValue[] = [],
    session = this.session(),
  ): Promise<CatalogResult> {
    const catalog = new SessionCatalog(this.mirrors, session, 4711);
    const { signal } = new AbortController();
    const events: ResultEvent[] = [];
    for await (const event of catalog.run({ sql }, values, { formats: [], signal })) {
      events.push(event);
    }
    return readEvents(events);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.mirrors[Symbol.asyncDispose]();
  }
}

function readEvents(events: readonly ResultEvent[]): CatalogResult {
  let columns: readonly string[] = [];
  let rows: (string | null)[][] = [];
  for (const event of events) {
    if (event.kind === "columns") columns = event.columns.map(({ name }) => name);
    if (event.kind === "failed") {
      const { sqlState, code, message } = event.error;
      return { columns, rows, error: `${sqlState ?? code} ${message}` };
    }
    if (event.kind !== "batch" || event.batch.form !== "columnar") continue;
    const { batch } = event;
    rows = Array.from({ length: batch.rows }, (_, row) =>
      batch.columns.map(({ values, offsets, validity }) => {
        const there = validity === undefined || ((validity[row >> 3] ?? 0) >> (row & 7)) & 1;
        const bytes = values.subarray(offsets?.[row], offsets?.[row + 1]);
        return there === true || there === 1 ? new TextDecoder().decode(bytes) : null;
      }),
    );
  }
  return { columns, rows, error: undefined };
}
