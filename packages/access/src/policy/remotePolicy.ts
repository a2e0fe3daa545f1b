/**
 * A policy server behind the port of policies: one question for each caller, table and action, a time limit over all
 * of it, and decisions that are remembered for as long as the configuration lets them grow old.
 *
 * What is asked and how an answer is read is the server's own (opa.ts, cerbos.ts). Whatever goes wrong is
 * `unavailable`, which shows nothing and is never remembered.
 */
import { createHash } from "node:crypto";
import { secretText, type SecretConfig } from "@gateway/contract/config/secret.ts";
import type { Host } from "@gateway/core/port/host.ts";
import type {
  ClosablePolicy,
  PolicyQuestion,
  PolicySession,
  TableDecision,
} from "@gateway/core/port/sql/policy.ts";
import { Aged } from "@gateway/core/tool/aged.ts";
import { unlessAborted } from "@gateway/core/tool/pause.ts";
import { HttpClient, type HttpRequest } from "../connect/http.ts";

/** The parts of a configuration that all servers share. */
export interface PolicyServerConfig {
  readonly url: string;
  readonly credentials?: { readonly bearer: SecretConfig } | undefined;
  readonly caFile?: string | undefined;
  readonly timeoutMs: number;
  readonly cacheTtlMs: number;
}

/** What a server is told of the caller, in the order of its keys. */
export interface Caller {
  readonly name: string;
  readonly groups: readonly string[];
  readonly roles: readonly string[];
  readonly attributes: Readonly<Record<string, string | readonly string[]>>;
  /** Those of the configured names that the client set. */
  readonly settings: Readonly<Record<string, string>>;
}

/** The whole name in parts; a table without one has no such key. */
export interface AskedTable {
  readonly catalog?: string;
  readonly schema?: string;
  readonly name: string;
}

export interface PolicyServer {
  request(
    caller: Caller,
    question: PolicyQuestion,
  ): Pick<HttpRequest, "body" | "accept"> & {
    /** Behind the base address. */
    readonly path: string;
  };
  /** What the answer with status 200 says. Undefined for one that says nothing that can be used. */
  decision(json: unknown, question: PolicyQuestion): Decided | undefined;
}

/** What somebody decided. */
export type Decided = Exclude<TableDecision, { kind: "unavailable" }>;

/** Questions at once. Further ones wait, within their time limit. */
const connectionsMax = 16;
const rememberedMax = 20_000;
/** After no answer about a caller the server is not asked about that caller for this long: a listing asks about many tables. */
const restMs = 1_000;
const restingMax = 10_000;
/** Texts of sessions' settings that are sent on. */
const settingLengthMax = 1_000;

/** What a server is told beside the caller, the table and the action. */
export interface Told {
  /** Names of the session's settings. */
  readonly settings: readonly string[];
  /** The columns that a statement touches. */
  readonly columns: boolean;
}

export function remotePolicy(
  server: PolicyServer,
  { settings, columns, ...config }: PolicyServerConfig & Told,
  host: Host,
): ClosablePolicy {
  const questions = new Questions(server, config, host);
  const callerOf = (session: PolicySession): Caller => callerIn(session, settings);
  return {
    wantsColumns: columns,
    audience: (session) => JSON.stringify(callerOf(session)),
    decide: (question, signal) => questions.decide(callerOf(question.session), question, signal),
    [Symbol.asyncDispose]: () => questions[Symbol.asyncDispose](),
  };
}

interface Remembered {
  readonly decision: TableDecision;
  readonly untilMs: number;
}

class Questions implements AsyncDisposable {
  readonly #server: PolicyServer;
  readonly #config: PolicyServerConfig;
  readonly #host: Host;
  readonly #http: HttpClient;
  readonly #decided = new Aged<string, Remembered>();
  /** Being asked now, so that a burst of the same asks once. */
  readonly #asking = new Map<string, Promise<TableDecision>>();
  /** Callers about whom there was no answer, and when the server may be asked again. */
  readonly #resting = new Aged<string, number>();

  constructor(server: PolicyServer, config: PolicyServerConfig, host: Host) {
    const { timeoutMs, caFile } = config;
    this.#server = server;
    this.#config = config;
    this.#host = host;
    this.#http = new HttpClient({ timeoutMs, caFile, connectionsMax }, host);
  }

  /** Never rejects. A promise only where the server is asked. */
  decide(
    caller: Caller,
    question: PolicyQuestion,
    signal: AbortSignal,
  ): TableDecision | Promise<TableDecision> {
    const who = keyOf(caller);
    const key = keyOf([who, question.table, question.action, question.columns ?? null]);
    const nowMs = this.#host.clock.nowMs();
    const known = this.#decided.get(key);
    if (known !== undefined && known.untilMs > nowMs) return known.decision;
    const rests = (this.#resting.get(who) ?? Number.NEGATIVE_INFINITY) > nowMs;
    const asking =
      this.#asking.get(key) ?? (rests ? undefined : this.#ask(key, who, caller, question));
    return asking === undefined ? unavailable : unlessAborted(asking, signal, () => unavailable);
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.#http[Symbol.asyncDispose]();
  }

  #ask(key: string, who: string, caller: Caller, question: PolicyQuestion): Promise<TableDecision> {
    const { clock } = this.#host;
    // The answer is as old as the question.
    const untilMs = clock.nowMs() + this.#config.cacheTtlMs;
    const asking = this.#answerTo(caller, question)
      .then((found): TableDecision => {
        if (typeof found !== "string") {
          const decision = { ...found, untilMs };
          if (this.#config.cacheTtlMs > 0) {
            this.#decided.putWithin(rememberedMax, key, { decision, untilMs });
          }
          return decision;
        }
        this.#host.log.write("warn", "policy.unavailable", { reason: found });
        this.#resting.putWithin(restingMax, who, clock.nowMs() + restMs);
        return unavailable;
      })
      .finally(() => this.#asking.delete(key));
    this.#asking.set(key, asking);
    return asking;
  }

  /** A text is the reason why there is no decision: none of the server's own words. */
  async #answerTo(caller: Caller, question: PolicyQuestion): Promise<Decided | string> {
    const { url, credentials } = this.#config;
    const { path, ...request } = this.#server.request(caller, question);
    const answer = await this.#http.ask({
      ...request,
      url: url.replace(/\/$/, "") + path,
      ...(credentials !== undefined && { token: secretText(credentials.bearer) }),
    });
    if (!answer.ok) return answer.error;
    const { status, json } = answer.value;
    if (status !== 200) return `status ${status}`;
    return this.#server.decision(json, question) ?? "no decision in the answer";
  }
}

const unavailable = { kind: "unavailable" } as const;

/** Lists in one order, so that the same caller has one key. */
function callerIn({ identity, settings }: PolicySession, names: readonly string[]): Caller {
  const { user, groups, roles, attributes = {} } = identity;
  const told = names.flatMap((name) => {
    const value = settings.get(name);
    return value === undefined ? [] : [[name, value.slice(0, settingLengthMax)] as const];
  });
  return {
    name: user,
    groups: groups.toSorted(),
    roles: roles.toSorted(),
    attributes: Object.fromEntries(
      Object.entries(attributes).toSorted(([one], [other]) => (one < other ? -1 : 1)),
    ),
    settings: Object.fromEntries(told),
  };
}

/** The last three parts; a longer name is asked about with its first ones in the catalog. */
export function askedTable(table: readonly string[]): AskedTable {
  const [name = "", schema, ...rest] = table.toReversed();
  const catalog = rest.toReversed().join(".");
  return {
    ...(catalog !== "" && { catalog }),
    ...(schema !== undefined && { schema }),
    name,
  };
}

/** Of bounded length; every part is quoted, so no two questions share one. */
function keyOf(parts: unknown): string {
  return createHash("sha256").update(JSON.stringify(parts)).digest("base64");
}
