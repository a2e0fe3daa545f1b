/** The admin API as a drill uses it: consent, the registry, the history, and the document of the users. */
import { drillsPath, type DrillName } from "@gateway/contract/drillApi.ts";
import { parseRevision, type Revision } from "@gateway/contract/revision.ts";
import { err, ok, type Result } from "@gateway/core/result.ts";
import { z } from "zod";
import { basicLogin, jsonOf, request, type Reply } from "./http.ts";
import type { Login } from "./options.ts";

const answerMs = 20_000;
const pageSize = 1_000;
/** A million rows: a longer history of the time of one drill is not read. */
const pagesMax = 1_000;

const problemSchema = z.looseObject({ code: z.string(), detail: z.string().optional() });
const pageSchema = z.looseObject({
  items: z.array(z.unknown()),
  nextCursor: z.string().optional(),
});
const workerSchema = z.looseObject({
  name: z.string(),
  status: z.string(),
  activeRevision: z.string().optional(),
});
const recordSchema = z.looseObject({ proxyQueryId: z.string() });
const documentSchema = z.looseObject({ body: z.record(z.string(), z.unknown()) });
const writtenSchema = z.looseObject({ revision: z.string() });

export type RegisteredWorker = z.output<typeof workerSchema>;

/** Why the admin API did not do it. */
export interface AdminRefusal {
  /** Undefined where nothing answered. */
  readonly status: number | undefined;
  /** For people. */
  readonly text: string;
}

/** A document with the tag that its next write has to name. */
export interface Tagged {
  readonly body: Readonly<Record<string, unknown>>;
  readonly etag: string;
}

export class AdminApi {
  readonly #target: URL;
  readonly #login: Login;

  constructor(target: URL, login: Login) {
    this.#target = target;
    this.#login = login;
  }

  /** Whether the drill may begin. The error says why not, for people. */
  async consent(drill: DrillName): Promise<Result<void, AdminRefusal>> {
    const reply = await this.#ask("POST", drillsPath, { body: { drill } });
    if (reply.ok) return ok(undefined);
    const { status } = reply.error;
    return status === 404 ? refusal("this gateway is too old to know of drills") : reply;
  }

  /** Workers that serve. */
  async serving(): Promise<Result<readonly RegisteredWorker[], AdminRefusal>> {
    const rows = await this.#list("/admin/workers", workerSchema);
    return rows.ok ? ok(rows.value.filter(({ status }) => status === "active")) : rows;
  }

  /** Ids of queries of the Trino frontend that have a record and began after `fromUnixMs`. */
  async recorded(fromUnixMs: number): Promise<Result<ReadonlySet<string>, AdminRefusal>> {
    const path = `/admin/queries?frontend=trinoHttp&from=${Math.max(0, Math.floor(fromUnixMs))}`;
    const rows = await this.#list(path, recordSchema);
    return rows.ok ? ok(new Set(rows.value.map(({ proxyQueryId }) => proxyQueryId))) : rows;
  }

  async conflicts(): Promise<Result<number, AdminRefusal>> {
    const rows = await this.#list("/admin/query-conflicts", z.unknown());
    return rows.ok ? ok(rows.value.length) : rows;
  }

  async users(): Promise<Result<Tagged, AdminRefusal>> {
    const reply = await this.#ask("GET", authPath);
    if (!reply.ok) return reply;
    const document = documentSchema.safeParse(jsonOf(reply.value.text)).data;
    const etag = reply.value.headers.get("etag");
    if (document === undefined || etag === null) return refusal("the setting auth can not be read");
    return ok({ body: document.body, etag });
  }

  /** Answers the revision that the write led to. */
  async writeUsers({ body, etag }: Tagged): Promise<Result<Revision, AdminRefusal>> {
    const reply = await this.#ask("PUT", authPath, { body, etag });
    if (!reply.ok) return reply;
    const written = writtenSchema.safeParse(jsonOf(reply.value.text)).data;
    const revision = parseRevision(written?.revision ?? "");
    return revision === undefined ? refusal("the write names no revision") : ok(revision);
  }

  async #list<Item>(
    path: string,
    schema: z.ZodType<Item>,
  ): Promise<Result<readonly Item[], AdminRefusal>> {
    const items: Item[] = [];
    let cursor: string | undefined;
    for (let page = 0; page < pagesMax; page += 1) {
      const after = cursor === undefined ? "" : `&cursor=${encodeURIComponent(cursor)}`;
      const join = path.includes("?") ? "&" : "?";
      const reply = await this.#ask("GET", `${path}${join}limit=${pageSize}${after}`);
      if (!reply.ok) return reply;
      const read = pageSchema.safeParse(jsonOf(reply.value.text)).data;
      const rows = z.array(schema).safeParse(read?.items).data;
      if (read === undefined || rows === undefined) return refusal(`${path} answers no page`);
      items.push(...rows);
      cursor = read.nextCursor;
      if (cursor === undefined) return ok(items);
    }
    return refusal(`${path} has more than ${pagesMax} pages`);
  }

  async #ask(
    method: "GET" | "POST" | "PUT",
    path: string,
    { body, etag }: { readonly body?: unknown; readonly etag?: string } = {},
  ): Promise<Result<Reply, AdminRefusal>> {
    const reply = await request(new URL(path, this.#target), {
      method,
      headers: {
        ...basicLogin(this.#login),
        ...(body === undefined ? {} : { "content-type": "application/json" }),
        ...(etag === undefined ? {} : { "if-match": etag }),
      },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      signal: AbortSignal.timeout(answerMs),
    });
    if (!reply.ok) return refusal(`the admin API at ${this.#target.host} does not answer`);
    if (reply.value.status < 300) return reply;
    return err({ status: reply.value.status, text: reasonOf(reply.value) });
  }
}

const authPath = "/admin/settings/auth";

/** Whether a worker runs under what `revision` holds: the registry names contents alone. */
export function hasRevision({ activeRevision }: RegisteredWorker, revision: Revision): boolean {
  return activeRevision === revision.hash;
}

function refusal(text: string) {
  return err({ status: undefined, text });
}

function reasonOf({ status, text }: Reply): string {
  const problem = problemSchema.safeParse(jsonOf(text)).data;
  if (problem === undefined) return String(status);
  return `${problem.detail ?? problem.code} (${status} ${problem.code})`;
}
