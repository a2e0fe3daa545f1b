/** Prepared statements by handle. Each belongs to its user; what nobody uses is forgotten. */
import { gatewayError, type GatewayError } from "@gateway/core/error.ts";
import type { Host } from "@gateway/core/port/host.ts";
import { err, ok, type Result } from "@gateway/core/result.ts";
import type { Description } from "@gateway/core/query/event.ts";
import type { Instance } from "../instance.ts";
import { preparedBytesMax, preparedLifeMs, preparedMax, preparedOfUserMax } from "../limits.ts";
import type { ParameterRows } from "../value/parameters.ts";

export interface Prepared {
  readonly user: string;
  readonly sql: string;
  readonly transaction: string | undefined;
  readonly description: Description;
  /** Values for the next runs, one row each. */
  rows: ParameterRows;
  /** Bytes that the values took on their way. */
  rowBytes: number;
  usedMs: number;
}

const handleBytes = 16;

export class PreparedStatements {
  readonly #host: Pick<Host, "randomBytes" | "clock">;
  readonly #instance: Instance;
  readonly #all = new Map<string, Prepared>();
  #bytes = 0;

  constructor(host: Pick<Host, "randomBytes" | "clock">, instance: Instance) {
    this.#host = host;
    this.#instance = instance;
  }

  /** Keeps a statement and answers its handle, or refuses when too many are kept. */
  add(statement: Pick<Prepared, "user" | "sql" | "transaction" | "description">) {
    const usedMs = this.#host.clock.nowMs();
    this.#forgetUnused(usedMs);
    const ofUser = [...this.#all.values()].filter(({ user }) => user === statement.user).length;
    const full = this.#all.size >= preparedMax || ofUser >= preparedOfUserMax;
    if (full || this.#bytes + statement.sql.length > preparedBytesMax) return err(tooMany());
    const handle = Buffer.from(this.#host.randomBytes(handleBytes)).toString("hex");
    this.#all.set(handle, { ...statement, rows: [], rowBytes: 0, usedMs });
    this.#bytes += statement.sql.length;
    return ok(this.#instance.handle(handle));
  }

  /** The statement; one of somebody else is unknown. */
  find(handle: Uint8Array, user: string): Result<Prepared, GatewayError> {
    if (this.#instance.foreign(handle) !== undefined) return err(gatewayError("query.elsewhere"));
    const found = this.#all.get(this.#instance.rest(handle) ?? "");
    if (found === undefined || found.user !== user) {
      const message = "The prepared statement is not known.";
      return err(gatewayError("query.unknownObject", { message }));
    }
    found.usedMs = this.#host.clock.nowMs();
    return ok(found);
  }

  /** Takes values for the next runs in place of those before. */
  bind(prepared: Prepared, rows: ParameterRows, bytes: number): GatewayError | undefined {
    if (this.#bytes - prepared.rowBytes + bytes > preparedBytesMax) return tooMany();
    this.#bytes += bytes - prepared.rowBytes;
    prepared.rows = rows;
    prepared.rowBytes = bytes;
    return undefined;
  }

  close(handle: Uint8Array, user: string): Result<void, GatewayError> {
    const found = this.find(handle, user);
    if (!found.ok) return found;
    this.#forget(this.#instance.rest(handle) ?? "", found.value);
    return ok(undefined);
  }

  #forgetUnused(nowMs: number): void {
    for (const [handle, prepared] of this.#all) {
      if (nowMs - prepared.usedMs > preparedLifeMs) this.#forget(handle, prepared);
    }
  }

  #forget(handle: string, { sql, rowBytes }: Prepared): void {
    this.#all.delete(handle);
    this.#bytes -= sql.length + rowBytes;
  }
}

function tooMany(): GatewayError {
  const message = "Too many prepared statements, or too many values for them.";
  return gatewayError("capacity.statementText", { message });
}
