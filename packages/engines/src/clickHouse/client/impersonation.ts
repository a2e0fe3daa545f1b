/** Whether a server can run statements as users: it must be new enough, and be told to. */
import type { GatewayError } from "@gateway/core/error.ts";
import type { Host } from "@gateway/core/port/host.ts";
import type { Result } from "@gateway/core/result.ts";
import { quoteIdentifier } from "../sql/quote.ts";

/** How long it stays known that it can. */
const knownMs = 300_000;

/** Runs a statement as the service account. */
type Ask = (
  sql: string,
  signal: AbortSignal,
) => Promise<Result<readonly (readonly unknown[])[], GatewayError>>;

const faults = {
  tooOld: "EXECUTE AS needs ClickHouse 25.11 or newer",
  off: "access_control_improvements.allow_impersonate_user is not 1 on the server",
} as const;

export class Impersonation {
  readonly #cluster: string;
  readonly #host: Host;
  readonly #ask: Ask;
  #knownAtMs: number | undefined;
  #said: keyof typeof faults | undefined;

  constructor(cluster: string, host: Host, ask: Ask) {
    this.#cluster = cluster;
    this.#host = host;
    this.#ask = ask;
  }

  /** False is said once in the log, with what the server lacks. */
  async works(signal: AbortSignal): Promise<boolean> {
    const nowMs = this.#host.clock.nowMs();
    if (this.#knownAtMs !== undefined && nowMs - this.#knownAtMs < knownMs) return true;
    const self = await this.#ask("SELECT currentUser(), version()", signal);
    if (!self.ok) return false;
    const [account, version] = (self.value[0] ?? []).map(String);
    // The server looks at the setting before it looks at grants, which for itself it may have or not.
    const sql = `EXECUTE AS ${quoteIdentifier(account ?? "")} SELECT 1`;
    const answer = await this.#ask(sql, signal);
    const fault = answer.ok ? undefined : faultOf(answer.error);
    if (fault === "unreachable") return false;
    if (fault !== undefined && fault !== this.#said) this.#say(fault, version);
    this.#said = fault;
    this.#knownAtMs = fault === undefined ? nowMs : undefined;
    return fault === undefined;
  }

  #say(fault: keyof typeof faults, version: string | undefined): void {
    const fields = {
      cluster: this.#cluster,
      lacks: faults[fault],
      version: /^[\d.]{1,40}/.exec(version ?? "")?.[0],
    };
    this.#host.log.write("warn", "cluster.cannotImpersonate", fields);
  }
}

/** That it has no right to be that user is what a server says that could. */
function faultOf({ code }: GatewayError): keyof typeof faults | "unreachable" | undefined {
  switch (code) {
    case "query.syntax":
      return "tooOld";
    case "query.unsupported":
      return "off";
    case "cluster.connectFailed":
    case "engine.broken":
    case "query.cancelled":
      return "unreachable";
    default:
      return undefined;
  }
}
