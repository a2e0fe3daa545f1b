/**
 * Asks the directory whose an entry is, whether a password opens it, and for its groups. It has a few
 * connections, each for one login at a time. After anything odd a connection is thrown away, because it acts
 * as the user who was last bound on it.
 */
import { readFile } from "node:fs/promises";
import { secretText } from "@gateway/contract/config/secret.ts";
import type { Host } from "@gateway/core/port/host.ts";
import { pause } from "@gateway/core/tool/pause.ts";
import {
  InvalidCredentialsError,
  ResultCodeError,
  type Client,
  type Entry,
  type SearchOptions,
} from "ldapts";
import { OriginQueue } from "../originQueue.ts";
import type { LdapConfig } from "./config.ts";
import { DirectoryConnection } from "./connection.ts";
import { comparedWithName, filled, filterValue, nameValue } from "./escape.ts";
import type { UserAttributes } from "@gateway/core/query/identity.ts";
import { attributeOf } from "../provider.ts";

/** A user whose password was right. `name` has the directory's spelling, so that one person has one name. */
export interface DirectoryUser {
  readonly name: string;
  readonly groups: readonly string[];
  /** By the names of the configuration; undefined where it names none. */
  readonly attributes: UserAttributes | undefined;
}

/** `refused`: no such user, several of them, or a wrong password. `unavailable`: nobody can tell. */
export type NoUser = "refused" | "unavailable";

/** One more than allowed: the directory need not search further. */
const groupsAskedMax = 1_001;
/** Logins that may wait for a connection. */
const waitingMax = 256;
/** A firewall may silently have dropped a connection that was idle longer, and the next login would wait in vain. */
const idleMaxMs = 30_000;
/** Codes with which a directory refuses this name or password rather than every login (RFC 4511 appendix A). */
const refusals: ReadonlySet<number> = new Set([19, 32, 34, 48, 49, 50, 53]);

/** A login that waits for a connection; `come(false)` when it gets none. */
interface Turn {
  readonly come: (may: boolean) => void;
}

/** Codes of a search that finds nobody: too many entries, no such place, or no right to see it. */
const absences: ReadonlySet<number> = new Set([4, 32, 34, 50]);

export class Directory implements AsyncDisposable {
  readonly #config: LdapConfig;
  readonly #host: Host;
  readonly #idle: IdleConnection[] = [];
  readonly #busy = new Set<AbortController>();
  readonly #line = new OriginQueue<Turn>();
  readonly #bindTimes = new BindTimes();
  #running = 0;

  constructor(config: LdapConfig, host: Host) {
    this.#config = config;
    this.#host = host;
  }

  /** Logs one user in. Returns within the time limit and never rejects. `origin` takes turns with others. */
  login(user: string, password: string, origin: string): Promise<DirectoryUser | NoUser> {
    return this.#inTurn(origin, (client, signal) => this.#ask(client, { user, password }, signal));
  }

  /** The user of a name that was proved in another way. Answers like a login. */
  find(user: string, origin: string): Promise<DirectoryUser | NoUser> {
    return this.#inTurn(origin, (client) => this.#look(client, user));
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const limit of this.#busy) limit.abort();
    for (const { connection } of this.#idle.splice(0)) connection.destroy();
  }

  async #inTurn(origin: string, ask: Asking): Promise<DirectoryUser | NoUser> {
    const limit = new AbortController();
    using _timer = this.#host.clock.timer(this.#config.timeoutMs, () => limit.abort());
    this.#busy.add(limit);
    try {
      const may = await this.#permit(origin, limit.signal);
      return may ? await this.#answer(limit.signal, ask) : "unavailable";
    } finally {
      this.#busy.delete(limit);
    }
  }

  async #answer(signal: AbortSignal, ask: Asking): Promise<DirectoryUser | NoUser> {
    try {
      return await this.#withConnection(signal, (client) => ask(client, signal));
    } catch (error) {
      // The library's texts quote names; the kind of failure is what an operator needs.
      const reason = signal.aborted ? "slow" : kindOf(error);
      this.#host.log.write("warn", "auth.directoryUnavailable", { reason });
      return "unavailable";
    } finally {
      // The next in line takes over this login's permit at once, so that nobody slips in between.
      const next = this.#line.take();
      if (next === undefined) this.#running -= 1;
      else next.come(true);
    }
  }

  /** True when this login may have a connection; false when its time is over first, or too many wait. */
  #permit(origin: string, signal: AbortSignal): Promise<boolean> {
    if (this.#running < this.#config.poolSize) {
      this.#running += 1;
      return Promise.resolve(true);
    }
    return new Promise((resolve) => {
      const turn: Turn = {
        come: (may) => {
          signal.removeEventListener("abort", leave);
          resolve(may);
        },
      };
      const leave = (): void => {
        this.#line.remove(origin, turn);
        resolve(false);
      };
      signal.addEventListener("abort", leave, { once: true });
      this.#line.add(origin, turn);
      if (this.#line.size > waitingMax) this.#line.takeLast()?.come(false);
    });
  }

  async #withConnection<Answer>(
    signal: AbortSignal,
    ask: (client: Client) => Promise<Answer>,
  ): Promise<Answer> {
    const connection = await this.#open(signal);
    const end = (): void => connection.destroy();
    signal.addEventListener("abort", end, { once: true });
    try {
      signal.throwIfAborted();
      connection.begin();
      const answer = await ask(connection.client);
      const sinceMs = this.#host.clock.nowMs();
      if (connection.isOpen && !signal.aborted) this.#idle.push({ connection, sinceMs });
      else connection.destroy();
      return answer;
    } catch (error) {
      connection.destroy();
      throw error;
    } finally {
      signal.removeEventListener("abort", end);
    }
  }

  async #open(signal: AbortSignal): Promise<DirectoryConnection> {
    const freshMs = this.#host.clock.nowMs() - idleMaxMs;
    for (let kept = this.#idle.pop(); kept !== undefined; kept = this.#idle.pop()) {
      if (kept.connection.isOpen && kept.sinceMs >= freshMs) return kept.connection;
      kept.connection.destroy();
    }
    const { url, startTls, caFile } = this.#config;
    const ca = caFile === undefined ? undefined : await readFile(caFile, "utf8");
    return DirectoryConnection.open({ url, startTls, ca }, this.#host, signal);
  }

  async #ask(
    client: Client,
    { user, password }: { readonly user: string; readonly password: string },
    signal: AbortSignal,
  ): Promise<DirectoryUser | NoUser> {
    const { clock } = this.#host;
    const entry = await this.#entryOf(client, user);
    // A user who does not exist is tried too, so that the answer takes as long.
    const fromMs = clock.nowMs();
    const right = await bindAs(client, entry?.dn ?? this.#nobody(user), password);
    const tookMs = clock.nowMs() - fromMs;
    if (entry === undefined) {
      // For an entry that does not exist a directory compares no password, so a slow hash would tell the two
      // apart.
      const restMs = this.#bindTimes.draw(this.#host.random()) - tookMs;
      if (restMs > 0) await pause(clock, restMs, signal);
      return "refused";
    }
    this.#bindTimes.add(tookMs);
    return right ? await this.#userOf(client, entry, user) : "refused";
  }

  async #look(client: Client, user: string): Promise<DirectoryUser | NoUser> {
    const entry = await this.#entryOf(client, user);
    if (entry === undefined) return "refused";
    if (this.#config.userDnTemplate !== undefined) {
      await this.#bindToSearch(client);
      const found = await entriesOf(client, entry.dn, {
        scope: "base",
        attributes: ["1.1"],
        derefAliases: "never",
      });
      if (found.length !== 1) return "refused";
    }
    return await this.#userOf(client, entry, user);
  }

  async #userOf(client: Client, entry: UserEntry, user: string): Promise<DirectoryUser | NoUser> {
    const groups = await this.#groupsOf(client, entry, user);
    const attributes = await this.#attributesOf(client, entry);
    if (groups === undefined || attributes === "refused") return "refused";
    return { name: entry.name, groups, attributes };
  }

  /** Refused where a value can be no attribute: half of what the entry says would be something else. */
  async #attributesOf(
    client: Client,
    { dn }: UserEntry,
  ): Promise<UserAttributes | undefined | "refused"> {
    const { attributes: wanted, bindDn } = this.#config;
    if (wanted === undefined) return undefined;
    if (bindDn !== undefined) await this.#bindToSearch(client);
    const attributes = [...new Set(Object.values(wanted))];
    const asked = { scope: "base", attributes, derefAliases: "never" } as const;
    const [entry] = await entriesOf(client, dn, asked);
    if (entry === undefined) return "refused";
    const found: Record<string, string | readonly string[]> = {};
    for (const [name, attribute] of Object.entries(wanted)) {
      const value = valueOf(entry, attribute);
      // What the entry does not have comes as an empty list.
      if (value === undefined || (Array.isArray(value) && value.length === 0)) continue;
      const known = attributeOf(value);
      if (known === undefined) return "refused";
      found[name] = known;
    }
    return Object.freeze(found);
  }

  /** The one entry of the name. */
  async #entryOf(client: Client, user: string): Promise<UserEntry | undefined> {
    const { userDnTemplate, userSearchFilter } = this.#config;
    if (userDnTemplate !== undefined) {
      return { dn: filled(userDnTemplate, { "{}": nameValue(user) }), name: user.toLowerCase() };
    }
    await this.#bindToSearch(client);
    const spellings = comparedWithName(userSearchFilter);
    const entry = await this.#searchFor(client, user, spellings);
    const name = entry && spelledAs(entry, spellings, user);
    if (entry === undefined || name === undefined) return undefined;
    if (name.toLowerCase() === user.toLowerCase()) return { dn: entry.dn, name };
    // The client showed another attribute of the entry. The name that it leads to must belong to
    // nobody else.
    const named = await this.#searchFor(client, name, spellings);
    return named?.dn === entry.dn ? { dn: entry.dn, name } : undefined;
  }

  /** The entry that the user filter finds, unless it finds several. */
  async #searchFor(
    client: Client,
    name: string,
    attributes: readonly string[],
  ): Promise<Entry | undefined> {
    const { userSearchBase = "", userSearchFilter } = this.#config;
    const found = await entriesOf(client, userSearchBase, {
      scope: "sub",
      filter: filled(userSearchFilter, { "{}": filterValue(name) }),
      attributes: [...attributes],
      sizeLimit: 2,
      derefAliases: "never",
    });
    const [entry] = found;
    return found.length === 1 && entry?.dn !== "" ? entry : undefined;
  }

  /** A name that no entry has, for a bind that must fail. */
  #nobody(user: string): string {
    const random = Buffer.from(this.#host.randomBytes(16)).toString("hex");
    const base = this.#config.userSearchBase ?? "dc=invalid";
    return `cn=${random}${nameValue(user).slice(0, 64)},${base}`;
  }

  async #groupsOf(
    client: Client,
    { dn }: UserEntry,
    user: string,
  ): Promise<readonly string[] | undefined> {
    const { groupSearchBase, groupSearchFilter, groupNameAttribute, bindDn } = this.#config;
    if (groupSearchBase === undefined) return [];
    // Users often may not read groups, so the search account does it. Without one they read them themselves.
    if (bindDn !== undefined) await this.#bindToSearch(client);
    const places = { "{dn}": filterValue(dn), "{}": filterValue(user) };
    const { searchEntries } = await client.search(groupSearchBase, {
      scope: "sub",
      filter: filled(groupSearchFilter, places),
      attributes: [groupNameAttribute],
      sizeLimit: groupsAskedMax,
      derefAliases: "never",
    });
    if (searchEntries.length >= groupsAskedMax) return undefined;
    return searchEntries.flatMap((entry) => valuesOf(entry, groupNameAttribute).slice(0, 1));
  }

  /** Binds as the search account, or as nobody, even after a user was bound. Throws when the directory refuses. */
  async #bindToSearch(client: Client): Promise<void> {
    const { bindDn, bindPassword } = this.#config;
    await client.bind(bindDn ?? "", bindPassword === undefined ? "" : secretText(bindPassword));
  }
}

type Asking = (client: Client, signal: AbortSignal) => Promise<DirectoryUser | NoUser>;

interface IdleConnection {
  readonly connection: DirectoryConnection;
  readonly sinceMs: number;
}

interface UserEntry {
  readonly dn: string;
  readonly name: string;
}

/** True when the password opens the entry; throws when the directory's answer does not say. */
async function bindAs(client: Client, dn: string, password: string): Promise<boolean> {
  // Directories treat a bind without a password as one without a name, and let it succeed (RFC 4513
  // §5.1.2).
  if (dn === "" || password === "") return false;
  try {
    await client.bind(dn, password);
    return true;
  } catch (error) {
    if (error instanceof InvalidCredentialsError) return false;
    if (error instanceof ResultCodeError && refusals.has(error.code)) return false;
    throw error;
  }
}

/** The entries found; none where the base does not exist, may not be seen, or has more than asked for. */
async function entriesOf(
  client: Client,
  base: string,
  options: SearchOptions,
): Promise<readonly Entry[]> {
  try {
    return (await client.search(base, options)).searchEntries;
  } catch (error) {
    if (error instanceof ResultCodeError && absences.has(error.code)) return [];
    throw error;
  }
}

/**
 * The name as the entry has it: the value of the first attribute that the filter compares. Of
 * several values, the one that the client meant.
 */
function spelledAs(entry: Entry, attributes: readonly string[], user: string): string | undefined {
  for (const attribute of attributes) {
    const values = valuesOf(entry, attribute).toSorted();
    const meant = values.find((value) => value.toLowerCase() === user.toLowerCase());
    const name = meant ?? values[0];
    if (name !== undefined) return name;
  }
  return undefined;
}

/** Attribute names are compared without case (RFC 4512 §2.5). */
function valueOf(entry: Entry, attribute: string): unknown {
  const wanted = attribute.toLowerCase();
  const key = Object.keys(entry).find((name) => name !== "dn" && name.toLowerCase() === wanted);
  return key === undefined ? undefined : entry[key];
}

function valuesOf(entry: Entry, attribute: string): readonly string[] {
  const value = valueOf(entry, attribute);
  const list: readonly unknown[] = Array.isArray(value) ? value : [value];
  return list.filter((one) => typeof one === "string");
}

function kindOf(error: unknown): string {
  if (error instanceof ResultCodeError) return `result ${error.code}`;
  const code = String((error as { readonly code?: unknown }).code);
  return /^[A-Z0-9_]{1,64}$/.test(code) ? code : "broken";
}

const keptMax = 64;

/**
 * How long the directory recently took to compare passwords of entries that exist. A name without an entry
 * waits as long as one of them, drawn at random, so that both kinds of answers take equally long.
 */
class BindTimes {
  readonly #ms: number[] = [];
  #next = 0;

  add(ms: number): void {
    this.#ms[this.#next] = ms;
    this.#next = (this.#next + 1) % keptMax;
  }

  /** Milliseconds; `chance` is in [0, 1). Nothing before the first one is known. */
  draw(chance: number): number {
    return this.#ms[Math.floor(chance * this.#ms.length)] ?? 0;
  }
}
