/**
 * Finds the statements that are about catalogs and nothing else, by their text. Pure.
 *
 * In doubt a statement is the backend's: so is one that may name a table of the backend, and one whose text we
 * can not read for certain. Every position of a relation is looked at. The mirror checks once more, in the
 * database (`catalog/thread.ts`), that no table was read.
 */
import { asciiLower, openSql, tokenText, type TokenKind } from "@gateway/core/sql/lex/cursor.ts";
import { nextSignificant } from "@gateway/core/sql/lex/lex.ts";
import { decodeIdentifier } from "@gateway/core/sql/lex/literal.ts";
import {
  catalogFunction,
  catalogRelation,
  liveFunction,
  liveRelation,
  plainFunction,
  sessionFunction,
  sessionLock,
  systemWord,
} from "./catalogNames.ts";

/** Every statement over catalogs holds one of these words; most statements of users hold none. */
const mention =
  /pg_|information_schema|current_|session_user|reg(?:class|proc|oper|type|namespace|role|dictionary|config|collation)|_privilege|format_type|_description/i;

/** The longest statement that is looked at, and its most tokens. Type loaders of drivers take 4 KB. */
const lengthMax = 64 * 1024;
const tokensMax = 8_000;

/**
 * What a statement over catalogs and nothing else asks about. `session`: the session alone, which the frontend
 * keeps. `names`: what there is, which a mirror knows, and a PostgreSQL itself. `live`: also sizes, statistics, sessions or locks, which only the engine knows. `sessionLock`: it takes or gives
 * back a lock of its session.
 */
export type CatalogSubject = "session" | "names" | "live" | "sessionLock";

/**
 * Undefined for a statement that is the backend's: also for one that calls functions about sizes and the like and
 * reads no catalog, because an engine without them says so itself. Cheap for most others.
 */
export function catalogSubject(sql: string): CatalogSubject | undefined {
  if (sql.length > lengthMax || !mention.test(sql)) return undefined;
  const tokens = tokensOf(sql);
  return tokens === undefined ? undefined : new Walk(tokens).subject();
}

/** Tokens in order: words in lower case, quoted names without quotes, everything else as it stands. */
interface Tokens {
  readonly kinds: readonly TokenKind[];
  readonly texts: readonly string[];
}

function tokensOf(sql: string): Tokens | undefined {
  const cursor = openSql(sql, "postgres");
  const kinds: TokenKind[] = [];
  const texts: string[] = [];
  while (nextSignificant(cursor)) {
    if (kinds.length === tokensMax || cursor.kind === "semicolon") return undefined;
    const text = tokenText(cursor);
    const quoted = cursor.kind === "quotedIdentifier";
    const name = quoted ? decodeIdentifier(text, "postgres") : asciiLower(text);
    if (name === undefined) return undefined;
    kinds.push(cursor.kind);
    texts.push(name);
  }
  return cursor.doubt === undefined ? { kinds, texts } : undefined;
}

/** One pair of brackets, or the whole text. */
interface Frame {
  /** `query`: a SELECT. `join`: tables in brackets. `other`: an expression, where FROM is a word of a function. */
  readonly kind: "query" | "join" | "other";
  /** Between FROM and what ends it. */
  inFrom: boolean;
  /** A relation comes next. */
  wanted: boolean;
}

const queryWords: ReadonlySet<string> = new Set(["select", "with", "values", "table"]);
/** What begins a statement that changes something: behind a bracket, or behind the list of WITH. */
const changeWords: ReadonlySet<string> = new Set(["insert", "update", "delete", "merge"]);
const fromEnds: ReadonlySet<string> = new Set(
  "where group having order limit offset fetch window union intersect except for select".split(" "),
);
const setWords: ReadonlySet<string> = new Set(["union", "intersect", "except", "all", "distinct"]);
const regTypes =
  /^reg(?:class|procedure|proc|operator|oper|type|namespace|role|dictionary|config|collation)$/;

class Walk {
  readonly #kinds: readonly TokenKind[];
  readonly #texts: readonly string[];
  readonly #named: ReadonlySet<string>;
  readonly #frames: Frame[] = [];
  #at = 0;
  #relations = false;
  #functions = false;
  #names = false;
  #foreign = false;
  #live = false;
  #sessionLock = false;

  constructor({ kinds, texts }: Tokens) {
    this.#kinds = kinds;
    this.#texts = texts;
    this.#named = this.#withNames();
  }

  subject(): CatalogSubject | undefined {
    if (!this.#isCatalog()) return undefined;
    if (this.#sessionLock) return "sessionLock";
    if (!this.#live) return this.#relations || this.#names ? "names" : "session";
    return this.#relations ? "live" : undefined;
  }

  #isCatalog(): boolean {
    const [first = ""] = this.#texts;
    if (!this.#isWord(0, queryWords) && first !== "(") return false;
    this.#frames.push({ kind: "query", inFrom: false, wanted: first === "table" });
    if (first === "table") this.#at = 1;
    while (this.#at < this.#kinds.length) if (!this.#step()) return false;
    return this.#relations || (this.#functions && !this.#foreign);
  }

  /** Reads one token. False: not ours. */
  #step(): boolean {
    const frame = this.#frames.at(-1);
    if (frame === undefined) return false;
    if (frame.wanted && this.#kinds[this.#at] !== "open") return this.#relation(frame);
    const at = this.#at;
    this.#at += 1;
    switch (this.#kinds[at]) {
      case "open":
        this.#open(frame);
        return true;
      case "close":
        this.#frames.pop();
        return true;
      case "comma":
        frame.wanted = frame.inFrom;
        return true;
      case "operator":
        if (this.#texts[at] === "::") this.#cast(at + 1);
        return true;
      case "word":
        return this.#word(frame, at);
      case "quotedIdentifier":
        if (this.#texts[at + 1] === "(") this.#call(at);
        return true;
      default:
        return true;
    }
  }

  #open(frame: Frame): void {
    const query = this.#isWord(this.#at, queryWords);
    const join = frame.wanted && !query;
    frame.wanted = false;
    const table = this.#texts[this.#at] === "table";
    if (query) this.#frames.push({ kind: "query", inFrom: false, wanted: table });
    else this.#frames.push({ kind: join ? "join" : "other", inFrom: join, wanted: join });
    if (query && table) this.#at += 1;
  }

  #word(frame: Frame, at: number): boolean {
    const word = this.#texts[at] ?? "";
    const attribute = this.#kinds[at - 1] === "dot";
    if (!attribute && this.#changes(at, word)) return false;
    if (this.#texts[at + 1] === "(" && this.#kinds[at + 1] === "open") this.#call(at);
    else if (!attribute && systemWord(word)) this.#called(word);
    if (attribute || frame.kind === "other") {
      if (word === "as") this.#cast(at + 1);
      return true;
    }
    if (word === "from" && !this.#isDistinctFrom(at)) {
      frame.inFrom = true;
      frame.wanted = true;
    } else if (word === "join") {
      frame.wanted = true;
    } else if (frame.kind === "query" && fromEnds.has(word)) {
      frame.inFrom = false;
      // `UNION TABLE x` is the one other place of a relation.
      frame.wanted = false;
    } else if (word === "table" && this.#isWord(at - 1, setWords)) {
      frame.wanted = true;
    }
    return true;
  }

  #changes(at: number, word: string): boolean {
    if (word === "into") return true;
    const before = this.#kinds[at - 1];
    return changeWords.has(word) && (before === "open" || before === "close");
  }

  /** `a IS DISTINCT FROM b` */
  #isDistinctFrom(at: number): boolean {
    const before = this.#texts[at - 2];
    return this.#texts[at - 1] === "distinct" && (before === "is" || before === "not");
  }

  /** Reads the relation that has to stand here. */
  #relation(frame: Frame): boolean {
    if (this.#isWord(this.#at, lateral)) {
      this.#at += 1;
      return true;
    }
    const start = this.#at;
    const path = this.#path();
    frame.wanted = false;
    if (path === undefined) return false;
    const [first = "", second, third] = path;
    if (this.#texts[this.#at] === "(" && this.#kinds[this.#at] === "open") {
      const known = this.#knownFunction(start, path);
      return known !== "foreign";
    }
    if (third !== undefined) return false;
    if (second === undefined && this.#named.has(first)) return true;
    this.#relations = true;
    if (first !== "information_schema" && liveRelation(second ?? first)) this.#live = true;
    return second === undefined ? catalogRelation(first) : isCatalogSchema(first);
  }

  #path(): readonly string[] | undefined {
    const parts: string[] = [];
    for (;;) {
      const kind = this.#kinds[this.#at];
      if (kind !== "word" && kind !== "quotedIdentifier") return undefined;
      parts.push(this.#texts[this.#at] ?? "");
      this.#at += 1;
      if (this.#kinds[this.#at] !== "dot") return parts;
      this.#at += 1;
    }
  }

  /** A name before a bracket, in an expression. */
  #call(at: number): void {
    const qualified = this.#kinds[at - 1] === "dot";
    const name = this.#texts[at] ?? "";
    const path = qualified ? [this.#texts[at - 2] ?? "", name] : [name];
    if (this.#knownFunction(at, path) === "foreign") this.#foreign = true;
  }

  #knownFunction(at: number, path: readonly string[]): "catalog" | "plain" | "foreign" {
    const [first = "", second] = path;
    const known = second === undefined ? functionKind(first) : schemaKind(first);
    if (known === "catalog") this.#called(second ?? first);
    // A bracket behind a type or an alias with columns is no call.
    const named = this.#texts[at - 1] === "as" || this.#texts[at - 1] === "::";
    return named && known === "foreign" ? "plain" : known;
  }

  #called(name: string): void {
    this.#functions = true;
    if (!sessionFunction(name)) this.#names = true;
    if (liveFunction(name)) this.#live = true;
    if (sessionLock(name)) this.#sessionLock = true;
  }

  /** A type behind a cast. */
  #cast(at: number): void {
    const qualified = this.#texts[at] === "pg_catalog" && this.#kinds[at + 1] === "dot";
    if (!regTypes.test(this.#texts[qualified ? at + 2 : at] ?? "")) return;
    this.#functions = true;
    this.#names = true;
  }

  #isWord(at: number, words: ReadonlySet<string>): boolean {
    return this.#kinds[at] === "word" && words.has(this.#texts[at] ?? "");
  }

  /** Names that WITH gives, wherever it stands: `name [(columns)] AS [[NOT] MATERIALIZED] (`. */
  #withNames(): ReadonlySet<string> {
    const names = new Set<string>();
    if (!this.#texts.includes("with")) return names;
    for (const [at, text] of this.#texts.entries()) {
      if (text !== "as" || this.#kinds[at] !== "word") continue;
      let open = at + 1;
      if (this.#texts[open] === "not") open += 1;
      if (this.#texts[open] === "materialized") open += 1;
      if (this.#kinds[open] !== "open" || !this.#isWord(open + 1, queryWords)) continue;
      const name = this.#nameBefore(at - 1);
      if (name !== undefined) names.add(name);
    }
    return names;
  }

  #nameBefore(end: number): string | undefined {
    let at = end;
    if (this.#kinds[at] === "close") {
      while (at > 0 && this.#kinds[at] !== "open") at -= 1;
      at -= 1;
    }
    const kind = this.#kinds[at];
    return kind === "word" || kind === "quotedIdentifier" ? this.#texts[at] : undefined;
  }
}

const lateral: ReadonlySet<string> = new Set(["lateral", "only"]);

function isCatalogSchema(name: string): boolean {
  return name === "pg_catalog" || name === "information_schema";
}

function functionKind(name: string): "catalog" | "plain" | "foreign" {
  if (catalogFunction(name)) return "catalog";
  return plainFunction(name) ? "plain" : "foreign";
}

function schemaKind(schema: string): "catalog" | "foreign" {
  return isCatalogSchema(schema) ? "catalog" : "foreign";
}
