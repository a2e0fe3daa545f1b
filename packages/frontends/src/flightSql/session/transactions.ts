/**
 * Transactions of a protocol without connections: the client sends the id that we gave it, and this file finds
 * the pin. The pin itself, its slot and its idle limit belong to the pipeline.
 */
import { gatewayError, type GatewayError } from "@gateway/core/error.ts";
import type { Host } from "@gateway/core/port/host.ts";
import type { Pin } from "@gateway/core/query/pin.ts";
import { err, ok, type Result } from "@gateway/core/result.ts";
import type { Instance } from "../instance.ts";

interface Transaction {
  readonly pin: Pin;
  readonly user: string;
}

const idBytes = 16;

/** Open transactions by id. Their number is bounded by the slots they hold. */
export class Transactions {
  readonly #host: Pick<Host, "randomBytes">;
  readonly #instance: Instance;
  readonly #open = new Map<string, Transaction>();

  constructor(host: Pick<Host, "randomBytes">, instance: Instance) {
    this.#host = host;
    this.#instance = instance;
  }

  /** Remembers a transaction that began, and returns the id that its client sends from now on. */
  begin(pin: Pin, user: string): string {
    for (const [id, open] of this.#open) if (open.pin.state === "ended") this.#open.delete(id);
    const rest = Buffer.from(this.#host.randomBytes(idBytes)).toString("hex");
    const id = this.#instance.handle(rest).toString("latin1");
    this.#open.set(id, { pin, user });
    return id;
  }

  /** The transaction of that id. One of somebody else, or one that is over, is unknown. */
  find(id: string, user: string): Result<Pin, GatewayError> {
    const found = this.#open.get(id);
    const own = found?.user === user ? found.pin : undefined;
    if (this.#instance.foreign(Buffer.from(id, "latin1")) !== undefined) {
      return err(gatewayError("query.elsewhere"));
    }
    if (own !== undefined && own.state !== "ended") return ok(own);
    const message = "The transaction is not known, or it is over.";
    return err(own?.endedBy ?? gatewayError("query.transaction", { message }));
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
}
