/** A session of a MySQL client with what it must find on its connection, whichever that is. On MariaDB. */
import mysql, { type Connection, type ResultSetHeader, type RowDataPacket } from "mysql2/promise";
import { Chance, same, type Modelled } from "./promises.ts";

export interface SessionParts {
  readonly id: number;
  readonly port: number;
  readonly transacts: boolean;
  /** What only a connection keeps stays with the session; else it is refused. */
  readonly keeps: boolean;
}

/** Each with its value in a session that set nothing, and others. */
const variables: Readonly<Record<string, readonly string[]>> = {
  DEFAULT_WEEK_FORMAT: ["0", "1", "2", "3"],
  GROUP_CONCAT_MAX_LEN: ["1048576", "2000", "3000", "4000"],
  TIME_ZONE: ["SYSTEM", "+02:00", "-05:30", "+09:00"],
  TX_ISOLATION: ["REPEATABLE-READ", "READ-COMMITTED", "SERIALIZABLE"],
};
const names = Object.keys(variables).map((name) => `'${name}'`);

/** From the server: `@@` alone would be answered before it. */
const lookSql = `select variable_name as n, variable_value as v, database() as d, last_insert_id() as l
  from information_schema.session_variables where variable_name in (${names.join(", ")}) order by 1`;

export class Session implements Modelled {
  readonly said: string[] = [];
  readonly #parts: SessionParts;
  readonly #chance: Chance;
  #client: Connection | undefined;
  #changed = new Map<string, string>();
  #database = "demo";
  #last = 0;
  #mark: string | undefined;
  #temporary = new Set<string>();
  #locks = new Set<string>();
  /** Rows of its own in the table of all. */
  #rows = 0;

  constructor(parts: SessionParts) {
    this.#parts = parts;
    this.#chance = new Chance(parts.id);
  }

  async turn(): Promise<void> {
    if (this.#client === undefined) await this.#enter();
    if (this.#chance.below(15) === 0) return await this.#startOver();
    if (this.#parts.transacts && this.#chance.below(4) > 0) await this.#transaction();
    else await this.#one();
    if (this.#chance.below(3) === 0) await this.#look();
  }

  async leave(): Promise<void> {
    const client = this.#client;
    this.#client = undefined;
    this.#forget();
    this.said.push("-- leaves");
    await client?.end();
  }

  #forget(): void {
    [this.#changed, this.#temporary, this.#locks] = [new Map(), new Set(), new Set()];
    [this.#database, this.#last, this.#mark] = ["demo", 0, undefined];
  }

  async #enter(): Promise<void> {
    const { port } = this.#parts;
    const options = { host: "127.0.0.1", port, user: "u", database: "demo" };
    this.#client = await mysql.createConnection(options);
    await this.#look();
  }

  /** As another client, or as the same one under its name anew: both begin with nothing. */
  async #startOver(): Promise<void> {
    if (this.#chance.below(2) === 0) return await this.leave();
    this.said.push("-- changes its user");
    await this.#open.changeUser({ user: "v", database: "demo" });
    this.#forget();
    await this.#look();
  }

  async #transaction(): Promise<void> {
    await this.#say("begin");
    const before = this.#rows;
    for (let step = this.#chance.below(3); step >= 0; step -= 1) await this.#one(true);
    if (this.#chance.below(2) === 0) await this.#look();
    const commits = this.#chance.below(3) > 0;
    if (!commits && this.#chance.below(2) === 0)
      same(await this.#numberOf("select nothing_there"), 1054, "a failure");
    await this.#say(commits ? "commit" : "rollback");
    if (!commits) this.#rows = before;
  }

  async #one(within = false): Promise<void> {
    await this.#chance.one([
      () => this.#set(),
      () => this.#set(),
      () => this.#insert(),
      () => this.#insert(),
      () => this.#prepared(),
      () => this.#use(),
      // A table that is made would end a transaction, but for a temporary one.
      () => this.#table(),
      () => this.#lock(),
      () => this.#variable(),
      () => this.#marked(within),
    ])();
  }

  async #set(): Promise<void> {
    const name = this.#chance.one(Object.keys(variables));
    const value = this.#chance.one(variables[name] ?? []);
    const level = value.replace("-", " ");
    await this.#say(
      name === "TX_ISOLATION"
        ? `set session transaction isolation level ${level}`
        : `set session ${name.toLowerCase()} = ${/^\d+$/.test(value) ? value : `'${value}'`}`,
    );
    this.#changed.set(name, value);
  }

  async #insert(): Promise<void> {
    const { id } = this.#parts;
    this.said.push(`insert of ${id}`);
    const [{ insertId }] = await this.#open.query<ResultSetHeader>(
      "insert into demo.own_rows (client) values (?)",
      [id],
    );
    [this.#last, this.#rows] = [insertId, this.#rows + 1];
    const found = await this.#cell(`select count(*) as c from demo.own_rows where client = ${id}`);
    same(found, this.#rows, "rows of its own");
  }

  async #prepared(): Promise<void> {
    const sql = `select ? + ${this.#parts.id} as a`;
    this.said.push(sql);
    const [rows] = await this.#open.execute<RowDataPacket[]>(sql, [100]);
    same(rows[0]?.["a"], 100 + this.#parts.id, "its own prepared statement");
  }

  async #use(): Promise<void> {
    this.#database = this.#chance.one(["demo", "other"]);
    await this.#say(`use ${this.#database}`);
  }

  /** Of the same names in all sessions, each with its own number in it. */
  async #table(): Promise<void> {
    const { id, keeps } = this.#parts;
    const name = `demo.kept_${this.#chance.below(2)}`;
    if (this.#temporary.has(name)) {
      same(await this.#cell(`select a as c from ${name}`), id, "its own temporary table");
      return;
    }
    same(await this.#numberOf(`select a from ${name}`), 1146, "a temporary table of another");
    const sql = `create temporary table ${name} engine = memory as select ${id} as a`;
    const refused = await this.#numberOf(sql);
    same(refused, keeps ? undefined : 1235, sql);
    if (keeps) this.#temporary.add(name);
  }

  async #lock(): Promise<void> {
    const { id, keeps } = this.#parts;
    const name = `lock_${id}_${this.#chance.below(2)}`;
    if (!keeps) {
      same(await this.#numberOf(`select get_lock('${name}', 0)`), 1235, "a lock");
      return;
    }
    if (this.#locks.has(name)) {
      same(await this.#cell(`select release_lock('${name}') as c`), 1, "its own lock");
      this.#locks.delete(name);
      return;
    }
    // The one of this name before may still be given back behind its session.
    same(await this.#cell(`select get_lock('${name}', 10) as c`), 1, "a free lock");
    this.#locks.add(name);
  }

  /** A variable that stays at the gateway until a statement of the server names it. */
  async #variable(): Promise<void> {
    if (!this.#parts.keeps) return;
    this.#mark = `mark_${this.#parts.id}_${this.#chance.below(5)}`;
    await this.#say(`set @own = '${this.#mark}'`);
  }

  async #marked(within: boolean): Promise<void> {
    if (!this.#parts.keeps || (this.#mark === undefined && within)) return;
    const sql = "select @own as c from information_schema.schemata limit 1";
    same(await this.#cell(sql), this.#mark ?? null, "its own variable");
  }

  /** Everything that there is on the connection has to be this session's own, and all of it. */
  async #look(): Promise<void> {
    const [rows] = await this.#say(lookSql);
    const seen = (rows as RowDataPacket[]).map(({ n, v, d, l }) => [n, v, d, l]);
    const wanted = Object.entries(variables).map(([name, [untouched]]) => [
      name,
      this.#changed.get(name) ?? untouched,
      this.#database,
      this.#last,
    ]);
    same(seen, wanted, "the connection");
  }

  get #open(): Connection {
    if (this.#client === undefined) throw new Error("the session is not open");
    return this.#client;
  }

  async #say(sql: string): Promise<readonly unknown[]> {
    this.said.push(sql);
    return await this.#open.query(sql);
  }

  async #cell(sql: string): Promise<unknown> {
    const [rows] = await this.#say(sql);
    return (rows as RowDataPacket[])[0]?.["c"] ?? (rows as RowDataPacket[])[0]?.["a"] ?? null;
  }

  async #numberOf(sql: string): Promise<number | undefined> {
    return await this.#say(sql).then(
      () => undefined,
      (error: unknown) => (error as { readonly errno?: number }).errno,
    );
  }
}
