/**
 * The extended protocol of one connection: the messages over prepared statements and portals.
 *
 * Each method answers a failure as a value; `machine.ts` says what then happens to the rest of the series.
 */
import { gatewayError, type GatewayError } from "@gateway/core/error.ts";
import { ok } from "@gateway/core/result.ts";
import type { FrontendMessage } from "@gateway/wire/postgres/message.ts";
import type { ClientSession } from "../session/clientSession.ts";
import { bytesOf, callOf, readParameters, wrongCount, wrongFormats } from "./binding.ts";
import type { Describe, ReadParameters } from "./binding.ts";
import { rawParameters, type SessionCatalog } from "../catalog/sessionCatalog.ts";
import type { CopyInbox } from "../value/copySource.ts";
import { Cursors } from "./cursors.ts";
import { portalError, promisedColumns, TypeMemory } from "./described.ts";
import { Describer, isAboutText } from "./describer.ts";
import { encodeEvent, noTransaction } from "../encode.ts";
import type { Stop } from "./execution/step.ts";
import type { Announce } from "./execution/resultWriter.ts";
import { failure, placeOf, type Failure } from "../failure.ts";
import type { Implicit } from "./implicit.ts";
import { againError, NamedObjects, type Portal } from "./namedObjects.ts";
import { Pipeline } from "./pipeline/pipeline.ts";
import type { Forget } from "../commands/localAnswer.ts";
import type { Outbox } from "../outbox.ts";
import { Unseen } from "../unseen.ts";
import type { Executor } from "./executor.ts";
import {
  endsFailed,
  mayChangeTypes,
  preparedOf,
  type Prepared,
  type StatementReader,
} from "../read/statement.ts";

type MessageOf<Kind extends FrontendMessage["kind"]> = Extract<FrontendMessage, { kind: Kind }>;

export interface SeriesParts {
  readonly session: ClientSession;
  readonly out: Outbox;
  readonly executor: Executor;
  readonly implicit: Implicit;
  readonly catalog: SessionCatalog;
  readonly maxMessageBytes: number;
  readonly read: StatementReader;
  /** Tells what follows this message in the series: its Sync, or more. A promise until that is known. */
  readonly inbox: {
    ahead(): Lookahead | Promise<Lookahead>;
    /** Whether a whole message is here. */
    whole(): boolean;
    /** True when a Bind follows this message, or the client left. */
    bound(): boolean | Promise<boolean>;
  } & CopyInbox;
}

/** `gone`: the client left before that was known. */
export type Lookahead = "sync" | "more" | "gone";

export class Series {
  readonly #parts: SeriesParts;
  readonly #named: NamedObjects;
  #madeMemory: TypeMemory | undefined;
  #madeCursors: Cursors | undefined;
  #madeDescriber: Describer | undefined;
  #madePipeline: Pipeline | undefined;
  /** The portal that is stepping now. */
  #running: string | undefined;
  readonly #unseen: Unseen;
  /** What the client keeps prepared. */
  readonly prepared = (): NamedObjects["kept"] => this.#named.kept;

  constructor(parts: SeriesParts) {
    this.#parts = parts;
    this.#named = new NamedObjects(parts.maxMessageBytes);
    this.#unseen = new Unseen(parts.out);
  }

  /** This and the next two are made when they are needed: most connections at rest have none. */
  get cursors(): Cursors {
    const describe: Describe = (prepared) => this.#describer.of(prepared);
    return (this.#madeCursors ??= new Cursors({ ...this.#parts, named: this.#named, describe }));
  }

  get #describer(): Describer {
    const cursors = (): Cursors => this.cursors;
    return (this.#madeDescriber ??= new Describer({ ...this.#parts, named: this.#named, cursors }));
  }

  /** Undefined outside of a transaction, where nothing goes ahead. */
  get #pipelined(): Pipeline | undefined {
    if (this.#parts.session.pin?.streams === undefined) return this.#madePipeline;
    return (this.#madePipeline ??= new Pipeline({
      ...this.#parts,
      named: this.#named,
      describer: () => this.#describer,
      step: (portal, announce) => this.#step(portal, 0, announce),
    }));
  }

  get #memory(): TypeMemory {
    return (this.#madeMemory ??= new TypeMemory());
  }

  /** A promise only for a named statement without its Bind behind it. */
  parse({
    statement,
    sql,
    types,
  }: MessageOf<"parse">): Failure | Promise<Failure | undefined> | undefined {
    const prepared = preparedOf(sql, types, this.#parts.read);
    if (!prepared.ok) return failure(prepared.error, { sql });
    const isEmpty = prepared.value.kind.kind === "empty";
    if (this.#parts.session.status === "E" && !isEmpty && !endsFailed(prepared.value)) {
      return failure(gatewayError("query.transactionAborted"));
    }
    const refused = this.#named.admitStatement(statement, sql);
    if (refused !== undefined) return failure(refused);
    const { kind } = prepared.value.kind;
    const asked = statement !== "" && (kind === "query" || kind === "copy");
    const bound = !asked || this.#parts.inbox.bound();
    return bound === true
      ? this.#putStatement(statement, prepared.value)
      : this.#parseKept({ name: statement, prepared: prepared.value, bound });
  }

  /**
   * Prepares a statement that its client keeps: what is wrong with it is told now, because a client takes a name
   * that was accepted for one that works. Bind and Execute behind it would tell the same a moment later.
   */
  async #parseKept({ name, prepared, bound }: Kept): Promise<Failure | undefined> {
    if (!(await bound)) {
      const described = await this.#describer.of(prepared);
      if (!described.ok && isAboutText(described.error)) {
        return failure(described.error, placeOf(prepared));
      }
    }
    return this.#putStatement(name, prepared);
  }

  #putStatement(name: string, prepared: Prepared): undefined {
    this.#named.putStatement(name, prepared);
    this.#unseen.parsed(name, prepared);
  }

  /** A promise only where an engine is asked, or something parked has to end. */
  bind(message: MessageOf<"bind">): Failure | Promise<Failure | undefined> | undefined {
    const found = this.#named.statement(message.statement);
    if (!found.ok) return failure(found.error);
    if (this.#parts.session.status === "E" && !endsFailed(found.value)) {
      return failure(gatewayError("query.transactionAborted"));
    }
    if (this.#pipelined?.takes(message, found.value) === true) return this.#pipelined.goOn();
    const bytes = bytesOf(message);
    const binding = { message, prepared: found.value, bytes };
    const admitted = this.#named.admitPortal(message.portal, bytes);
    return admitted instanceof Promise
      ? admitted.then((refused) => this.#bindAdmitted(binding, refused))
      : this.#bindAdmitted(binding, admitted);
  }

  #bindAdmitted(binding: Binding, refused: GatewayError | undefined) {
    const { prepared, message } = binding;
    const wrong = refused ?? wrongFormats(message);
    if (wrong !== undefined) return failure(wrong);
    if (prepared.relayed === true) return this.#bindRelayed(binding);
    const parameters = this.#parts.catalog.takes(prepared)
      ? rawParameters(message)
      : readParameters(prepared, message, {
          memory: this.#memory,
          zone: this.#parts.session.zone,
          describe: (asked) => this.#describer.of(asked),
        });
    return parameters instanceof Promise
      ? parameters.then((read) => this.#putPortal(binding, read))
      : this.#putPortal(binding, parameters);
  }

  /** The server counts the values where it is not known yet how many there are. */
  #bindRelayed(binding: Binding): Failure | undefined {
    const { prepared, message } = binding;
    const wrong = wrongCount(prepared, message);
    return wrong === undefined ? this.#putPortal(binding, ok([])) : failure(wrong);
  }

  #putPortal({ message, prepared, bytes }: Binding, parameters: ReadParameters) {
    if (!parameters.ok) return failure(parameters.error, placeOf(prepared));
    const { portal, resultFormats: formats } = message;
    const { value } = parameters;
    this.#named.putPortal(portal, {
      prepared,
      parameters: value,
      formats,
      call: prepared.relayed === true ? callOf(prepared, message) : undefined,
      bytes,
      execution: undefined,
    });
    this.#unseen.bound(prepared);
    return undefined;
  }

  describe({
    target,
    name,
  }: MessageOf<"describe">): Failure | Promise<Failure | undefined> | undefined {
    if (this.#madePipeline?.describes() === true) return this.#madePipeline.goOn();
    const describer = this.#describer;
    return target === "statement" ? describer.statement(name) : describer.portal(name);
  }

  /** True when this message is answered behind something that waits: a description, or executions that were begun. */
  waits(next: FrontendMessage | undefined): boolean {
    if (this.#madePipeline?.waits(next) === true) return true;
    return next !== undefined && this.#madeDescriber?.waits(next) === true;
  }

  /** Answers what waits. */
  async settle(): Promise<Failure | undefined> {
    return (await this.#madePipeline?.settle()) ?? (await this.#madeDescriber?.settle());
  }

  execute(message: MessageOf<"execute">): Promise<Failure | undefined> | undefined {
    const begun = this.#madePipeline?.executes() === true;
    return begun ? this.#madePipeline?.goOn() : this.#execute(message);
  }

  async #execute({ portal: name, maxRows }: MessageOf<"execute">): Promise<Failure | undefined> {
    const { out } = this.#parts;
    const found = this.#named.portal(name);
    if (!found.ok) return failure(found.error);
    const portal = found.value;
    const waited = this.#madeDescriber?.taken(portal) === true;
    const announce: ExecuteAnnounce = waited ? "rowsOrNone" : "no";
    const { kind } = portal.prepared;
    if (kind.kind === "empty") {
      if (announce !== "no") out.put({ kind: "noData" });
      out.put({ kind: "emptyQuery" });
      return undefined;
    }
    const state = portal.execution?.state ?? "fresh";
    if (state !== "fresh" && state !== "parked") {
      return this.#executeAgain(name, portal);
    }
    const { implicit, inbox } = this.#parts;
    const entering = implicit.refusal(portal.prepared) ?? implicit.before(portal.prepared, inbox);
    const refused = entering instanceof Promise ? await entering : entering;
    if (refused !== undefined) return failure(refused);
    if (kind.kind === "transaction" && implicit.open) {
      if (!kind.ends) return this.#adopt(announce);
      encodeEvent(noTransaction, this.#parts.session, out);
    }
    // The end of a transaction ends its cursors: parked ones would keep its connection busy.
    if (kind.kind === "transaction" && kind.ends) await this.#named.dropPortals(name);
    this.#running = name;
    const failed = await this.#step(portal, maxRows, announce);
    this.#running = undefined;
    if (kind.kind === "transaction" && kind.ends) await this.#named.dropPortal(name);
    return failed;
  }

  async close({ target, name }: MessageOf<"close">): Promise<Failure | undefined> {
    const portal = target === "portal";
    if (!portal) this.#named.dropStatement(name);
    const failed = portal ? await this.cursors.closePortal(name) : undefined;
    if (failed !== undefined) return failure(failed);
    this.#parts.out.put({ kind: "closeComplete" });
    return undefined;
  }

  /** The end of a series: outside of a transaction no portal outlives it. */
  sync(): Promise<Failure | undefined> | undefined {
    const { implicit, session } = this.#parts;
    const ending = session.pin === undefined || implicit.open ? this.end() : undefined;
    return ending === undefined && !implicit.open ? implicit.forget() : this.#endSeries(ending);
  }

  async #endSeries(ending: Promise<void> | undefined): Promise<Failure | undefined> {
    await ending;
    const error = await this.#parts.implicit.leave(false);
    return error && failure(error);
  }

  /** A simple query drops the unnamed statement and portal. A promise only where that was parked. */
  dropUnnamed(): Promise<void> | undefined {
    this.#named.dropStatement("");
    return this.#named.dropPortal("");
  }

  /** DEALLOCATE and DISCARD ALL. */
  async forget(what: Forget): Promise<GatewayError | undefined> {
    if (what.kind === "statement") {
      const found = this.#named.statement(what.name);
      if (!found.ok) return found.error;
      this.#named.dropStatement(what.name);
      return undefined;
    }
    this.#named.dropStatements();
    if (what.kind === "everything") await this.#named.dropPortals(this.#running);
    return undefined;
  }

  /** Drops all portals. A promise only when one was parked, or executions were begun. */
  end(): Promise<void> | undefined {
    const left = this.#madePipeline?.abandon();
    return left === undefined
      ? this.#named.dropPortals()
      : left.then(() => this.#named.dropPortals());
  }

  async #step(
    portal: Portal,
    maxRows: number,
    announce: ExecuteAnnounce,
  ): Promise<Failure | undefined> {
    const { out, session } = this.#parts;
    const { prepared } = portal;
    const stop = await this.#run(portal, maxRows, announce);
    if (mayChangeTypes(prepared)) this.#memory.forgetAll();
    if (stop.kind === "suspended") out.put({ kind: "portalSuspended" });
    if (stop.kind === "complete") out.put({ kind: "commandComplete", tag: stop.tag });
    const unparsed = this.#unseen.answered(prepared, stop);
    if (unparsed !== undefined) this.#named.dropStatement(unparsed);
    if (stop.kind !== "failed") return undefined;
    const error = portalError(prepared, portal.formats, stop.error);
    // What we remember of it may be the reason.
    prepared.description = undefined;
    this.#memory.forget(prepared);
    const queryId = portal.execution?.plan.queryId;
    if (session.pin === undefined) await this.end();
    return failure(error, placeOf(prepared, queryId));
  }

  #run(portal: Portal, maxRows: number, announce: ExecuteAnnounce): Promise<Stop> {
    const { executor, out } = this.#parts;
    const { prepared, parameters, formats, call } = portal;
    const { kind } = prepared;
    if (kind.kind === "cursor") {
      return this.cursors.run(kind.cursor, { formats, announce });
    }
    // A FETCH was described as the server's already.
    const { cursor } = prepared;
    if (cursor !== undefined && !prepared.varies && this.cursors.knows(cursor)) {
      return this.cursors.run(cursor, { formats, announce });
    }
    if (kind.kind === "declare") {
      if (announce !== "no") out.put({ kind: "noData" });
      return this.cursors.declare(prepared, parameters);
    }
    portal.execution ??= executor.prepare({
      statement: prepared,
      parameters,
      call,
      formats,
      promised: announce === "no" ? promisedColumns(prepared) : undefined,
    });
    return executor.step(portal.execution, { maxRows, announce });
  }

  /** A complete portal gives no more rows. One that failed, or has no result, can not run again. */
  #executeAgain(name: string, portal: Portal): Failure | undefined {
    const { session, out } = this.#parts;
    // The transaction is what the client has to end, whatever became of its portals.
    const aborted = session.status === "E";
    const wrong = aborted ? gatewayError("query.transactionAborted") : againError(name, portal);
    if (wrong === undefined) out.put({ kind: "commandComplete", tag: "SELECT 0" });
    return wrong && failure(wrong);
  }

  /** BEGIN behind other statements of a series: their transaction is the client's own from here on. */
  #adopt(announce: ExecuteAnnounce): undefined {
    const { implicit, out } = this.#parts;
    implicit.adopt();
    if (announce !== "no") out.put({ kind: "noData" });
    out.put({ kind: "commandComplete", tag: "BEGIN" });
  }
}

/** A named statement, and whether a Bind follows its Parse. */
interface Kept {
  readonly name: string;
  readonly prepared: Prepared;
  readonly bound: false | Promise<boolean>;
}

type ExecuteAnnounce = Exclude<Announce, "rows">;

/** A Bind message whose statement was found. */
interface Binding {
  readonly message: MessageOf<"bind">;
  readonly prepared: Prepared;
  /** Bytes of the values. */
  readonly bytes: number;
}
