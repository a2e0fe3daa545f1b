/** A session of a PostgreSQL client with what it must find on its connection, whichever that is. */
import pg from "pg";
import { Chance, same, type Modelled } from "./promises.ts";

export interface SessionParts {
  readonly id: number;
  readonly port: number;
  readonly poolMode: "transaction" | "session" | "statement";
  /** What only a connection keeps stays with the session; else it is refused. */
  readonly keeps: boolean;
}

/** What a session has. Each of the sets holds names that are this session's alone. */
interface State {
  readonly settings: ReadonlyMap<string, string>;
  readonly temporary: ReadonlySet<string>;
  readonly prepared: ReadonlySet<string>;
  readonly cursors: ReadonlySet<string>;
  readonly locks: ReadonlySet<string>;
  readonly channels: ReadonlySet<string>;
  /** Rows of its own in the table of all. */
  readonly rows: number;
}
type Names = "temporary" | "prepared" | "cursors" | "locks" | "channels";

const nothing: State = {
  settings: new Map(),
  temporary: new Set(),
  prepared: new Set(),
  cursors: new Set(),
  locks: new Set(),
  channels: new Set(),
  rows: 0,
};

const settingNames = ["work_mem", "TimeZone", "search_path", "application_name", "own.mark"];
const untouched: Readonly<Record<string, string>> = {
  work_mem: "4MB",
  search_path: '"$user", public',
  // Of the gateway's connection.
  application_name: "",
  "own.mark": "",
};

/** All that one look tells of a connection. */
const lookSql = `select ${settingNames.map((name, at) => `coalesce(current_setting('${name}', true), '') s${at}`).join(", ")},
  (select array_agg(relname::text) from pg_class where relnamespace = pg_my_temp_schema() and relkind = 'r') temporary,
  (select array_agg(name) from pg_prepared_statements where from_sql) prepared,
  (select array_agg(name) from pg_cursors where is_holdable) cursors,
  (select array_agg(objid::text) from pg_locks where locktype = 'advisory' and pid = pg_backend_pid()) locks,
  (select array_agg(c) from pg_listening_channels() c) channels,
  current_setting('transaction_isolation') isolation`;

export class Session implements Modelled {
  readonly said: string[] = [];
  readonly #parts: SessionParts;
  readonly #chance: Chance;
  #client: pg.Client | undefined;
  #state: State = nothing;
  /** What a ROLLBACK brings back; undefined outside of a transaction. */
  #before: State | undefined;
  /** What SET LOCAL covers until the end of the transaction. */
  #local = new Map<string, string | undefined>();
  /** Cursors that were closed in this transaction. */
  #closed = new Set<string>();
  #isolation = "read committed";
  #zone = "";
  #last: number | undefined;
  #names = 0;

  constructor(parts: SessionParts) {
    this.#parts = parts;
    this.#chance = new Chance(parts.id);
  }

  async turn(): Promise<void> {
    if (this.#client === undefined) await this.#enter();
    if (this.#chance.below(40) === 0) {
      await this.leave();
      return;
    }
    const transacts = this.#parts.poolMode !== "statement" && this.#chance.below(4) > 0;
    if (transacts) await this.#transaction();
    else await this.#one();
    if (this.#chance.below(3) === 0) await this.#look();
  }

  async leave(): Promise<void> {
    const client = this.#client;
    this.#client = undefined;
    this.#state = { ...nothing, rows: this.#state.rows };
    this.#last = undefined;
    this.said.push("-- leaves");
    await client?.end();
  }

  async #enter(): Promise<void> {
    const { port } = this.#parts;
    const client = new pg.Client({ host: "127.0.0.1", port, user: "ann", database: "promises" });
    client.on("error", () => undefined);
    await client.connect();
    this.#client = client;
    this.#zone = await this.#cell("show timezone");
    await this.#look();
  }

  async #transaction(): Promise<void> {
    const repeats = this.#chance.below(5) === 0;
    await this.#say(repeats ? "begin isolation level repeatable read" : "begin");
    this.#isolation = repeats ? "repeatable read" : "read committed";
    this.#before = this.#state;
    for (let step = this.#chance.below(3); step >= 0; step -= 1) await this.#one();
    if (this.#chance.below(2) === 0) await this.#look();
    const commits = this.#chance.below(3) > 0;
    if (!commits && this.#chance.below(2) === 0)
      same(await this.#codeOf("select 1/0"), "22012", "a failure");
    await this.#say(commits ? "commit" : "rollback");
    this.#end(commits);
  }

  #end(committed: boolean): void {
    const { locks, prepared } = this.#state;
    const settings = new Map(this.#state.settings);
    for (const [name, value] of this.#local) put(settings, name, value);
    const before = this.#before ?? nothing;
    // Locks of the session and prepared statements are no part of a transaction, and a cursor that was closed stays so.
    const left = new Set([...before.cursors].filter((name) => !this.#closed.has(name)));
    this.#state = committed
      ? { ...this.#state, settings }
      : { ...before, locks, prepared, cursors: left };
    this.#before = undefined;
    this.#closed = new Set();
    this.#local = new Map();
    this.#isolation = "read committed";
  }

  /** One statement that changes something, or says that it may not. */
  async #one(): Promise<void> {
    await this.#chance.one([
      () => this.#set(),
      () => this.#set(),
      () => this.#insert(),
      () => this.#insert(),
      () => this.#named(),
      () => this.#sequence(),
      () => this.#keep("temporary", (name) => `create temp table ${name} (a int)`),
      () => this.#keep("prepared", (name) => `prepare ${name} as select ${this.#parts.id}`),
      () => this.#keep("locks", (name) => `select pg_advisory_lock(${name})`),
      () => this.#keep("channels", (name) => `listen ${name}`),
      () => this.#keep("cursors", (name) => `declare ${name} cursor with hold for select 1`),
      () => this.#drop(),
      () => this.#drop(),
    ])();
  }

  async #set(): Promise<void> {
    const name = this.#chance.one(settingNames);
    const value = this.#chance.below(3) === 0 ? undefined : this.#valueFor(name);
    const local = value !== undefined && this.#before !== undefined && this.#chance.below(3) === 0;
    const { settings } = this.#state;
    if (local && !this.#local.has(name)) this.#local.set(name, settings.get(name));
    if (!local) this.#local.delete(name);
    const written = name === "search_path" ? value : `'${value}'`;
    const set = `set ${local ? "local " : ""}${name} = ${written}`;
    await this.#say(value === undefined ? `reset ${name}` : set);
    const changed = new Map(settings);
    put(changed, name, value);
    this.#state = { ...this.#state, settings: changed };
  }

  #valueFor(name: string): string {
    const { id } = this.#parts;
    switch (name) {
      case "work_mem":
        return `${10 + id}MB`;
      case "TimeZone":
        return this.#chance.one(["Asia/Tokyo", "America/Lima", "Europe/Oslo"]);
      case "search_path":
        return `own_${id}, public`;
      default:
        return `mark_${id}_${this.#chance.below(5)}`;
    }
  }

  async #insert(): Promise<void> {
    const { id } = this.#parts;
    const { rows } = await this.#say(
      "insert into public.own_rows (client) values ($1) returning n",
      [id],
    );
    this.#last = (rows[0] as { n: number }).n;
    const found = await this.#cell(
      `select count(*)::int from public.own_rows where client = ${id}`,
    );
    this.#state = { ...this.#state, rows: this.#state.rows + 1 };
    same(found, this.#state.rows, "rows of its own");
  }

  /** A prepared statement of the protocol, of the same name in every session and with another text in each. */
  async #named(): Promise<void> {
    const text = `select ${this.#parts.id} + $1::int as a`;
    this.said.push(`-- named: ${text}`);
    const { rows } = await this.#open.query({ name: `same${this.#names}`, text, values: [100] });
    same(rows, [{ a: 100 + this.#parts.id }], "its own prepared statement");
  }

  /** Where a session may not be told what its sequence gave, it is told that there is nothing. */
  async #sequence(): Promise<void> {
    if (this.#before !== undefined) return;
    const found = await this.#open.query("select lastval()::int as n").then(
      ({ rows }) => (rows[0] as { n: number }).n,
      () => undefined,
    );
    if (found !== undefined) same(found, this.#last, "a sequence's last value");
  }

  async #keep(what: Names, sqlFor: (name: string) => string): Promise<void> {
    const { id, keeps } = this.#parts;
    const number = this.#chance.below(2);
    const name = what === "locks" ? `${id * 10 + number + 1}` : `own_${id}_${number}`;
    const had = this.#state[what];
    if (had.has(name) || (what === "cursors" && this.#before === undefined)) return;
    const sql = sqlFor(name);
    if (!keeps) {
      if (this.#before === undefined) same(await this.#codeOf(sql), "0A000", sql);
      return;
    }
    await this.#say(sql);
    this.#state = { ...this.#state, [what]: new Set([...had, name]) };
  }

  /** Gives something back, or everything. */
  async #drop(): Promise<void> {
    if (this.#before === undefined && this.#chance.below(3) === 0) {
      await this.#say("discard all");
      this.#state = { ...nothing, rows: this.#state.rows };
      this.#last = undefined;
      this.#names += 1;
      return;
    }
    const what = this.#chance.one(Object.keys(drops) as Names[]);
    const [name] = this.#state[what];
    if (name === undefined) return;
    await this.#say(drops[what](name));
    const left = new Set(this.#state[what]);
    left.delete(name);
    if (what === "cursors") this.#closed.add(name);
    this.#state = { ...this.#state, [what]: left };
  }

  /** Everything that there is on the connection has to be this session's own, and all of it. */
  async #look(): Promise<void> {
    const { rows } = await this.#say(lookSql);
    const seen = Object.entries(rows[0] as object).map(([name, value]: [string, unknown]) => [
      name,
      Array.isArray(value) ? sorted(new Set(value.map(String))) : value,
    ]);
    const { temporary, prepared, cursors, locks, channels } = this.#state;
    // What LISTEN asks for begins with the end of its transaction.
    const listening = this.#before?.channels ?? channels;
    const wanted = { temporary, prepared, cursors, locks, channels: listening };
    const sets = Object.entries(wanted).map(([name, set]) => [name, sorted(set)]);
    const settings = settingNames.map((name, at) => [
      `s${at}`,
      this.#state.settings.get(name) ?? (name === "TimeZone" ? this.#zone : untouched[name]),
    ]);
    const all = Object.fromEntries([...settings, ...sets]);
    same(Object.fromEntries(seen), { ...all, isolation: this.#isolation }, "the connection");
  }

  get #open(): pg.Client {
    if (this.#client === undefined) throw new Error("the session is not open");
    return this.#client;
  }

  async #say(sql: string, values: readonly unknown[] = []): Promise<pg.QueryResult> {
    this.said.push(sql);
    return await this.#open.query(sql, [...values]);
  }

  async #cell<T>(sql: string): Promise<T> {
    const { rows } = await this.#say(sql);
    return Object.values(rows[0] as object)[0] as T;
  }

  async #codeOf(sql: string): Promise<string | undefined> {
    return await this.#say(sql).then(
      () => undefined,
      (error: unknown) => (error as { readonly code?: string }).code,
    );
  }
}

const drops: Readonly<Record<Names, (name: string) => string>> = {
  temporary: (name) => `drop table ${name}`,
  prepared: (name) => `deallocate ${name}`,
  cursors: (name) => `close ${name}`,
  locks: (name) => `select pg_advisory_unlock(${name})`,
  channels: (name) => `unlisten ${name}`,
};

function put(settings: Map<string, string>, name: string, value: string | undefined): void {
  if (value === undefined) settings.delete(name);
  else settings.set(name, value);
}

function sorted(names: ReadonlySet<string>): readonly string[] | null {
  return names.size === 0 ? null : [...names].toSorted();
}
