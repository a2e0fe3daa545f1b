/**
 * Asks the directory: who an entry belongs to, whether a password opens it, and its groups. A few
 * connections, each for one login at a time and thrown away after anything odd, because a connection
 * is whoever was bound on it last.
 */
import { readFile } from "node:fs/promises";
import { secretText } from "@gateway/contract/config/secret.ts";
import type { Host } from "@gateway/core/port/host.ts";
import { InvalidCredentialsError, ResultCodeError, type Client, type Entry } from "ldapts";
import type { LdapConfig } from "./config.ts";
import { DirectoryConnection } from "./connection.ts";
import { comparedWithName, filled, filterValue, nameValue } from "./escape.ts";

/** A user whose password was right. `name`: in the directory's spelling, so that one person has one name. */
export interface DirectoryUser {
  readonly name: string;
  readonly groups: readonly string[];
}

/** `refused`: no such user, several of them, or a wrong password. `unavailable`: nobody can tell. */
export type NoUser = "refused" | "unavailable";

/** One more than may be: the directory need not look further. */
const groupsAskedMax = 1_001;
/** Logins that may wait for a connection. */
const waitingMax = 256;
/** Something between may have forgotten an idle connection without a word, and the next login would wait for nothing. */
const idleMaxMs = 30_000;
/** Codes with which a directory refuses this name or this password (RFC 4511 appendix A), and not everybody. */
const refusals: ReadonlySet<number> = new Set([19, 32, 34, 48, 49, 50, 53]);

export class Directory implements AsyncDisposable {
  readonly #config: LdapConfig;
  readonly #host: Host;
  readonly #idle: IdleConnection[] = [];
  readonly #busy = new Set<AbortController>();
  readonly #waiting: (() => void)[] = [];
  #running = 0;

  constructor(config: LdapConfig, host: Host) {
    this.#config = config;
    this.#host = host;
  }

  /** Logs one user in. Answers within the time limit, and never rejects. */
  async login(user: string, password: string): Promise<DirectoryUser | NoUser> {
    if (this.#waiting.length >= waitingMax) return "unavailable";
    const limit = new AbortController();
    using _timer = this.#host.clock.timer(this.#config.timeoutMs, () => limit.abort());
    this.#busy.add(limit);
    try {
      await this.#place(limit.signal);
    } catch {
      this.#busy.delete(limit);
      return "unavailable";
    }
    try {
      return await this.#withConnection(limit.signal, (client) =>
        this.#ask(client, user, password),
      );
    } catch (error) {
      // The library's texts quote names; the kind of failure is what an operator needs.
      const reason = limit.signal.aborted ? "slow" : kindOf(error);
      this.#host.log.write("warn", "auth.directoryUnavailable", { reason });
      return "unavailable";
    } finally {
      this.#busy.delete(limit);
      // The place goes straight to the next in line, so that nobody slips in between.
      const next = this.#waiting.shift();
      if (next === undefined) this.#running -= 1;
      else next();
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const limit of this.#busy) limit.abort();
    for (const { connection } of this.#idle.splice(0)) connection.destroy();
  }

  /** Resolves when this login may have a connection; rejects when its time is over first. */
  async #place(signal: AbortSignal): Promise<void> {
    if (this.#running >= this.#config.poolSize) return this.#turn(signal);
    this.#running += 1;
  }

  #turn(signal: AbortSignal): Promise<void> {
    return new Promise((resolve, reject) => {
      const go = (): void => {
        signal.removeEventListener("abort", leave);
        resolve();
      };
      const leave = (): void => {
        this.#waiting.splice(this.#waiting.indexOf(go), 1);
        reject(new Error("no connection became free"));
      };
      signal.addEventListener("abort", leave, { once: true });
      this.#waiting.push(go);
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

  async #ask(client: Client, user: string, password: string): Promise<DirectoryUser | NoUser> {
    const entry = await this.#entryOf(client, user);
    // Whoever does not exist is tried as well, so that the answer takes as long.
    const right = await bindAs(client, entry?.dn ?? this.#nobody(user), password);
    if (!right || entry === undefined) return "refused";
    const groups = await this.#groupsOf(client, entry, user);
    return groups === undefined ? "refused" : { name: entry.name, groups };
  }

  /** The one entry of the name. */
  async #entryOf(client: Client, user: string): Promise<UserEntry | undefined> {
    const { userDnTemplate, userSearchBase, userSearchFilter } = this.#config;
    if (userDnTemplate !== undefined) {
      return { dn: filled(userDnTemplate, { "{}": nameValue(user) }), name: user.toLowerCase() };
    }
    await this.#bindToSearch(client);
    const spellings = comparedWithName(userSearchFilter);
    const { searchEntries } = await client.search(userSearchBase ?? "", {
      scope: "sub",
      filter: filled(userSearchFilter, { "{}": filterValue(user) }),
      attributes: [...spellings],
      sizeLimit: 2,
      derefAliases: "never",
    });
    const [entry] = searchEntries;
    if (entry === undefined || searchEntries.length > 1 || entry.dn === "") return undefined;
    const name = spelledAs(entry, spellings, user);
    return name === undefined ? undefined : { dn: entry.dn, name };
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
    // Users may often not read groups. Without a search account they do, as themselves.
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

  /** As the search account, or as nobody: also after a user was bound. Throws when the directory refuses. */
  async #bindToSearch(client: Client): Promise<void> {
    const { bindDn, bindPassword } = this.#config;
    await client.bind(bindDn ?? "", bindPassword === undefined ? "" : secretText(bindPassword));
  }
}

interface IdleConnection {
  readonly connection: DirectoryConnection;
  readonly sinceMs: number;
}

interface UserEntry {
  readonly dn: string;
  readonly name: string;
}

/** True when the password opens the entry; throws when the directory says nothing about that. */
async function bindAs(client: Client, dn: string, password: string): Promise<boolean> {
  // Directories take a bind without a password for one without a name, and let it succeed (RFC 4513 §5.1.2).
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

/** The name as the entry has it: the value of the first compared attribute, the one that was meant when there are several. */
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
function valuesOf(entry: Entry, attribute: string): readonly string[] {
  const wanted = attribute.toLowerCase();
  const key = Object.keys(entry).find((name) => name !== "dn" && name.toLowerCase() === wanted);
  const value = key === undefined ? undefined : entry[key];
  const list: readonly unknown[] = Array.isArray(value) ? value : [value];
  return list.filter((one) => typeof one === "string");
}

function kindOf(error: unknown): string {
  if (error instanceof ResultCodeError) return `result ${error.code}`;
  const { code } = error as { readonly code?: unknown };
  return typeof code === "string" && /^[A-Z0-9_]{1,64}$/.test(code) ? code : "broken";
}
