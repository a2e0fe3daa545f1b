/**
 * Whether the server answers, and what it says of the statements it runs.
 *
 * Its list of statements counts as complete only while it is proved that it shows ours: a statement of
 * our own was run under a tag and found in the list with that tag. Where users have identities of their
 * own that proves nothing: whose statements an account is shown is a rule of the server.
 */
import type { QueryAuthMode } from "@gateway/contract/config/queryAuth.ts";
import { gatewayError, type GatewayError } from "@gateway/core/error.ts";
import type { RunningStatements } from "@gateway/core/port/backend.ts";
import { err, ok, type Result } from "@gateway/core/result.ts";
import { tagPrefix } from "@gateway/core/query/tag.ts";
import { requestHeader } from "@gateway/wire/trino/headers.ts";
import { errorOfHttp, errorOfStatus } from "./errors.ts";
import { proofMs } from "./limits.ts";
import { askOwn } from "./client/own.ts";
import type { RunContext } from "./client/run.ts";
import { withHeader, type RequestHead } from "./client/session.ts";

const infoPath = "/v1/info";
const queriesPath = "/v1/query";
/** A statement is in the list when its POST is answered. */
const delayMs = 1_000;
const ended: ReadonlySet<string> = new Set(["FINISHED", "FAILED"]);

/** A statement in the server's list. */
interface Listed {
  readonly id: string;
  readonly ended: boolean;
  readonly tags: readonly string[];
}

/** How a server's health is found out. */
export interface HealthPlan {
  /** Of the gateway itself; undefined where it has no login of its own. */
  readonly own: RequestHead | undefined;
  /** As whom users' statements run. */
  readonly mode: QueryAuthMode;
  /** A statement that must succeed too; undefined where none is configured. */
  readonly checkSql: string | undefined;
}

export class Health {
  readonly #context: RunContext;
  readonly #plan: HealthPlan;
  #provedAtMs: number | undefined;
  #complete = false;

  constructor(context: RunContext, plan: HealthPlan) {
    this.#context = context;
    this.#plan = plan;
  }

  /** True when the server is up and takes the service account, where there is one that statements need. */
  async probe(signal: AbortSignal): Promise<boolean> {
    if (!(await this.#started(signal))) return false;
    const { own, mode, checkSql } = this.#plan;
    if (own === undefined) return true;
    if (checkSql !== undefined) {
      const checked = await this.#ask(checkSql, own, signal);
      if (!checked.ok) return false;
    }
    if (this.#isProved() || bringsLogin.has(mode)) return true;
    return mode === "serviceAccount"
      ? await this.#prove(own, signal)
      : await this.#isTaken(own, signal);
  }

  async running(signal: AbortSignal): Promise<Result<RunningStatements, GatewayError>> {
    const { own } = this.#plan;
    if (own === undefined) return ok({ tags: [], complete: false, delayMs });
    const listed = await this.#list(own, signal);
    if (!listed.ok) return listed;
    const tags = listed.value
      .filter((one) => !one.ended)
      .flatMap((one) => one.tags.filter((tag) => tag.startsWith(tagPrefix)).slice(-1));
    return ok({ tags, complete: this.#complete, delayMs });
  }

  /** Ends what runs under a tag, whoever sent it. */
  async end(tag: string, signal: AbortSignal): Promise<Result<void, GatewayError>> {
    const { own } = this.#plan;
    if (own === undefined)
      return err(gatewayError("auth.noBackendIdentity", { detail: noAccount }));
    const listed = await this.#list(own, signal);
    if (!listed.ok) return listed;
    for (const { id } of listed.value.filter((one) => !one.ended && one.tags.at(-1) === tag)) {
      const path = `${queriesPath}/${encodeURIComponent(id)}`;
      const answer = await this.#request("DELETE", path, own, signal);
      if (!answer.ok) return err(errorOfHttp(answer.error, true));
      const { status } = answer.value;
      if (status !== 204 && status !== 410) return err(errorOfStatus(status, own.caller));
    }
    return ok(undefined);
  }

  #isProved(): boolean {
    const nowMs = this.#context.host.clock.nowMs();
    return this.#provedAtMs !== undefined && nowMs - this.#provedAtMs < proofMs;
  }

  async #started(signal: AbortSignal): Promise<boolean> {
    const answer = await this.#request("GET", infoPath, nobody, signal);
    if (!answer.ok || answer.value.status !== 200) return false;
    const info = parsed(answer.value.body);
    return fieldOf(info, "starting") === false;
  }

  /** Runs a statement and looks for it. False when the server runs none for us. */
  async #prove(own: RequestHead, signal: AbortSignal): Promise<boolean> {
    const mark = Buffer.from(this.#context.host.randomBytes(12)).toString("hex");
    const tag = `gateway-probe-${mark}`;
    const headers = withHeader(own.headers, requestHeader.clientTags, tag);
    const run = await this.#ask("SELECT 1", { ...own, headers }, signal);
    if (!run.ok) return false;
    const listed = await this.#list(own, signal);
    const found = listed.ok ? listed.value.find(({ id }) => id === run.value.id) : undefined;
    this.#complete = found?.tags.includes(tag) === true;
    this.#provedAtMs = this.#context.host.clock.nowMs();
    return true;
  }

  /** Whether the account may log in. It may have no right to run statements itself. */
  async #isTaken(own: RequestHead, signal: AbortSignal): Promise<boolean> {
    const listed = await this.#list(own, signal);
    if (listed.ok) this.#provedAtMs = this.#context.host.clock.nowMs();
    return listed.ok;
  }

  #request(
    method: "GET" | "DELETE",
    path: string,
    { headers, caller }: RequestHead | typeof nobody,
    signal: AbortSignal,
  ) {
    const { http } = this.#context;
    const sent = http.headersOf(headers, caller);
    return http.ask({ method, path, headers: sent, body: undefined, control: true }, signal);
  }

  #ask(sql: string, head: RequestHead, signal: AbortSignal) {
    return askOwn(this.#context, { ...head, sql, rowsMax: rowsOfCheckMax }, signal);
  }

  async #list(
    own: RequestHead,
    signal: AbortSignal,
  ): Promise<Result<readonly Listed[], GatewayError>> {
    const answer = await this.#request("GET", queriesPath, own, signal);
    if (!answer.ok) return err(errorOfHttp(answer.error, true));
    if (answer.value.status !== 200) return err(errorOfStatus(answer.value.status, own.caller));
    const all = parsed(answer.value.body);
    if (Array.isArray(all)) return ok((all as readonly unknown[]).map(listedOf));
    return err(gatewayError("engine.broken", { detail: "a list of statements that is none" }));
  }
}

/** Who asks for what the server shows to everyone. */
const nobody = { headers: [], caller: "nobody" } as const;

/** Modes in which users log in themselves, so that a refused service account is nobody's outage. */
const bringsLogin: ReadonlySet<QueryAuthMode> = new Set(["passthrough", "tokenExchange"]);
const noAccount = "the cluster has no service account";

/** A health check's rows are not looked at. */
const rowsOfCheckMax = 1_000;

function listedOf(query: unknown): Listed {
  const tags = fieldOf(fieldOf(query, "session"), "clientTags");
  const id = fieldOf(query, "queryId");
  const state = fieldOf(query, "state");
  return {
    id: typeof id === "string" ? id : "",
    ended: typeof state === "string" && ended.has(state),
    tags: Array.isArray(tags)
      ? (tags as readonly unknown[]).filter((tag) => typeof tag === "string")
      : [],
  };
}

function parsed(body: Uint8Array): unknown {
  try {
    return JSON.parse(Buffer.from(body).toString("utf8")) as unknown;
  } catch {
    return undefined;
  }
}

function fieldOf(value: unknown, name: string): unknown {
  if (typeof value !== "object" || value === null) return undefined;
  return (value as Readonly<Record<string, unknown>>)[name];
}
