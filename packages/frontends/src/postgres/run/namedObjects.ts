/** Prepared statements and portals of one connection by their names, limited in number and size. */
import { gatewayError, type GatewayError } from "@gateway/core/error.ts";
import { err, ok, type Result } from "@gateway/core/result.ts";
import type { PostgresCall, PreparedText } from "@gateway/core/query/query.ts";
import type { Parameter } from "@gateway/core/type/type.ts";
import type { Format } from "@gateway/wire/postgres/message.ts";
import type { Prepared } from "../read/statement.ts";
import type { Execution } from "./execution/execution.ts";

/** The most that one connection may have. */
const statementsMax = 5000;
const portalsMax = 500;
/** The most that texts and values of one connection take, counted in messages of the largest size, */
const messagesMax = 4;
/** and in bytes, but for one message that is larger. */
const bytesMax = 128 * 1024 * 1024;

/** A statement with its values. */
export interface Portal {
  readonly prepared: Prepared;
  readonly parameters: readonly Parameter[];
  readonly formats: readonly Format[];
  /** The values and formats as they came, for a statement that is relayed. */
  readonly call?: PostgresCall | undefined;
  /** Bytes the values take, for the limit. */
  readonly bytes: number;
  execution: Execution | undefined;
}

export class NamedObjects {
  /** Made with the first name: most connections at rest keep none. */
  #statements: Map<string, Prepared> | undefined;
  #portals: Map<string, Portal> | undefined;
  readonly #bytesMax: number;
  #bytes = 0;

  /** The length of a message bounds the texts of statements and the values of portals together. */
  constructor(messageBytesMax: number) {
    const several = Math.min(messageBytesMax * messagesMax, bytesMax);
    this.#bytesMax = Math.max(messageBytesMax, several);
  }

  statement(name: string): Result<Prepared, GatewayError> {
    const prepared = this.#statements?.get(name);
    return prepared === undefined ? err(unknownStatement(name)) : ok(prepared);
  }

  portal(name: string): Result<Portal, GatewayError> {
    const portal = this.#portals?.get(name);
    return portal === undefined ? err(unknownPortal(name)) : ok(portal);
  }

  /** The same portal for FETCH and the like; their error calls it a cursor. */
  cursor(name: string): Result<Portal, GatewayError> {
    const portal = this.#portals?.get(name);
    return portal === undefined ? err(unknownCursor(name)) : ok(portal);
  }

  /** Answers why a statement with that name and text may not be put. The unnamed one gives way. */
  admitStatement(name: string, text: string): GatewayError | undefined {
    if (name !== "" && this.#statements?.has(name) === true) {
      const message = `prepared statement "${name}" already exists`;
      return gatewayError("query.invalid", { sqlState: "42P05", message });
    }
    if (name === "") this.dropStatement("");
    const tooMany = (this.#statements?.size ?? 0) >= statementsMax;
    return tooMany || this.#tooMuch(bytesOf(text)) ? tooManyNamed() : undefined;
  }

  putStatement(name: string, prepared: Prepared): void {
    (this.#statements ??= new Map()).set(name, prepared);
    this.#bytes += bytesOf(prepared.text);
  }

  /** Answers why a portal with that name and values of that size may not be put. The unnamed one gives way. */
  admitPortal(
    name: string,
    bytes: number,
  ): GatewayError | Promise<GatewayError | undefined> | undefined {
    const ending = name === "" ? this.dropPortal("") : undefined;
    if (ending === undefined) return this.#admit(name, bytes);
    return ending.then(() => this.#admit(name, bytes));
  }

  #admit(name: string, bytes: number): GatewayError | undefined {
    if (this.#portals?.has(name) === true) {
      const message = `cursor "${name}" already exists`;
      return gatewayError("query.invalid", { sqlState: "42P03", message });
    }
    const tooMany = (this.#portals?.size ?? 0) >= portalsMax;
    return tooMany || this.#tooMuch(bytes) ? tooManyNamed() : undefined;
  }

  putPortal(name: string, portal: Portal): void {
    (this.#portals ??= new Map()).set(name, portal);
    this.#bytes += portal.bytes;
  }

  dropStatement(name: string): void {
    const prepared = this.#statements?.get(name);
    if (prepared === undefined) return;
    this.#statements?.delete(name);
    this.#bytes -= bytesOf(prepared.text);
  }

  dropStatements(): void {
    for (const name of this.#statements?.keys() ?? []) this.dropStatement(name);
  }

  /** Ends the portal's statement, if it is parked, and forgets the name. A promise only where that takes time. */
  dropPortal(name: string): Promise<void> | undefined {
    const portal = this.#portals?.get(name);
    if (portal === undefined) return undefined;
    this.#portals?.delete(name);
    this.#bytes -= portal.bytes;
    const { execution } = portal;
    // An execution that is over gave everything back already.
    const over = execution?.state === "complete" || execution?.state === "failed";
    return over ? undefined : execution?.[Symbol.asyncDispose]();
  }

  /** Drops all portals but `except`, which can not end from inside its own statement. */
  dropPortals(except?: string): Promise<void> | undefined {
    for (const name of this.#portals?.keys() ?? []) {
      const ending = name === except ? undefined : this.dropPortal(name);
      if (ending !== undefined) return ending.then(() => this.dropPortals(except));
    }
    return undefined;
  }

  /** The statements that have names, in the order in which they came. */
  get kept(): readonly PreparedText[] {
    return [...(this.#statements ?? [])].flatMap(([name, { text, types }]) =>
      name === "" ? [] : { name, text, types },
    );
  }

  get portalCount(): number {
    return this.#portals?.size ?? 0;
  }

  #tooMuch(bytes: number): boolean {
    return this.#bytes + bytes > this.#bytesMax;
  }
}

/** Why a portal that was executed can not be again. Undefined for one that has no more rows. */
export function againError(name: string, { execution }: Portal): GatewayError | undefined {
  if (execution?.state === "abandoned") return gatewayError("query.abandoned");
  if (execution?.state === "complete" && execution.columns !== undefined) return undefined;
  const message = `portal "${name}" cannot be run`;
  return gatewayError("query.invalid", { sqlState: "55000", message });
}

function bytesOf(text: string): number {
  return text.length * 2;
}

function unknownStatement(name: string): GatewayError {
  const shown = name === "" ? "unnamed prepared statement" : `prepared statement "${name}"`;
  return gatewayError("query.invalid", { sqlState: "26000", message: `${shown} does not exist` });
}

function unknownCursor(name: string): GatewayError {
  const message = `cursor "${name}" does not exist`;
  return gatewayError("query.invalid", { sqlState: "34000", message });
}

function unknownPortal(name: string): GatewayError {
  const message = `portal "${name}" does not exist`;
  return gatewayError("query.invalid", { sqlState: "34000", message });
}

function tooManyNamed(): GatewayError {
  return gatewayError("query.invalid", {
    sqlState: "54000",
    message: "the connection keeps too many prepared statements or portals",
    hint: "Close those that are not needed any more.",
  });
}
