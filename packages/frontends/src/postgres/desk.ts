/**
 * Where an open session is served: the simple and the extended protocol over one session value.
 *
 * It owns the cancel key and everything that is parked. Phases are not its business.
 */
import type { Door } from "@gateway/core/door.ts";
import type { Host } from "@gateway/core/port/host.ts";
import type { Session } from "@gateway/core/query/query.ts";
import type { FrontendMessage } from "@gateway/wire/postgres/message.ts";
import type { CancelKeys, CancelRegistration } from "./cancel.ts";
import { ClientSession } from "./clientSession.ts";
import { encodeSettings } from "./encode.ts";
import type { Outbox } from "./outbox.ts";
import { Runner } from "./runner.ts";
import { Series, type Failure } from "./series.ts";
import { reportedSettings } from "./settings.ts";
import { statementsOf, type Statement } from "./statement.ts";

export interface DeskParts {
  readonly door: Door;
  readonly host: Host;
  readonly keys: CancelKeys;
  readonly out: Outbox;
  readonly session: Session;
  /** Length of the cancel key's secret, by the version of the protocol. */
  readonly keyBytes: number;
  readonly maxMessageBytes: number;
}

export class Desk {
  readonly #out: Outbox;
  readonly #session: ClientSession;
  readonly #runner: Runner;
  readonly #series: Series;
  readonly #registration: CancelRegistration;

  constructor({ door, host, keys, out, session, keyBytes, maxMessageBytes }: DeskParts) {
    this.#out = out;
    this.#session = new ClientSession(session);
    this.#registration = keys.register(keyBytes, () => this.#runner.cancel());
    this.#runner = new Runner({
      door,
      host,
      out,
      session: this.#session,
      process: this.#registration.key.process,
      forget: (what) => this.#series.forget(what),
    });
    this.#series = new Series({
      session: this.#session,
      out,
      runner: this.#runner,
      maxMessageBytes,
    });
  }

  /** Nothing is open that a drain would have to wait for. */
  get resting(): boolean {
    return this.#session.pin === undefined;
  }

  /** Tells the client who it is here and how values look. */
  welcome(): void {
    this.#out.put({ kind: "authenticationOk" });
    for (const { name } of reportedSettings) {
      const value = this.#session.setting(name.toLowerCase());
      this.#out.put({ kind: "parameterStatus", name, value });
    }
    this.#out.put({ kind: "backendKey", ...this.#registration.key });
  }

  /** Between two commands. */
  ready(): void {
    encodeSettings(this.#session, this.#out);
    this.#out.put({ kind: "ready", status: this.#session.status });
  }

  /** Answers what waited for the next message to come. */
  settle(next: FrontendMessage): Promise<Failure | undefined> | undefined {
    return this.#series.waiting ? this.#series.settle(next) : undefined;
  }

  async perform(message: FrontendMessage): Promise<Failure | undefined> {
    switch (message.kind) {
      case "query":
        return await this.#query(message.sql);
      case "parse":
        return this.#series.parse(message);
      case "bind":
        return await this.#series.bind(message);
      case "describe":
        return await this.#series.describe(message);
      case "execute":
        return await this.#series.execute(message);
      case "close":
        await this.#series.close(message);
        return undefined;
      case "sync":
        await this.#series.sync();
        return undefined;
      case "flush":
      case "terminate":
      case "functionCall":
      case "password":
      case "copyData":
      case "copyDone":
      case "copyFail":
        return undefined;
    }
  }

  /** The client left: what runs ends, and nothing begins any more. */
  leave(): void {
    this.#runner.leave();
  }

  /** The client is gone: gives back the key, the portals, and a transaction that is open. */
  async end(): Promise<void> {
    this.#registration[Symbol.dispose]();
    try {
      await this.#series.end();
    } finally {
      await this.#session.pin?.end();
    }
  }

  /** Statements one after the other; the first failure ends the rest. */
  async #query(text: string): Promise<Failure | undefined> {
    await this.#series.dropUnnamed();
    const statements = statementsOf(text);
    if (!statements.ok) return { error: statements.error, place: { sql: text } };
    if (statements.value.length === 0) this.#out.put({ kind: "emptyQuery" });
    let failure: Failure | undefined;
    for (const statement of statements.value) {
      failure = await this.#runSimple(statement, text);
      if (failure !== undefined) break;
    }
    await this.#series.sync();
    return failure;
  }

  async #runSimple(statement: Statement, text: string): Promise<Failure | undefined> {
    const { kind } = statement;
    if (kind.kind === "transaction" && kind.ends) await this.#series.end();
    const execution = this.#runner.prepare({
      statement,
      parameters: [],
      formats: [],
      promised: undefined,
    });
    const stop = await this.#runner.step(execution, 0, "rows");
    if (stop.kind !== "failed") return undefined;
    const { queryId } = execution.plan;
    const place = { sql: text, statementStart: statement.start };
    return { error: stop.error, place: queryId === undefined ? place : { ...place, queryId } };
  }
}
