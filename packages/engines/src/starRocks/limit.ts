/**
 * The server's own time limit of a statement, as variables of the connection: `query_timeout` and, where the
 * server has it, `insert_timeout` (StarRocks 3.4, for what writes), both in seconds; `max_statement_time` of
 * MariaDB. Which of them a server knows is learned from its answers.
 *
 * A client may set them lower. A hint in a text goes over the connection's variables, so one that names
 * them is refused.
 */
import { gatewayError, type GatewayError } from "@gateway/core/error.ts";
import { ask } from "./client/control.ts";
import type { Member } from "./client/member.ts";
import { setStatement } from "./client/session.ts";

/** Variables of which any may be the limit. */
const variables = ["query_timeout", "insert_timeout", "max_statement_time"] as const;
/** Longest that StarRocks takes. */
const secsMax = 259_200;
const unknownVariable = 1193;

type Known = Readonly<Record<string, boolean>>;

/** What a cluster's servers know, learned by trying. */
export class EngineLimit {
  #known: Known = {};

  /** True once a server took a limit that holds for its statements. */
  get holds(): boolean {
    return this.#known["query_timeout"] === true || this.#known["max_statement_time"] === true;
  }

  /** Sets a limit on the connection, unless it has it. An error says why nothing may be sent there. */
  async bring(
    member: Member,
    maxExecutionMs: number,
    signal: AbortSignal,
  ): Promise<GatewayError | undefined> {
    const wanted = variables.map((name) => [name, secsOf(member, name, maxExecutionMs)] as const);
    const limit = wanted.join();
    if (member.limit === limit) return undefined;
    member.limit = undefined;
    for (const [name, secs] of wanted) {
      if (this.#known[name] === false || (name === "max_statement_time" && this.holds)) continue;
      const done = await ask(member, setStatement(name, `${secs}`), signal);
      const unknown = !done.ok && isUnknown(done.error);
      if (!done.ok && !unknown) {
        // Some may be set by now and others not.
        member.tainted = true;
        return done.error;
      }
      this.#known = { ...this.#known, [name]: !unknown };
    }
    member.limit = limit;
    return undefined;
  }
}

/** A client that changes one of them changes what the connection's limit is. */
export function changesLimit(name: string): boolean {
  return (variables as readonly string[]).includes(name);
}

/** The refusal of a text that may say its own limit; read widely. */
export function hintRefusal(sql: string): GatewayError | undefined {
  const named = variables.find((name) => sql.toLowerCase().includes(name));
  if (named === undefined || !/\bset(?:_var|\s+statement)\b/i.test(sql)) return undefined;
  const message = `${named} can be set with SET only: the group limits it`;
  return gatewayError("query.unsupported", { message });
}

/** The client's own where that is shorter; 0 means none. */
function secsOf(member: Pick<Member, "variables">, name: string, maxExecutionMs: number): number {
  const limit = Math.min(secsMax, Math.max(1, Math.floor(maxExecutionMs / 1_000)));
  const own = member.variables.get(name) ?? "";
  return /^\d{1,9}$/.test(own) && Number(own) > 0 ? Math.min(limit, Number(own)) : limit;
}

function isUnknown({ vendor }: GatewayError): boolean {
  return vendor?.of === "mysql" && vendor.code === unknownVariable;
}
