/**
 * Where an open session is served: the simple and the extended protocol over one session value.
 *
 * It owns the cancel key and everything that is parked. It knows nothing of phases (`machine.ts`).
 */
import type { Door } from "@gateway/core/port/door.ts";
import type { Host } from "@gateway/core/port/host.ts";
import { gatewayError, type GatewayError } from "@gateway/core/error.ts";
import type { Kept } from "@gateway/core/query/pin.ts";
import type { Session } from "@gateway/core/query/query.ts";
import { allSpeakPostgres, keepingOf, type ReachedEngine } from "@gateway/core/query/reached.ts";
import type { ListenerConfig } from "@gateway/contract/config/listener.ts";
import type { Charset } from "@gateway/wire/postgres/charset/charset.ts";
import type { FrontendMessage } from "@gateway/wire/postgres/message.ts";
import { isReadAtOnce, longTexts, type LongText } from "../../listener/longTexts.ts";
import { limitsOf } from "../../listener/statementLimits.ts";
import type { CancelKeys, CancelRegistration, KeyOwner, ServerProcess } from "./cancel.ts";
import type { Mirrors } from "../catalog/mirrors.ts";
import { SessionCatalog } from "../catalog/sessionCatalog.ts";
import { ClientSession } from "../session/clientSession.ts";
import { Heard } from "../session/heard.ts";
import { encodeSettings } from "../encode.ts";
import type { Outbox } from "../outbox.ts";
import { timeoutError } from "./execution/step.ts";
import { Executor } from "./executor.ts";
import { Implicit } from "./implicit.ts";
import type { Failure } from "../failure.ts";
import { FunctionCalls, type FunctionCall } from "./functionCall.ts";
import { Series, type SeriesParts } from "./series.ts";
import { reportedSettings } from "../session/settings.ts";
import { limitMs } from "../session/units.ts";
import { answerText, type SimpleParts } from "./simple.ts";
import type { AsideRoom } from "./execution/rowsAside.ts";
import { relayedReader, type Relaying } from "../read/relayed.ts";
import type { StatementReader } from "../read/statement.ts";
import { hasRoom, isLonger } from "../read/textLimit.ts";
import { functionError, textSizeError } from "../violations.ts";

export interface DeskParts {
  readonly door: Door;
  readonly host: Host;
  readonly keys: CancelKeys;
  readonly out: Outbox;
  readonly session: Session;
  /** Length of the cancel key's secret, by the version of the protocol. */
  readonly keyBytes: number;
  readonly maxMessageBytes: number;
  readonly texts: { readonly limits: ListenerConfig; readonly client: LongText["client"] };
  readonly asideRoom: AsideRoom;
  readonly mirrors: Mirrors;
  readonly inbox: SeriesParts["inbox"];
  readonly read: StatementReader;
  /** Ends the connection of a client at rest with this error. */
  gone(error: GatewayError): void;
}

/** What only a server can say of itself. */
const aboutServer: ReadonlySet<string> = new Set([
  "server_version",
  "server_encoding",
  "is_superuser",
  "in_hot_standby",
  "integer_datetimes",
]);

/** Told from the server where the client asked for nothing else. */
const serverDefaults: ReadonlySet<string> = new Set([
  "TimeZone",
  "DateStyle",
  "IntervalStyle",
  "default_transaction_read_only",
]);

/** How much passes to the engines while every one that the session may reach answers a PostgreSQL client by itself. */
function relayingOf(door: Door, session: ClientSession): Relaying {
  const engines = door.engines(session.value);
  if (!allSpeakPostgres(engines)) return "no";
  const keeping = keepingOf(engines);
  if (keeping === "always") return "always";
  if (keeping === undefined) return "shared";
  // The connection of a transaction holds already what the session may keep behind it.
  return session.kept === undefined && session.pin === undefined ? "asked" : "kept";
}

function statusesOf(engines: readonly ReachedEngine[]): ReadonlyMap<string, string> | undefined {
  return allSpeakPostgres(engines) ? engines[0]?.statuses : undefined;
}

/** What the session leaves on its own connection is there for its next statement. */
const keeping: ReadonlySet<Relaying> = new Set(["kept", "always"]);

/** As an administrator's command in PostgreSQL ends a connection. */
const terminated = gatewayError("gateway.draining", {
  message: "terminating connection due to administrator command",
});

/** A statement begins with the first of these, and is over when it ran or its series is. */
const beginning: ReadonlySet<FrontendMessage["kind"]> = new Set(["parse", "bind", "describe"]);

const idleTooLong = gatewayError("protocol.timeout", {
  message: "terminating connection due to idle-session timeout",
});

export class Desk implements KeyOwner {
  readonly #out: Outbox;
  /** What the server behind says of itself, where every engine of the session is one. */
  readonly #statuses: () => ReadonlyMap<string, string> | undefined;
  readonly #session: ClientSession;
  readonly #executor: Executor;
  readonly #series: Series;
  readonly #seriesParts: SeriesParts;
  readonly #simple: SimpleParts;
  #functions: FunctionCalls | undefined;
  readonly #implicit: Implicit;
  readonly #registration: CancelRegistration;
  readonly #relays: () => Relaying;
  readonly #heard: Heard;
  readonly #texts: DeskParts["texts"];
  readonly #judgesTexts: () => boolean | undefined;
  /** The client's. */
  readonly user: string;
  readonly #slices: Host["slices"];
  readonly #clock: Host["clock"];
  #restLimit: Disposable | undefined;
  readonly #gone: DeskParts["gone"];
  /** Something of the client's is being answered. */
  #working = false;
  #owing = false;
  /** Its user ended it: nothing more is answered but the error that says so. */
  #terminated = false;

  constructor(parts: DeskParts) {
    const { keys, out, session, keyBytes } = parts;
    this.#out = out;
    this.#statuses = () => statusesOf(parts.door.engines(session));
    this.#texts = parts.texts;
    this.#judgesTexts = () => parts.door.judgesTexts?.();
    this.#gone = (error) => parts.gone(error);
    this.user = session.identity.user;
    this.#slices = parts.host.slices;
    this.#clock = parts.host.clock;
    this.#registration = keys.register(keyBytes, this);
    const { process } = this.#registration.key;
    // A text that was sent to be prepared was judged by nobody: it is when it runs, and EXECUTE does not show it.
    const prepared = () => (this.#judgesTexts() === false ? this.#series.prepared() : []);
    const told: Session = { ...session, process, prepared };
    this.#session = new ClientSession(told, () => this.#relays() !== "no");
    const catalog = new SessionCatalog(parts.mirrors, this.#session, process);
    const { door, mirrors } = parts;
    const relays = (): Relaying =>
      mirrors.mode === "off" ? "no" : relayingOf(door, this.#session);
    this.#relays = relays;
    this.#heard = new Heard({
      out,
      gone: (error) => parts.gone(error),
      process,
      kept: () => this.#session.kept,
    });
    out.writer.charset = this.#session.charset;
    this.#session.whenCharset((charset) => {
      out.writer.charset = charset;
    });
    this.#session.whenKept((kept) => this.#hear(kept));
    const read = relayedReader(parts.read, relays);
    const shared = { ...parts, read, catalog, session: this.#session };
    this.#executor = new Executor({
      ...shared,
      process,
      signal: (number, name, cluster = this.behind?.cluster) =>
        keys.signal({ user: this.user, process: number, name, cluster }),
      forget: (what) => this.#series.forget(what),
      keeping: () => keeping.has(relays()),
      serverTimes: () => relays() === "always",
      relays: () => relays() !== "no",
    });
    this.#implicit = new Implicit(this.#executor, this.#session);
    this.#seriesParts = { ...shared, executor: this.#executor, implicit: this.#implicit };
    this.#series = new Series(this.#seriesParts);
    this.#simple = { ...this.#seriesParts, series: this.#series };
  }

  get behind(): ServerProcess | undefined {
    const { cluster, process } = this.#session.kept ?? this.#session.pin ?? {};
    return cluster === undefined || process === undefined ? undefined : { cluster, process };
  }

  /** Texts go on to servers in the client's own words, and nothing here decides by them. */
  get passesTexts(): boolean {
    return this.#relays() !== "no" && this.#judgesTexts() === false;
  }

  /** Of the client's texts; undefined for UTF-8. */
  get charset(): Charset | undefined {
    return this.#session.charset;
  }

  /** True when no transaction is open, for which a drain would have to wait. */
  get resting(): boolean {
    return this.#session.pin === undefined;
  }

  /** Greets the client: it is logged in, its settings, its cancel key. */
  welcome(): void {
    this.#out.put({ kind: "authenticationOk" });
    const servers = this.#statuses();
    for (const { name } of reportedSettings) {
      const key = name.toLowerCase();
      const unset = serverDefaults.has(name) && !this.#session.value.settings.has(key);
      const said = aboutServer.has(name) || unset ? servers?.get(name) : undefined;
      const value = said ?? this.#session.setting(key);
      this.#out.put({ kind: "parameterStatus", name, value });
      this.#heard.told(name, value);
    }
    this.#out.put({ kind: "backendKey", ...this.#registration.key });
  }

  /** Tells the client that the next command may come. */
  ready(): void {
    this.waiting();
    if (this.#terminated) return;
    this.#executor.endSeries();
    encodeSettings(this.#session, this.#out);
    if (!this.#heard.rest()) return;
    this.#out.put({ kind: "ready", status: this.#session.status });
  }

  /** The client is waited for: its own limit of a session at rest begins, where no server holds that. */
  rest(): void {
    const limit = this.#session.asked.restLimit;
    if (limit === "0" || this.#session.pin !== undefined || this.#relays() === "always") return;
    // Part of a message may have come meanwhile.
    this.#stir();
    const rest = limitMs(limit);
    if (rest > 0) this.#restLimit = this.#clock.timer(rest, () => this.#gone(idleTooLong));
  }

  #stir(): void {
    this.#restLimit?.[Symbol.dispose]();
    this.#restLimit = undefined;
  }

  /** The client has begun a statement whose end it still owes. */
  get owing(): boolean {
    return this.#owing;
  }

  /** What a client is told that took so long over a statement, where its own limit of one says so and no server holds it. */
  async overdue(owedMs: number): Promise<Failure | undefined> {
    const limit = this.#owing ? limitMs(this.#session.setting("statement_timeout")) : 0;
    if (limit === 0 || owedMs < limit || this.#relays() === "always") return undefined;
    return (await this.settle()) ?? { error: timeoutError(), place: {} };
  }

  /** Everything that came was answered: a cancel that comes now meets nothing, as in PostgreSQL. */
  waiting(): void {
    const ends = this.#working && this.#terminated;
    this.#working = false;
    if (ends) this.#gone(terminated);
  }

  cancel(): void {
    this.#executor.cancel(this.#working);
  }

  /** What runs ends at once; its client is told why in the place of its answer. */
  terminate(): void {
    if (this.#terminated) return;
    this.#terminated = true;
    if (this.#working) this.#executor.cancel(true);
    else this.#gone(terminated);
  }

  #hear(kept: Kept): void {
    const relaying = this.#relays();
    kept.hear(this.#heard.listener(relaying === "always"));
  }

  /** True when something waits that has to be answered before this message; undefined for one that can not be read. */
  waits(next: FrontendMessage | undefined): boolean {
    return this.#series.waits(next);
  }

  /** Answers what waited. */
  settle(): Promise<Failure | undefined> {
    this.#working = true;
    return this.#series.settle();
  }

  /** Answers a message; a promise only where that takes time. Of a failure `failed` has to hear. */
  perform(message: FrontendMessage): Failure | Promise<Failure | undefined> | undefined {
    this.#stir();
    this.#heard.work();
    this.#working = true;
    const { kind } = message;
    if (kind !== "close") this.#owing = kind !== "query" && beginning.has(kind);
    return this.#perform(message);
  }

  /**
   * Takes the failure of a message, also of one that was refused before it was read, and answers what its client is told.
   * It ends an implicit transaction at once; in the client's own one nothing more runs until its ROLLBACK.
   */
  async failed(failure: Failure): Promise<Failure> {
    this.#owing = false;
    if (this.#terminated) return { error: terminated, place: {} };
    if (this.#session.pin === undefined) return failure;
    if (!this.#implicit.open) this.#session.fail();
    else {
      await this.#series.end();
      await this.#implicit.leave(true);
    }
    return failure;
  }

  #perform(message: FrontendMessage): Failure | Promise<Failure | undefined> | undefined {
    switch (message.kind) {
      case "query": {
        const { sql } = message;
        if (this.#isShort(sql)) return answerText(sql, this.#simple);
        return this.#readThen(sql, () => answerText(sql, this.#simple));
      }
      case "parse":
        return this.#readThen(message.sql, () => this.#series.parse(message));
      case "bind":
        return this.#series.bind(message);
      case "describe":
        return this.#series.describe(message);
      case "execute":
        return this.#series.execute(message);
      case "close":
        return this.#series.close(message);
      case "sync":
        return this.#series.sync();
      case "functionCall":
        return this.#call(message);
      case "flush":
      case "terminate":
      case "password":
      case "copyData":
      case "copyDone":
      case "copyFail":
        return undefined;
    }
  }

  /** Only where the server of the client's kind has the functions. */
  #call(message: FunctionCall): Failure | Promise<Failure | undefined> {
    if (this.#relays() === "no") return { error: functionError(), place: {} };
    return (this.#functions ??= new FunctionCalls(this.#seriesParts)).call(message);
  }

  #isShort(sql: string): boolean {
    const { limits } = this.#texts;
    return sql.length * 3 <= limits.maxStatementBytes && isReadAtOnce(sql, limits);
  }

  /** Goes on once the text was read. Only a long text takes time. */
  #readThen(
    sql: string,
    goOn: () => Failure | Promise<Failure | undefined> | undefined,
  ): Failure | Promise<Failure | undefined> | undefined {
    if (this.#isShort(sql)) return goOn();
    const { client, limits: config } = this.#texts;
    const limits = limitsOf(config, this.passesTexts);
    // A Parse also holds a name and types, so its length did not tell how long the text is.
    if (isLonger(sql, limits.maxStatementBytes)) {
      return { error: textSizeError(limits.maxStatementBytes), place: {} };
    }
    const { user } = this;
    const room = hasRoom(sql);
    const reading = longTexts.admit(
      { sql, dialect: "postgres", limits, user, client, hasRoom: room },
      this.#slices,
    );
    if (reading === undefined) return goOn();
    return reading.then((error) => (error === undefined ? goOn() : { error, place: {} }));
  }

  /** The client left: what runs ends, and nothing begins any more. */
  leave(): void {
    this.#executor.leave();
  }

  /** The client is gone: gives back the key, the portals, and a transaction that is open. */
  async end(): Promise<void> {
    this.#stir();
    this.#registration[Symbol.dispose]();
    try {
      await this.#series.end();
    } finally {
      await this.#session.pin?.end();
      await this.#session.kept?.end();
    }
  }
}
