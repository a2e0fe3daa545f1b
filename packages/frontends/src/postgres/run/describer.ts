/**
 * Answers Describe: what a prepared statement takes and gives, and what a portal gives.
 *
 * Columns of a portal that only its engine knows are not asked for at once. Mostly Execute follows, and the
 * result then describes itself, which saves the engine a question. Any other message is answered after it.
 */
import type { GatewayError } from "@gateway/core/error.ts";
import type { Description } from "@gateway/core/query/event.ts";
import { ok, type Result } from "@gateway/core/result.ts";
import type { Column } from "@gateway/core/type/type.ts";
import type { FrontendMessage } from "@gateway/wire/postgres/message.ts";
import type { SessionCatalog } from "../catalog/sessionCatalog.ts";
import type { Outbox } from "../outbox.ts";
import { describedSignal } from "../read/signalStatement.ts";
import { preparedOf, type Prepared, type StatementReader } from "../read/statement.ts";
import { formatsFor, rowFields } from "../value/rows.ts";
import type { Cursors } from "./cursors.ts";
import {
  declaredNulls,
  formatCountError,
  keptDescription,
  knownColumns,
  parameterOid,
} from "./described.ts";
import type { Executor } from "./executor.ts";
import { failure, placeOf, type Failure } from "../failure.ts";
import type { NamedObjects, Portal } from "./namedObjects.ts";

export interface DescriberParts {
  readonly named: NamedObjects;
  readonly out: Outbox;
  readonly executor: Executor;
  readonly catalog: SessionCatalog;
  readonly read: StatementReader;
  cursors(): Cursors;
}

export class Describer {
  readonly #parts: DescriberParts;
  /** The portal whose description was asked for by the last message, and waits for its result. */
  #waiting: { readonly name: string; readonly portal: Portal } | undefined;

  constructor(parts: DescriberParts) {
    this.#parts = parts;
  }

  /** Describes a prepared statement: its parameters and its columns. */
  async statement(name: string): Promise<Failure | undefined> {
    const { named, out } = this.#parts;
    const found = named.statement(name);
    if (!found.ok) return failure(found.error);
    const prepared = found.value;
    const described = await this.of(prepared);
    if (!described.ok) return failure(described.error, placeOf(prepared));
    const { parameters, parameterOids } = described.value;
    const later = this.#parts.cursors().declaredLater(prepared);
    const known = later ? ok([]) : await this.#columnsOf(prepared);
    if (!known.ok) return failure(known.error, placeOf(prepared));
    const columns = known.value;
    const count = Math.max(parameters.length, prepared.types.length);
    const types =
      parameterOids ??
      Array.from({ length: count }, (_, index) => parameterOid(prepared, parameters, index));
    out.put({ kind: "parameterDescription", types });
    if (columns.length === 0) out.put({ kind: "noData" });
    else out.put({ kind: "rowDescription", fields: rowFields(columns, []) });
    return undefined;
  }

  /** Describes a portal, now or with its result. A promise only for a cursor that a server may have. */
  portal(name: string): Failure | Promise<Failure | undefined> | undefined {
    const found = this.#parts.named.portal(name);
    if (!found.ok) return this.#serversCursor(name, failure(found.error));
    const portal = found.value;
    const known = portal.execution?.columns ?? knownColumns(portal.prepared);
    if (known !== undefined) return this.#putColumns(known, portal);
    this.#waiting = { name, portal };
    return undefined;
  }

  /** A cursor that a text declared is the server's where statements are relayed; its columns are those of a FETCH. */
  #serversCursor(name: string, unknown: Failure): Failure | Promise<Failure | undefined> {
    const fetch = preparedOf(`FETCH 0 FROM "${name.replaceAll('"', '""')}"`, [], this.#parts.read);
    if (name === "" || !fetch.ok || fetch.value.relayed !== true) return unknown;
    const prepared = fetch.value;
    return this.of(prepared).then((described) => {
      if (!described.ok) {
        // A portal is looked for before a server asks in which state its transaction is.
        const { code } = described.error;
        return code === "query.transactionAborted" ? unknown : failure(described.error);
      }
      const { columns } = described.value;
      // A server describes a FETCH of no cursor as one without columns.
      if (columns.length === 0) return unknown;
      this.#parts.out.put({ kind: "rowDescription", fields: rowFields(columns, []) });
      return undefined;
    });
  }

  /** True when a description waits that this message does not answer: the execution of its portal does. */
  waits(next: FrontendMessage): boolean {
    if (this.#waiting === undefined) return false;
    return next.kind !== "execute" || next.portal !== this.#waiting.name;
  }

  /** A portal is executed, and nothing waits any more. True when its description did: its result gives it. */
  taken(portal: Portal): boolean {
    const waited = this.#waiting?.portal === portal;
    this.#waiting = undefined;
    return waited;
  }

  /** Answers the description that waits. */
  async settle(): Promise<Failure | undefined> {
    const waiting = this.#waiting;
    if (waiting === undefined) return undefined;
    this.#waiting = undefined;
    const { portal } = waiting;
    const columns = await this.#columnsOf(portal.prepared);
    if (!columns.ok) return failure(columns.error, placeOf(portal.prepared));
    return this.#putColumns(columns.value, portal);
  }

  /** What a prepared statement takes and gives; asked for once, of the engine or the catalog's mirror. */
  async of(prepared: Prepared): Promise<Result<Description, GatewayError>> {
    if (prepared.description !== undefined) return ok(prepared.description);
    const { kind, copies, signal } = prepared;
    // Who may send it is told when it runs: no server knows the numbers of the gateway's connections.
    if (signal !== undefined) return ok((prepared.description = describedSignal(signal)));
    if (copies === true) return ok({ parameters: [], columns: [] });
    if (kind.kind !== "query" && kind.kind !== "copy" && kind.kind !== "declare") {
      return ok({ parameters: [], columns: knownColumns(prepared) ?? [] });
    }
    const { catalog, executor } = this.#parts;
    const described = catalog.takes(prepared)
      ? await executor.describeCatalog(prepared)
      : await executor.describe(prepared, declaredNulls(prepared));
    return keptDescription(prepared, described);
  }

  /** Columns of the result, asked for where they are not known. */
  async #columnsOf(prepared: Prepared): Promise<Result<readonly Column[], GatewayError>> {
    const { kind } = prepared;
    const known = knownColumns(prepared);
    if (known !== undefined) return ok(known);
    if (kind.kind === "cursor" && kind.cursor.kind === "fetch") {
      return await this.#parts.cursors().columnsOf(kind.cursor);
    }
    const described = await this.of(prepared);
    return described.ok ? ok(described.value.columns) : described;
  }

  #putColumns(columns: readonly Column[], portal: Portal): Failure | undefined {
    const { out } = this.#parts;
    if (columns.length === 0) {
      out.put({ kind: "noData" });
      return undefined;
    }
    const formats = formatsFor(portal.formats, columns);
    if (formats === undefined) {
      return failure(formatCountError(portal.formats.length, columns.length));
    }
    out.put({ kind: "rowDescription", fields: rowFields(columns, formats) });
    return undefined;
  }
}

/** What an engine says of a text. With any other error it could not be asked, and the next step tells why. */
const aboutText: ReadonlySet<GatewayError["code"]> = new Set<GatewayError["code"]>([
  "policy.denied",
  "query.data",
  "query.invalid",
  "query.parameters",
  "query.permission",
  "query.syntax",
  "query.transactionAborted",
  "query.unknownObject",
]);

/** True for an error that is about the text itself. */
export function isAboutText({ code }: GatewayError): boolean {
  return aboutText.has(code);
}
