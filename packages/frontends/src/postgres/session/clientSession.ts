/**
 * What one connection remembers: the immutable session value and how PostgreSQL's settings change it.
 *
 * It opens and ends no transaction: it follows the pin that the door's events bring. It undoes `SET LOCAL`
 * itself, and `SET` after a ROLLBACK, because the engine never sees those settings.
 */
import { gatewayError, type GatewayError } from "@gateway/core/error.ts";
import type { Division } from "@gateway/core/sql/session/statement.ts";
import type { Kept, Pin } from "@gateway/core/query/pin.ts";
import type { SessionChange } from "@gateway/core/query/event.ts";
import type { Session } from "@gateway/core/query/query.ts";
import { err, ok, unreachable, type Result } from "@gateway/core/result.ts";
import type { TransactionModes } from "@gateway/core/sql/session/statement.ts";
import { utc, zoneOf, type Zone } from "@gateway/core/type/zone.ts";
import { charsetOf, type Charset } from "@gateway/wire/postgres/charset/charset.ts";
import type { TransactionStatus } from "@gateway/wire/postgres/message.ts";
import {
  invalid,
  isolationNames,
  settings,
  wantsMessage,
  type Refusal,
  type Setting,
} from "./settings.ts";
import { schemaFrom } from "./searchPath.ts";
import { noTags, parseTags } from "./tags.ts";

/** Settings one session may keep, and the length of a value. PostgreSQL has about 370 of them. */
const settingsMax = 500;
const valueMax = 16_384;

/** The settings that ROLLBACK TO restores. */
interface SettingsPoint {
  readonly name: string;
  readonly settings: ReadonlyMap<string, string>;
  readonly local: ReadonlyMap<string, string | undefined>;
}

/** Values of settings that each statement needs. */
interface AskedSettings {
  /** The settings that they are of. */
  readonly of: ReadonlyMap<string, string>;
  readonly restLimit: string;
  readonly tellsQueryId: string;
}

export class ClientSession {
  #value: Session;
  #asked: AskedSettings | undefined;
  /** Values at the start of the session, to which RESET goes back. */
  readonly #initial: ReadonlyMap<string, string>;
  /** Settings before the transaction, for ROLLBACK; undefined outside of one. */
  #before: ReadonlyMap<string, string> | undefined;
  /** Values that SET LOCAL hides; undefined for a setting that had none. No map while it hides nothing. */
  #local: Map<string, string | undefined> | undefined;
  /** Savepoints of the transaction, with the settings at each. No list while there is none. */
  #points: SettingsPoint[] | undefined;
  #zone: Zone;
  /** Reported settings whose value changed since they were last taken. */
  #changed: Set<string> | undefined;
  /** A statement failed before it reached the engine, which therefore does not know that the transaction failed. */
  #failed = false;
  #onKept: ((kept: Kept) => void) | undefined;
  #onCharset: ((charset: Charset | undefined) => void) | undefined;
  /** Of the client's texts; undefined for UTF-8. */
  charset: Charset | undefined;
  /** Id of the last query that went through the door. */
  lastQueryId = "";

  /** Every engine that the session may reach is a PostgreSQL. */
  readonly #native: () => boolean;

  constructor(session: Session, native: () => boolean = () => false) {
    this.#value = session;
    this.#native = native;
    this.#initial = session.settings;
    this.#zone = zoneOf(this.setting("timezone")) ?? utc;
    this.charset = charsetOf(this.setting("client_encoding"));
  }

  get value(): Session {
    return this.#value;
  }

  /** Where instants without an offset are read and all are shown. */
  get zone(): Zone {
    return this.#zone;
  }

  get status(): TransactionStatus {
    if (this.refuses) return "E";
    switch (this.#value.pin?.state) {
      case "open":
        return "T";
      case "aborted":
        return "E";
      case "ended":
      case undefined:
        return "I";
    }
  }

  /** True in a transaction that failed here, which its engine does not know. */
  get refuses(): boolean {
    return this.#failed && this.#value.pin !== undefined;
  }

  get pin(): Pin | undefined {
    return this.#value.pin;
  }

  /** The connection that stays with the session. */
  get kept(): Kept | undefined {
    return this.#value.kept;
  }

  /** Tells of each connection that comes to stay. */
  whenKept(tell: (kept: Kept) => void): void {
    this.#onKept = tell;
  }

  /** Tells of each other character set that the client's texts get. */
  whenCharset(tell: (charset: Charset | undefined) => void): void {
    this.#onCharset = tell;
  }

  /** A setting's value now, by lower-case name; undefined when nobody knows it. */
  known(key: string): string | undefined {
    if (key === "session_authorization") return this.#value.identity.user;
    if (key === "gateway.query_id") return this.lastQueryId;
    const own = this.#value.settings.get(key);
    if (own !== undefined) return own;
    // A transaction has the session's modes unless it asked for others.
    const kept = key.startsWith("transaction_") ? this.#value.settings.get(`default_${key}`) : own;
    return kept ?? settings.get(key)?.initial;
  }

  /** The value of a setting that always has one. */
  setting(key: string): string {
    return this.known(key) ?? "";
  }

  /** What is asked with each statement, while the settings are the same. */
  get asked(): AskedSettings {
    const { settings: own } = this.#value;
    if (this.#asked?.of === own) return this.#asked;
    this.#asked = {
      of: own,
      restLimit: this.setting("idle_session_timeout"),
      tellsQueryId: this.setting("gateway.report_query_id"),
    };
    return this.#asked;
  }

  /** True when the client wants messages of this level. */
  wants(level: "notice" | "warning"): boolean {
    return wantsMessage(this.setting("client_min_messages"), level);
  }

  /** Changes a setting; `undefined` restores the session's first value. `local` holds until the transaction ends. */
  set(name: string, value: string | undefined, local = false): Result<void, GatewayError> {
    const key = name.toLowerCase();
    const setting = settings.get(key);
    if (setting !== undefined && setting.accept === undefined) {
      return err(fixedError(setting));
    }
    const accepted =
      value === undefined
        ? ok(this.#initial.get(key))
        : accept(name, setting, value, this.#native());
    if (!accepted.ok) return accepted;
    // Outside of a transaction the statement is one of its own, which is over with it.
    const ofTransaction = transactionModes.has(key);
    if (ofTransaction && this.#before === undefined) return ok(undefined);
    if (!this.#value.settings.has(key) && this.#value.settings.size >= settingsMax) {
      return err(
        gatewayError("query.invalid", { sqlState: "54000", message: "too many settings" }),
      );
    }
    if (local || ofTransaction) this.#cover(key);
    // A plain SET outlives the transaction, even behind a SET LOCAL of the same name.
    else this.#local?.delete(key);
    this.#put(key, accepted.value);
    return ok(undefined);
  }

  /** RESET ALL. */
  resetAll(): void {
    for (const key of new Set([...this.#value.settings.keys(), ...this.#initial.keys()])) {
      this.#put(key, this.#initial.get(key));
    }
  }

  /** A statement failed: an open transaction takes nothing more but its end. */
  fail(): void {
    // Where the engine knows of it, the pin says so itself.
    this.#failed = this.#value.pin?.state === "open";
  }

  /** Remembers the settings as they are, for `endTransaction`. */
  mark(): void {
    this.#before ??= this.#value.settings;
  }

  /** Applies a change that the door reports. */
  apply(change: SessionChange): void {
    switch (change.kind) {
      case "catalog":
        this.#value = { ...this.#value, catalog: change.catalog, schema: change.schema };
        return;
      case "setting":
        this.#put(change.name.toLowerCase(), change.value);
        return;
      case "pinned":
        this.mark();
        this.#failed = false;
        this.#value = { ...this.#value, pin: change.pin };
        this.#begun(change.modes);
        return;
      case "divided":
        this.#divide(change.division);
        return;
      case "unpinned":
        this.#value = { ...this.#value, pin: undefined };
        this.endTransaction(change.outcome === "committed");
        return;
      case "chained":
        this.endTransaction(change.outcome === "committed");
        return;
      case "kept":
        this.#value = { ...this.#value, kept: change.kept };
        this.#onKept?.(change.kept);
        return;
      case "released":
        this.#value = { ...this.#value, kept: undefined };
        return;
      default:
        unreachable(change);
    }
  }

  /** Shows the modes of BEGIN until the transaction ends. Only BEGIN makes a transaction read-only. */
  #begun({ isolation, readOnly, deferrable }: TransactionModes): void {
    const asked = [
      ["transaction_isolation", isolation && isolationNames[isolation]],
      ["transaction_read_only", readOnly === undefined ? undefined : readOnly ? "on" : "off"],
      ["transaction_deferrable", deferrable === undefined ? undefined : deferrable ? "on" : "off"],
    ] as const;
    for (const [key, value] of asked) {
      if (value === undefined) continue;
      this.#cover(key);
      this.#put(key, value);
    }
  }

  /** A savepoint was set, released, or rolled back to, which restores its settings. */
  #divide({ kind, name }: Division): void {
    const points = (this.#points ??= []);
    if (kind === "savepoint") {
      points.push({ name, settings: this.#value.settings, local: new Map(this.#local) });
      return;
    }
    const at = points.findLastIndex((point) => point.name === name);
    const point = points[at];
    if (point === undefined) return;
    points.length = kind === "releaseSavepoint" ? at : at + 1;
    if (kind === "releaseSavepoint") return;
    this.#failed = false;
    this.#local = new Map(point.local);
    this.#restore(point.settings);
  }

  /** The transaction is over, and undoes its SET LOCAL; a ROLLBACK also undoes its SET. */
  endTransaction(committed: boolean): void {
    const before = this.#before;
    if (before === undefined) return;
    this.#before = undefined;
    this.#points = undefined;
    const local = this.#local ?? [];
    this.#local = undefined;
    if (!committed) this.#restore(before);
    else for (const [key, value] of local) this.#put(key, value);
    // COMMIT AND CHAIN: the next transaction is open already.
    if (this.#value.pin === undefined) return;
    this.#failed = false;
    this.mark();
  }

  /** Reported settings that changed since the last call, with their values. */
  takeChanges(): readonly { readonly name: string; readonly value: string }[] {
    if (this.#changed === undefined) return [];
    const changed = [...this.#changed].map((key) => ({
      name: settings.get(key)?.name ?? key,
      value: this.setting(key),
    }));
    this.#changed = undefined;
    return changed;
  }

  #restore(before: ReadonlyMap<string, string>): void {
    for (const key of new Set([...this.#value.settings.keys(), ...before.keys()])) {
      this.#put(key, before.get(key));
    }
  }

  #cover(key: string): void {
    this.#local ??= new Map();
    if (!this.#local.has(key)) this.#local.set(key, this.#value.settings.get(key));
  }

  #put(key: string, value: string | undefined): void {
    const before = this.setting(key);
    const kept = new Map(this.#value.settings);
    if (value === undefined) kept.delete(key);
    else kept.set(key, value);
    this.#value = { ...this.#value, settings: kept };
    const now = this.setting(key);
    if (now === before) return;
    if (settings.get(key)?.reported === true) (this.#changed ??= new Set()).add(key);
    this.#follow(key, now);
  }

  /** Settings that also change the session value. */
  #follow(key: string, value: string): void {
    switch (key) {
      case "timezone":
        this.#zone = zoneOf(value) ?? utc;
        return;
      case "client_encoding":
        this.charset = charsetOf(value);
        this.#onCharset?.(this.charset);
        return;
      case "gateway.tags":
        this.#value = { ...this.#value, tags: parseTags(value) ?? noTags };
        return;
      case "search_path":
        this.#value = { ...this.#value, schema: schemaFrom(value) };
        return;
      default:
    }
  }
}

/** What PostgreSQL has of a transaction, and never of the session. */
const transactionModes: ReadonlySet<string> = new Set([
  "transaction_isolation",
  "transaction_read_only",
  "transaction_deferrable",
]);

/** The value in the form it is stored, or PostgreSQL's error. */
export function accept(
  name: string,
  setting: Setting | undefined,
  value: string,
  native = false,
): Result<string, GatewayError> {
  const refused = (reason: Refusal) => {
    const shown = setting?.name ?? name;
    const message = `invalid value for parameter "${shown}": "${value.slice(0, 100)}"`;
    return reason === invalid
      ? err(gatewayError("query.invalid", { sqlState: "22023", message }))
      : err(
          gatewayError("query.unsupported", {
            message: `the gateway does not support ${shown} = ${value.slice(0, 100)}`,
          }),
        );
  };
  if (value.length > valueMax || value.includes("\0")) return refused(invalid);
  if (name.toLowerCase() === "gateway.tags" && parseTags(value) === undefined)
    return refused(invalid);
  const taking = (native ? setting?.acceptNative : undefined) ?? setting?.accept;
  const kept = taking?.(value) ?? value;
  return typeof kept === "symbol" ? refused(kept) : ok(kept);
}

function fixedError(setting: Setting): GatewayError {
  const message = `parameter "${setting.name}" cannot be changed`;
  return gatewayError("query.invalid", { sqlState: "55P02", message });
}
