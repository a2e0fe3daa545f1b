/**
 * Executions of one prepared statement whose answers are not here yet: a client that sends Bind and Execute again and
 * again before its Sync gets each answer in its order, and waits for the server once for many of them.
 *
 * Only what the transaction's server takes so (`Pin.streams`) comes here, and only what can not fail before it is there.
 * Any other message waits until all is answered, and so does the end of what the client has sent so far.
 *
 * Reads outside of a transaction do not come here. Each is judged, queued and routed by itself, perhaps to several servers,
 * and nothing but a transaction keeps them on one. To begin one for them (`implicit.ts` does where something is written)
 * would cost two more ways to the server, put a primary where replicas would do, and keep a connection from everybody
 * else up to a Sync that a client who sends Flush alone may never send.
 */
import { gatewayError, type GatewayError } from "@gateway/core/error.ts";
import type { FrontendMessage } from "@gateway/wire/postgres/message.ts";
import type { SessionCatalog } from "../../catalog/sessionCatalog.ts";
import type { ClientSession } from "../../session/clientSession.ts";
import type { Failure } from "../../failure.ts";
import type { Outbox } from "../../outbox.ts";
import type { Prepared } from "../../read/statement.ts";
import { bytesOf, callOf, wrongCount, wrongFormats } from "../binding.ts";
import type { Describer } from "../describer.ts";
import type { Executor } from "../executor.ts";
import type { NamedObjects, Portal } from "../namedObjects.ts";

type Bind = Extract<FrontendMessage, { kind: "bind" }>;

export interface PipelineParts {
  readonly session: ClientSession;
  readonly out: Outbox;
  readonly executor: Executor;
  readonly catalog: SessionCatalog;
  readonly named: NamedObjects;
  /** Whether another whole message of the client is here. */
  readonly inbox: { whole(): boolean };
  readonly describer: () => Describer;
  /** Writes the answer to an execution. */
  step(portal: Portal, announce: Announce): Promise<Failure | undefined>;
}

type Announce = "rowsOrNone" | "no";

/** An execution with its Bind, and whether its description was asked for. */
interface Entry {
  readonly portal: Portal;
  announce: Announce;
}

/** So many wait for their answers at most; then half of them are waited for, and the next are sent together. */
const entriesMax = 64;
/** The most that their values take. */
const valuesMax = 512 * 1024;

/** What the record says of those behind one that failed: a server reads on to the Sync and runs none of them. */
const behindFailed = gatewayError("query.cancelled", {
  message: "not run, because an earlier statement of its series failed",
});

export class Pipeline {
  readonly #parts: PipelineParts;
  #entries: Entry[] = [];
  #bytes = 0;
  /** Bound, and not executed yet. */
  #bound: Entry | undefined;

  constructor(parts: PipelineParts) {
    this.#parts = parts;
  }

  /** Something is not answered yet. */
  get #waiting(): boolean {
    return this.#entries.length > 0 || this.#bound !== undefined;
  }

  /** True when this message has to wait until everything is answered. Undefined stands for one that can not be read. */
  waits(next: FrontendMessage | undefined): boolean {
    if (!this.#waiting) return false;
    const bound = this.#bound;
    switch (next?.kind) {
      case "bind":
        return bound !== undefined || !this.#fits(next, this.#preparedFor(next));
      case "describe":
        return next.target !== "portal" || next.name !== "" || bound?.announce !== "no";
      case "execute":
        return next.portal !== "" || next.maxRows !== 0 || bound === undefined;
      default:
        return true;
    }
  }

  /** Takes a Bind whose execution may begin before those before it are answered. False where it is to be bound alone. */
  takes(message: Bind, prepared: Prepared): boolean {
    if (!this.#waiting && !this.#begins(prepared)) return false;
    if (!this.#fits(message, prepared)) return false;
    const bytes = bytesOf(message);
    const portal = {
      prepared,
      parameters: [],
      formats: message.resultFormats,
      call: callOf(prepared, message, true),
      bytes,
      execution: undefined,
    };
    this.#bytes += bytes;
    this.#bound = { portal, announce: "no" };
    return true;
  }

  /** Takes the description of what was bound last: its answer tells it. False where nothing was. */
  describes(): boolean {
    if (this.#bound === undefined) return false;
    this.#bound.announce = "rowsOrNone";
    return true;
  }

  /** Begins what was bound last. False where nothing was. */
  executes(): boolean {
    const entry = this.#bound;
    if (entry === undefined) return false;
    this.#bound = undefined;
    const { portal } = entry;
    const { executor } = this.#parts;
    const { prepared: statement, parameters, call, formats } = portal;
    const promised = entry.announce === "no" ? statement.description?.columns : undefined;
    portal.execution = executor.prepare({ statement, parameters, call, formats, promised });
    portal.execution.begin();
    this.#entries.push(entry);
    executor.begun = this;
    return true;
  }

  /** Answers what there is no room for, or everything when nothing more has come. A promise only then. */
  goOn(): Promise<Failure | undefined> | undefined {
    if (!this.#parts.inbox.whole()) return this.settle();
    if (this.#bytes >= valuesMax) return this.#answerDownTo(0);
    return this.#entries.length >= entriesMax ? this.#answerDownTo(entriesMax / 2) : undefined;
  }

  /** Answers everything. What was bound last is bound as ever. */
  async settle(): Promise<Failure | undefined> {
    return (await this.#answerDownTo(0)) ?? (await this.#bindLast());
  }

  /** Ends what was begun: nobody waits for it. */
  cancel(reason: GatewayError): void {
    for (const { portal } of this.#entries) portal.execution?.cancel(reason);
  }

  /** The same, and waits for its end. Undefined where nothing was begun. */
  abandon(reason = gatewayError("query.cancelled")): Promise<void> | undefined {
    this.#bound = undefined;
    this.#bytes = 0;
    return this.#entries.length === 0 ? undefined : this.#abandon(reason);
  }

  async #abandon(reason: GatewayError): Promise<void> {
    this.cancel(reason);
    const entries = this.#entries;
    this.#entries = [];
    this.#parts.executor.begun = undefined;
    for (const { portal } of entries) await portal.execution?.[Symbol.asyncDispose]();
  }

  /** Answers the oldest until so many are left, or one fails: nothing of the others is told then. */
  async #answerDownTo(left: number): Promise<Failure | undefined> {
    const { out, named } = this.#parts;
    while (this.#entries.length > left) {
      const [entry] = this.#entries;
      if (entry === undefined) break;
      out.put({ kind: "bindComplete" });
      const failed = await this.#parts.step(entry.portal, entry.announce);
      this.#entries.shift();
      this.#bytes -= entry.portal.bytes;
      if (failed !== undefined) {
        await this.abandon(behindFailed);
        return failed;
      }
      // The unnamed portal is the last that was executed.
      if (this.#entries.length === 0) replace(named, entry.portal);
    }
    if (this.#entries.length === 0) this.#parts.executor.begun = undefined;
    return undefined;
  }

  async #bindLast(): Promise<Failure | undefined> {
    const bound = this.#bound;
    if (bound === undefined) return undefined;
    const { out, named, describer } = this.#parts;
    this.#bound = undefined;
    this.#bytes = 0;
    replace(named, bound.portal);
    out.put({ kind: "bindComplete" });
    if (bound.announce === "no") return undefined;
    const failed = describer().portal("");
    return (failed instanceof Promise ? await failed : failed) ?? (await describer().settle());
  }

  /** Whether executions of the statement may be begun ahead at all. */
  #begins(prepared: Prepared): boolean {
    const { session, executor, catalog } = this.#parts;
    if (prepared.relayed !== true || prepared.copies === true || prepared.varies === true)
      return false;
    if (prepared.signal !== undefined || prepared.cursor !== undefined) return false;
    if (session.status !== "T" || session.pin?.streams?.(prepared.statement) !== true) return false;
    // Its id would be told before the answers to those before it.
    const told = session.setting("gateway.report_query_id");
    return (told === "auto" || told === "off") && executor.mayBegin && !catalog.takes(prepared);
  }

  /** Whether this Bind can be answered behind the others, with nothing to be said against it here. */
  #fits(message: Bind, prepared: Prepared | undefined): boolean {
    if (message.portal !== "" || prepared === undefined) return false;
    const [first] = this.#entries;
    if (first !== undefined && first.portal.prepared !== prepared) return false;
    const { executor, inbox, session } = this.#parts;
    // One that failed is known before its client is told of those before it.
    if (session.status !== "T" || !executor.mayBegin || !inbox.whole()) return false;
    if (wrongFormats(message) !== undefined || wrongCount(prepared, message) !== undefined)
      return false;
    return bytesOf(message) < valuesMax;
  }

  #preparedFor({ statement }: Bind): Prepared | undefined {
    const found = this.#parts.named.statement(statement);
    return found.ok ? found.value : undefined;
  }
}

/** The portal before it is over: it has nothing to be waited for. */
function replace(named: NamedObjects, portal: Portal): void {
  void named.dropPortal("");
  named.putPortal("", portal);
}
