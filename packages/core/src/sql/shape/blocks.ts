/**
 * The query blocks of a statement as far as a guard needs them: which tables each reads, and which columns every
 * row must be asked about in its WHERE.
 *
 * A reader of tokens, not of grammar. What it does not know it leaves out of the columns and never out of the
 * tables, so that a mistake refuses a query and lets none through. Names in strings and behind functions and
 * views are not tables to it.
 */
import {
  type Awaited,
  type Frame,
  type ShapeToken,
  type TableRead,
  afterWords,
  beforeNames,
  begin,
  conditionWords,
  enter,
  filters,
  forget,
  frameOf,
  guaranteed,
  inFrom,
  inWith,
  isComparison,
  isOr,
  noColumns,
  notAlias,
  setOperators,
  startsStatement,
} from "./frame.ts";

const framesMax = 200;
const readsMax = 1_000;

/** Takes the tokens of one statement, then says what was read. */
export class BlockReader {
  readonly #frames: Frame[] = [frameOf("query")];
  readonly #found: TableRead[] = [];
  #unclear = false;
  /** The name that is being read, and what it is. */
  #path: string[] = [];
  #pathIs: Exclude<Awaited, "nothing"> | "column" | "none" = "none";
  #afterDot = false;
  /** The table of a COPY, until it is known whether it is read. */
  #copied: readonly string[] | undefined;

  take(token: ShapeToken): void {
    if (this.#unclear || this.#continuesPath(token)) return;
    const opens = token.kind === "open";
    if (this.#pathIs !== "none") this.#endPath(opens);
    if (opens) return this.#open();
    if (token.kind === "close") return this.#close();
    const frame = this.#top;
    if (frame.kind === "unknown") begin(frame, token);
    if (frame.awaits !== "nothing") this.#awaited(frame, frame.awaits, token);
    else if (frame.kind === "query") this.#inQuery(frame, token);
    else if (frame.kind === "group") inFrom(frame, token);
    else this.#inCondition(frame, token);
    frame.words = [frame.words[1], token.word];
  }

  /** All tables that the statement reads; undefined where it is not understood. */
  end(): readonly TableRead[] | undefined {
    if (this.#pathIs !== "none") this.#endPath(false);
    if (this.#unclear || this.#frames.length !== 1) return undefined;
    this.#endBlock(this.#top);
    return this.#found;
  }

  get #top(): Frame {
    const top = this.#frames.at(-1);
    if (top === undefined) throw new Error("no frame is left");
    return top;
  }

  #continuesPath({ kind, name }: ShapeToken): boolean {
    if (this.#pathIs === "none") return false;
    if (kind === "dot") {
      this.#afterDot = true;
      return true;
    }
    if (!this.#afterDot || name === "") return false;
    this.#path.push(name);
    this.#afterDot = false;
    return true;
  }

  #startPath(what: Exclude<Awaited, "nothing"> | "column", name: string): void {
    this.#path = [name];
    this.#pathIs = what;
    this.#afterDot = false;
  }

  /** A name before a bracket is a function. */
  #endPath(isFunction: boolean): void {
    const path = this.#path;
    const what = this.#pathIs;
    this.#pathIs = "none";
    if (isFunction) return;
    const frame = this.#top;
    if (what === "column") {
      frame.branch.add(path.slice(-2).join("."));
      return;
    }
    const [first = ""] = path;
    if (path.length === 1 && this.#frames.some(({ parts }) => parts.has(first))) return;
    const read: TableRead = { path, alias: path.at(-1) ?? "", columns: noColumns };
    if (what === "copied") {
      this.#copied = path;
    } else if (what === "whole") {
      this.#found.push(read);
    } else {
      frame.reads.push(read);
      frame.unnamed = true;
    }
    if (frame.reads.length + this.#found.length > readsMax) this.#unclear = true;
  }

  #open(): void {
    const outer = this.#top;
    if (this.#frames.length === framesMax) {
      this.#unclear = true;
      return;
    }
    const frame = frameOf("unknown");
    // In a FROM brackets hold a query or joins; anywhere else a query or an expression.
    if (outer.awaits === "table") frame.clause = "from";
    outer.awaits = "nothing";
    outer.unnamed = false;
    this.#frames.push(frame);
  }

  #close(): void {
    const frame = this.#frames.pop();
    const outer = this.#frames.at(-1);
    if (frame === undefined || outer === undefined) {
      this.#unclear = true;
      return;
    }
    if (frame.kind === "query") this.#endBlock(frame);
    // What is joined in brackets is read by the block around them, and so is what an expression names.
    if (frame.kind === "group") outer.reads.push(...frame.reads);
    const isCondition = outer.clause === "where" || outer.kind === "expression";
    if (frame.kind === "expression" && isCondition) {
      for (const column of guaranteed(frame)) outer.branch.add(column);
    }
    const [, last] = outer.words;
    if (outer.part !== "" && (last === "AS" || last === "MATERIALIZED")) {
      if (frame.kind === "query") outer.parts.add(outer.part);
      outer.part = "";
    }
    outer.words = [last, ")"];
  }

  #inQuery(frame: Frame, token: ShapeToken): void {
    const { word } = token;
    if (setOperators.has(word)) return this.#endBlock(frame);
    if (this.#startsClause(frame, word)) return;
    switch (frame.clause) {
      case "with":
        return inWith(frame, token);
      case "from":
      case "on":
        return inFrom(frame, token);
      case "where":
        return this.#inCondition(frame, token);
      case "after":
        // The word may have been a column, and then this is still the WHERE.
        if (isOr(token)) forget(frame);
        return;
      case "head":
        if (word === "TO" && this.#copied !== undefined) {
          this.#found.push({ path: this.#copied, alias: "", columns: noColumns });
        }
        return;
      case "select":
      case "filter":
        if (word === "IN") frame.awaits = "whole";
    }
  }

  /** Whether the word begins a clause of the block. */
  #startsClause(frame: Frame, word: string): boolean {
    const isHead = frame.clause === "head";
    if (word === "SELECT" || word === "SET") return enter(frame, "select");
    if (word === "WHERE" || word === "PREWHERE") return enter(frame, "where");
    if (word === "FROM" && !isComparison(frame)) return enter(frame, "from", "table");
    if (word === "USING" && (isHead || frame.clause === "from")) {
      return enter(frame, "from", "source");
    }
    if (filters.has(word)) return enter(frame, "filter");
    if (isHead) return startsStatement(frame, word);
    return afterWords.has(word) && enter(frame, "after");
  }

  #awaited(frame: Frame, awaited: Exclude<Awaited, "nothing">, token: ShapeToken): void {
    const { kind, word, name } = token;
    if (beforeNames.has(word)) return;
    frame.awaits = "nothing";
    const isName = name !== "" && (kind !== "word" || !notAlias.has(word));
    // DuckDB takes a string for a name, but not in a condition.
    if (isName && (kind !== "string" || awaited === "table")) this.#startPath(awaited, name);
  }

  #inCondition(frame: Frame, token: ShapeToken): void {
    const { kind, word, name } = token;
    if (isOr(token)) {
      frame.common = guaranteed(frame);
      frame.branch = new Set();
    } else if (word === "IN") {
      frame.awaits = "whole";
    } else if (name !== "" && kind !== "string" && !conditionWords.has(word)) {
      this.#startPath("column", name);
    }
  }

  #endBlock(frame: Frame): void {
    const columns = guaranteed(frame);
    for (const read of frame.reads) this.#found.push({ ...read, columns });
    frame.reads = [];
    frame.branch = new Set();
    frame.common = undefined;
    enter(frame, "head");
  }
}
