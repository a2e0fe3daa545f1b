/**
 * Transactions of a protocol without connections: the client sends the id that we gave it, and this file
 * finds the pin. The pin itself, its slot and its idle limit belong to the pipeline.
 */
import { gatewayError, type GatewayError } from "@gateway/core/error.ts";
import type { Host } from "@gateway/core/port/host.ts";
import type { Pin } from "@gateway/core/query/pin.ts";
import { err, ok, type Result } from "@gateway/core/result.ts";

interface Transaction {
  readonly pin: Pin;
  readonly user: string;
}

const idBytes = 16;

/** Open transactions by id. Their number is bounded by the slots they hold. */
export class Transactions {
  readonly #host: Pick<Host, "randomBytes">;
  readonly #open = new Map<string, Transaction>();

  constructor(host: Pick<Host, "randomBytes">) {
    this.#host = host;
  }

  get count(): number {
    return this.#open.size;
  }

  /** Remembers a transaction that began, and returns the id that its client sends from now on. */
  begin(pin: Pin, user: string): string {
    this.#forgetEnded();
    const id = uuidOf(this.#host.randomBytes(idBytes));
    this.#open.set(id, { pin, user });
    return id;
  }

  /** The transaction of that id. One of somebody else, or one that is over, is unknown. */
  find(id: string, user: string): Result<Pin, GatewayError> {
    const found = this.#open.get(id);
    const own = found?.user === user ? found.pin : undefined;
    if (own !== undefined && own.state !== "ended") return ok(own);
    return err(
      gatewayError(own?.endedBy?.code ?? "query.idleInTransaction", {
        message: `Unknown transaction ID: ${id}. Possibly expired? Commands ignored until end of transaction block`,
      }),
    );
  }

  /** The transaction was committed or rolled back. */
  end(id: string): void {
    this.#open.delete(id);
  }

  /** Rolls back everything that is open. */
  async close(): Promise<void> {
    const all = [...this.#open.values()];
    this.#open.clear();
    await Promise.all(all.map(({ pin }) => pin.end()));
  }

  #forgetEnded(): void {
    for (const [id, { pin }] of this.#open) {
      if (pin.state === "ended") this.#open.delete(id);
    }
  }
}

/** Clients and proxies expect the form of a UUID. */
function uuidOf(bytes: Uint8Array): string {
  const hex = Buffer.from(bytes).toString("hex");
  return [
    hex.slice(0, 8),
    hex.slice(8, 12),
    hex.slice(12, 16),
    hex.slice(16, 20),
    hex.slice(20),
  ].join("-");
}
