/** Who makes a call, once that is proven: the login, the options of its cookie, and the sessions that follow. */
import type { Door } from "@gateway/core/port/door.ts";
import type { GatewayError } from "@gateway/core/error.ts";
import type { Sealer } from "@gateway/core/handle/seal.ts";
import type { Login } from "@gateway/core/port/authenticator.ts";
import type { SessionChange } from "@gateway/core/query/event.ts";
import type { Session } from "@gateway/core/query/query.ts";
import { ok, type Result } from "@gateway/core/result.ts";
import type { Call } from "./calls.ts";
import { noOptions, optionsIn, type SessionOptions } from "./session/options.ts";
import { sessionOf } from "./session/session.ts";
import type { Transactions } from "./session/transactions.ts";

export interface AskingParts {
  readonly door: Door;
  readonly sealer: Sealer;
  readonly transactions: Transactions;
}

/** A session, and how it hears of what its statement changes. */
export interface Asked {
  readonly session: Session;
  readonly transaction: string | undefined;
  readonly onChange: (change: SessionChange) => void;
}

export class Asking {
  readonly call: Call;
  readonly login: Login;
  readonly options: SessionOptions;
  readonly #parts: AskingParts;
  #first: Result<Uint8Array | undefined, GatewayError> | undefined;

  constructor(call: Call, login: Login, parts: AskingParts) {
    this.call = call;
    this.login = login;
    this.#parts = parts;
    this.options = optionsIn(call.header("cookie"), this.user, parts.sealer) ?? noOptions;
  }

  get user(): string {
    return this.login.identity.user;
  }

  /** The next message of the request; undefined behind its last one. */
  async next(): Promise<Result<Uint8Array | undefined, GatewayError>> {
    const first = this.#first ?? (await this.call.next(this.user));
    this.#first = undefined;
    return first;
  }

  /** The same, and `next` answers it once more. */
  async peek(): Promise<Result<Uint8Array | undefined, GatewayError>> {
    this.#first ??= await this.call.next(this.user);
    return this.#first;
  }

  /** A session outside of transactions. */
  session(): Session {
    return this.#sessionIn(undefined);
  }

  /** The session of a statement, in the transaction that it names. */
  asked(transactionId: Uint8Array | undefined): Result<Asked, GatewayError> {
    const { transactions } = this.#parts;
    if (transactionId === undefined || transactionId.length === 0) {
      return ok({ session: this.session(), transaction: undefined, onChange: endPin });
    }
    const id = Buffer.from(transactionId).toString("latin1");
    const pin = transactions.find(id, this.user);
    if (!pin.ok) return pin;
    const onChange = (change: SessionChange): void => {
      if (change.kind === "unpinned") transactions.end(id);
    };
    return ok({ session: this.#sessionIn(pin.value), transaction: id, onChange });
  }

  #sessionIn(pin: Session["pin"]): Session {
    return sessionOf(this.#parts.door, {
      login: this.login,
      address: this.call.peer.address,
      options: this.options,
      headers: this.call.headers(),
      pin,
    });
  }
}

/** Nobody would ever end a transaction that began in a text. */
function endPin(change: SessionChange): void {
  if (change.kind === "pinned") void change.pin.end();
}
