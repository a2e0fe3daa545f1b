/**
 * A client of Trino's protocol that keeps its session as Trino's clients do and tells all that an answer says.
 * Rows stay text: `JSON.parse` would make two different numbers equal.
 */

/** What a statement was answered. Two of them are compared member by member. */
export interface Told {
  /** Names, types and type signatures; undefined when no answer listed any. */
  readonly columns: string | undefined;
  /** Undefined when no answer had rows, not even an empty list of them. */
  readonly rows: readonly string[] | undefined;
  readonly updateType: string | undefined;
  readonly updateCount: string | undefined;
  readonly warnings: string | undefined;
  readonly error: string | undefined;
  readonly message: string | undefined;
  readonly place: string | undefined;
  /** What the client was told to change in its session. */
  readonly changes: string;
}

/** Members of an answer that are told as they are. */
type Answer = ReadonlyMap<string, string>;

/** Names that a client may give its own schema; in what is told both are `way`. */
export type Way = "way_one" | "way_two";

const ending = /^(?:commit|rollback)\b/i;
const capabilities = "PARAMETRIC_DATETIME,PATH";
const changePrefix = "x-trino-";
const told = /^x-trino-(set|clear|added|deallocated|started|reset)-/;

export class TrinoClient {
  readonly #url: string;
  readonly #name: Way;
  #catalog: string | undefined;
  #schema: string | undefined;
  #path: string | undefined;
  #transaction = "NONE";
  readonly #properties = new Map<string, string>();
  readonly #prepared = new Map<string, string>();

  /** `schema` of the catalog `memory` is this client's own. */
  constructor(url: string, schema: Way) {
    this.#url = url;
    this.#name = schema;
    this.#catalog = "memory";
    this.#schema = schema;
  }

  /** Runs a statement, in which `{way}` is the client's own schema. */
  async run(statement: string): Promise<Told> {
    const headers = this.#headers();
    const body = statement.replaceAll("{way}", this.#name);
    let response = await fetch(`${this.#url}/v1/statement`, { method: "POST", body, headers });
    const all = new Map<string, string>();
    const rows: string[] = [];
    const changes = new Set<string>();
    for (;;) {
      const text = await response.text();
      if (!response.ok) return refusedWith(response.status, text);
      this.#change(response.headers, changes);
      const answer = membersOf(text);
      for (const [name, value] of answer) all.set(name, value);
      for (const row of itemsOf(answer.get("data") ?? "[]")) rows.push(row);
      const next = answer.get("nextUri");
      if (next === undefined) {
        // Whatever came of it: JDBC's driver does the same.
        if (ending.test(body)) this.#transaction = "NONE";
        return toldOf(all, rows, changes);
      }
      response = await fetch(JSON.parse(next) as string, { headers });
    }
  }

  #headers(): Record<string, string> {
    const pairs = (map: ReadonlyMap<string, string>) =>
      [...map].map(([name, value]) => `${name}=${value}`).join(",");
    const headers: Record<string, string | undefined> = {
      "x-trino-user": "alice",
      "x-trino-source": "direct",
      "x-trino-client-capabilities": capabilities,
      "x-trino-time-zone": "Europe/Berlin",
      "x-trino-transaction-id": this.#transaction,
      "x-trino-catalog": this.#catalog,
      "x-trino-schema": this.#schema,
      "x-trino-path": this.#path,
      "x-trino-session": pairs(this.#properties),
      "x-trino-prepared-statement": pairs(this.#prepared),
    };
    const set = Object.entries(headers).filter(([, value]) => value !== undefined && value !== "");
    return Object.fromEntries(set) as Record<string, string>;
  }

  #change(headers: Headers, changes: Set<string>): void {
    for (const [name, value] of headers) {
      if (!told.test(name)) continue;
      const change = name.slice(changePrefix.length);
      changes.add(change === "started-transaction-id" ? change : `${change}: ${value}`);
      this.#take(change, value);
    }
  }

  #take(change: string, value: string): void {
    switch (change) {
      case "set-catalog":
        this.#catalog = value;
        break;
      case "set-schema":
        this.#schema = value;
        break;
      case "set-path":
        this.#path = value;
        break;
      case "started-transaction-id":
        this.#transaction = value;
        break;
      case "clear-transaction-id":
        this.#transaction = "NONE";
        break;
      case "clear-session":
        this.#properties.delete(value);
        break;
      case "deallocated-prepare":
        this.#prepared.delete(value);
        break;
      case "set-session":
      case "added-prepare":
        for (const pair of value.split(/,\s*/)) {
          const at = pair.indexOf("=");
          const kept = change === "set-session" ? this.#properties : this.#prepared;
          kept.set(pair.slice(0, at), pair.slice(at + 1));
        }
    }
  }
}

function toldOf(all: Answer, rows: readonly string[], changes: ReadonlySet<string>): Told {
  const failed = all.has("error") ? membersOf(all.get("error") ?? "{}") : undefined;
  const code = ["errorCode", "errorName", "errorType"].map((name) => failed?.get(name));
  return {
    columns: plain(withoutLayout(all.get("columns"))),
    rows: all.has("data") ? rows.map((row) => plain(row) ?? "") : undefined,
    updateType: all.get("updateType"),
    updateCount: all.get("updateCount"),
    warnings: plain(withoutLayout(all.get("warnings"))),
    error: failed === undefined ? undefined : code.join(" "),
    message: failed?.has("message")
      ? plain(JSON.parse(failed.get("message") ?? "") as string)
      : undefined,
    place: withoutLayout(failed?.get("errorLocation")),
    changes: plain([...changes].toSorted().join("; ")) ?? "",
  };
}

/** Schemas of clients, which see those of each other. */
const ways = /way_(?:one|two)/g;

function plain(text: string | undefined): string | undefined {
  return text?.replaceAll(ways, "way");
}

function refusedWith(status: number, text: string): Told {
  const none = undefined;
  return {
    columns: none,
    rows: none,
    updateType: none,
    updateCount: none,
    warnings: none,
    error: `HTTP ${status}`,
    message: text,
    place: none,
    changes: "",
  };
}

function withoutLayout(text: string | undefined): string | undefined {
  return text === undefined ? undefined : JSON.stringify(JSON.parse(text));
}

/** The members of a JSON object as text, without those that are null. */
function membersOf(text: string): Answer {
  const members = new Map<string, string>();
  for (const member of itemsOf(text)) {
    const behindName = stringEnd(member, 0);
    const value = member.slice(member.indexOf(":", behindName) + 1).trim();
    if (value !== "null") members.set(JSON.parse(member.slice(0, behindName)) as string, value);
  }
  return members;
}

/** The items of a JSON array, or the members of an object, as text. */
function itemsOf(text: string): readonly string[] {
  const items: string[] = [];
  let depth = 0;
  let start = 1;
  for (let at = 0; at < text.length; at += 1) {
    const letter = text[at];
    if (letter === '"') at = stringEnd(text, at) - 1;
    if (letter === "[" || letter === "{") depth += 1;
    const closes = letter === "]" || letter === "}";
    if (closes) depth -= 1;
    if (!(closes && depth === 0) && !(letter === "," && depth === 1)) continue;
    const item = text.slice(start, at).trim();
    if (item !== "") items.push(item);
    start = at + 1;
  }
  return items;
}

/** Behind the string that begins there. */
function stringEnd(text: string, start: number): number {
  for (let at = start + 1; at < text.length; at += 1) {
    if (text[at] === "\\") at += 1;
    else if (text[at] === '"') return at + 1;
  }
  return text.length;
}
