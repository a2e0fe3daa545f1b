/**
 * Authorization by OpenFGA, beside the allow lists: both must let a caller in.
 *
 * The user's groups travel with each question as contextual tuples, so the store holds relations of
 * groups and need not know who is in them. Only a yes is remembered, and briefly; whatever goes wrong
 * is a no.
 */
import { createHash } from "node:crypto";
import { secretText } from "@gateway/contract/config/secret.ts";
import type { AuthContext } from "@gateway/core/query/identity.ts";
import type { Authorizer } from "@gateway/core/port/authorizer.ts";
import type { Host } from "@gateway/core/port/host.ts";
import { Aged } from "@gateway/core/tool/aged.ts";
import { unlessAborted } from "@gateway/core/tool/pause.ts";
import { HttpClient, type HttpRequest } from "../connect/http.ts";
import type { OpenFgaConfig } from "./config.ts";

export interface ClosableAuthorizer extends Authorizer, AsyncDisposable {
  mayUse(...asked: Parameters<Authorizer["mayUse"]>): Promise<boolean>;
}

type Relation = "reader" | "can_cancel";

/** Checks at once. Further ones wait, within their time limit. */
const connectionsMax = 16;
const rememberedMax = 10_000;
/**
 * After no answer about a user, the server is not asked about that user again for this long: a query may
 * try many groups, one after the other.
 */
const restMs = 1_000;
/** OpenFGA refuses a question with more contextual tuples. */
const groupsMax = 100;

/** Makes the authorizer; `lists` are the allow lists and operators of the configuration. */
export function openFgaAuthorizer(
  config: OpenFgaConfig,
  lists: Authorizer,
  host: Host,
): ClosableAuthorizer {
  const checks = new OpenFgaChecks(config, host);
  return {
    mayUse: async (identity, group, signal) => {
      if (!(await lists.mayUse(identity, group, signal))) return false;
      const allowed = checks.allows({ identity, relation: "reader", group });
      return unlessAborted(allowed, signal, () => false);
    },
    mayCancel: async (identity, group) => {
      if (await lists.mayCancel(identity, group)) return true;
      if (group === undefined) return false;
      return checks.allows({ identity, relation: "can_cancel", group });
    },
    [Symbol.asyncDispose]: () => checks[Symbol.asyncDispose](),
  };
}

interface Check {
  readonly identity: AuthContext;
  readonly relation: Relation;
  readonly group: string;
}

class OpenFgaChecks implements AsyncDisposable {
  readonly #config: OpenFgaConfig;
  readonly #host: Host;
  readonly #http: HttpClient;
  /** For each check that was allowed: its key and the end of its validity. */
  readonly #allowed = new Aged<string, number>();
  /** Checks that are being asked, so that a burst of the same asks once. */
  readonly #asking = new Map<string, Promise<boolean>>();
  /** Users about whom the server gave no answer, and when it may be asked again. */
  readonly #resting = new Aged<string, number>();

  constructor(config: OpenFgaConfig, host: Host) {
    const { timeoutMs, caFile } = config;
    this.#config = config;
    this.#host = host;
    this.#http = new HttpClient({ timeoutMs, caFile, connectionsMax }, host);
  }

  /** Never rejects. */
  async allows(check: Check): Promise<boolean> {
    const key = keyOf(check);
    if (this.#remembers(key)) return true;
    const asking = this.#asking.get(key);
    if (asking !== undefined) return asking;
    const restsUntilMs = this.#resting.get(check.identity.user) ?? Number.NEGATIVE_INFINITY;
    return this.#host.clock.nowMs() < restsUntilMs ? false : this.#ask(check, key);
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.#http[Symbol.asyncDispose]();
  }

  #remembers(key: string): boolean {
    const untilMs = this.#allowed.get(key);
    return untilMs !== undefined && untilMs > this.#host.clock.nowMs();
  }

  #ask(check: Check, key: string): Promise<boolean> {
    // The answer is valid from the time of the question, because it may be that old.
    const untilMs = this.#host.clock.nowMs() + this.#config.cacheTtlMs;
    const asking = this.#answerTo(check).then((allowed) => {
      this.#asking.delete(key);
      if (allowed && this.#config.cacheTtlMs > 0) {
        this.#allowed.putWithin(rememberedMax, key, untilMs);
      }
      return allowed;
    });
    this.#asking.set(key, asking);
    return asking;
  }

  async #answerTo(check: Check): Promise<boolean> {
    if (check.identity.groups.length > groupsMax) return this.#denied("too many groups");
    const answer = await this.#http.ask(questionOf(check, this.#config));
    if (!answer.ok) {
      const { user } = check.identity;
      this.#resting.putWithin(rememberedMax, user, this.#host.clock.nowMs() + restMs);
      return this.#denied(answer.error);
    }
    const { status, json } = answer.value;
    if (status !== 200) return this.#denied(`status ${status}`);
    const allowed = typeof json === "object" && json !== null && "allowed" in json;
    if (!allowed || typeof json.allowed !== "boolean") return this.#denied("no answer");
    return json.allowed;
  }

  #denied(reason: string): false {
    this.#host.log.write("warn", "authorization.unavailable", { reason });
    return false;
  }
}

function questionOf({ identity, relation, group }: Check, config: OpenFgaConfig): HttpRequest {
  const { url, storeId, authorizationModelId, credentials, groupType } = config;
  const user = `user:${idOf(identity.user)}`;
  const tuples = identity.groups.map((name) => ({
    user,
    relation: "member",
    object: `${groupType}:${idOf(name)}`,
  }));
  return {
    url: `${url.replace(/\/$/, "")}/stores/${storeId}/check`,
    body: {
      tuple_key: { user, relation, object: `cluster_group:${group}` },
      ...(tuples.length > 0 && { contextual_tuples: { tuple_keys: tuples } }),
      ...(authorizationModelId !== undefined && { authorization_model_id: authorizationModelId }),
    },
    ...(credentials !== undefined && { token: secretText(credentials.bearer) }),
  };
}

/**
 * A name as an id of OpenFGA. There `*` means everyone, `#` separates a relation and `:` a type, and blanks
 * are refused. Whatever is not a letter, a digit or harmless is written as its bytes (`%2A`).
 */
function idOf(name: string): string {
  return name.replaceAll(/[^\p{L}\p{N}._@+=/~-]/gu, (character) =>
    Buffer.from(character, "utf8")
      .toString("hex")
      .toUpperCase()
      .replaceAll(/../g, (byte) => `%${byte}`),
  );
}

/** Of bounded length; every part is quoted, so no two checks share one. */
function keyOf({ identity: { user, groups }, relation, group }: Check): string {
  const text = JSON.stringify([relation, group, user, groups.toSorted()]);
  return createHash("sha256").update(text).digest("base64");
}
