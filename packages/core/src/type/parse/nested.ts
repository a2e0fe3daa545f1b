/**
 * PostgreSQL's literals of arrays (`{1,NULL,"a b"}`) and records (`(1,,"x y")`); a map is an array of
 * records of key and value. Every part is cut out as text and read by its own type.
 */
import type { DataType, Value } from "../type.ts";
import { isRefused, wrongText, type Parsed } from "./parsed.ts";

type Nested = Extract<DataType, { kind: "list" | "struct" | "map" }>;
/** Reads the text of a part. */
export type ReadPart = (type: DataType, text: string) => Parsed<Value>;

/** A list, struct or map. */
export function parseNested(type: Nested, text: string, read: ReadPart): Parsed<Value> {
  switch (type.kind) {
    case "list":
      return parseList(type.item, text, read);
    case "struct":
      return parseStruct(
        type.fields.map((field) => field.type),
        text,
        read,
      );
    case "map":
      return parseList({ kind: "struct", fields: entryFields(type) }, text, read);
  }
}

function entryFields(type: Extract<Nested, { kind: "map" }>) {
  return [
    { name: "key", type: type.key },
    { name: "value", type: type.value },
  ];
}

function parseList(item: DataType, text: string, read: ReadPart): Parsed<Value> {
  const parts = cutArray(trimmed(text));
  if (parts === undefined) return wrongText;
  const items: Value[] = [];
  for (const part of parts) {
    const parsed = part === undefined ? null : read(item, part);
    if (isRefused(parsed)) return parsed;
    items.push(parsed);
  }
  return items;
}

function parseStruct(types: readonly DataType[], text: string, read: ReadPart): Parsed<Value> {
  const parts = cutRecord(trimmed(text));
  // A record of one NULL field and a record of no field are written alike.
  if (types.length === 0) return parts?.length === 1 && parts[0] === undefined ? [] : wrongText;
  if (parts === undefined || parts.length !== types.length) return wrongText;
  const values: Value[] = [];
  for (const [index, type] of types.entries()) {
    const part = parts[index];
    const parsed = part === undefined ? null : read(type, part);
    if (isRefused(parsed)) return parsed;
    values.push(parsed);
  }
  return values;
}

/** Texts of the parts, each undefined for NULL; the whole is undefined when the literal is broken. */
type Parts = (string | undefined)[] | undefined;

/** Texts of the items of `{…}`. An inner array is one text with its braces. */
function cutArray(text: string): Parts {
  if (!text.startsWith("{") || !text.endsWith("}") || text.length < 2) return undefined;
  if (skipSpace(text, 1) === text.length - 1) return [];
  const parts: (string | undefined)[] = [];
  let at = 1;
  for (;;) {
    const part = cutItem(text, skipSpace(text, at));
    if (part === undefined) return undefined;
    parts.push(part.text);
    at = skipSpace(text, part.end);
    if (at === text.length - 1) return parts;
    if (text[at] !== ",") return undefined;
    at += 1;
  }
}

/** What PostgreSQL takes for space around parts. All other white space of Unicode is text, and needs no quotes. */
const spaces = " \t\n\r\v\f";

function skipSpace(text: string, from: number): number {
  let at = from;
  while (at < text.length && spaces.includes(text.charAt(at))) at += 1;
  return at;
}

function trimmedEnd(text: string): string {
  let end = text.length;
  while (end > 0 && spaces.includes(text.charAt(end - 1))) end -= 1;
  return text.slice(0, end);
}

function trimmed(text: string): string {
  return trimmedEnd(text).slice(skipSpace(text, 0));
}

interface Part {
  readonly text: string | undefined;
  /** Index behind the part. */
  readonly end: number;
}

/** Braces, commas and quotes end or open a part; the last brace is the array's own. */
function cutItem(text: string, at: number): Part | undefined {
  if (text[at] === '"') return cutQuoted(text, at);
  if (text[at] === "{") return cutInner(text, at);
  let end = at;
  let escaped = false;
  let plain = "";
  while (end < text.length - 1 && text[end] !== ",") {
    if (text[end] === '"' || text[end] === "{" || text[end] === "}") return undefined;
    if (text[end] === "\\") {
      escaped = true;
      end += 1;
    }
    plain += text[end] ?? "";
    end += 1;
  }
  const shown = trimmedEnd(plain);
  if (shown === "" || end > text.length - 1) return undefined;
  return { text: !escaped && shown.toLowerCase() === "null" ? undefined : shown, end };
}

/** In quotes a backslash takes the next character as it is, and doubled quotes are one. */
function cutQuoted(text: string, at: number): Part | undefined {
  let plain = "";
  let from = at + 1;
  for (let end = from; end < text.length; end += 1) {
    const character = text[end];
    if (character === "\\") {
      plain += text.slice(from, end);
      from = end + 1;
      end += 1;
      continue;
    }
    if (character !== '"') continue;
    plain += text.slice(from, end);
    if (text[end + 1] !== '"') return { text: plain, end: end + 1 };
    from = end + 1;
    end += 1;
  }
  return undefined;
}

/** An inner array up to its own closing brace. */
function cutInner(text: string, at: number): Part | undefined {
  let depth = 0;
  for (let end = at; end < text.length - 1; end += 1) {
    const character = text[end];
    if (character === '"') {
      const quoted = cutQuoted(text, end);
      if (quoted === undefined) return undefined;
      end = quoted.end - 1;
    } else if (character === "\\") end += 1;
    else if (character === "{") depth += 1;
    else if (character === "}") depth -= 1;
    if (depth === 0) return { text: text.slice(at, end + 1), end: end + 1 };
  }
  return undefined;
}

/** Texts of the fields of `(…)`; nothing between two commas is NULL. */
function cutRecord(text: string): Parts {
  if (!text.startsWith("(") || !text.endsWith(")") || text.length < 2) return undefined;
  const parts: (string | undefined)[] = [];
  let at = 1;
  for (;;) {
    const part = cutField(text, at);
    if (part === undefined) return undefined;
    parts.push(part.text);
    if (part.end === text.length - 1) return parts;
    at = part.end + 1;
  }
}

/** Quoted and unquoted pieces may follow each other, as PostgreSQL reads them. */
function cutField(text: string, at: number): Part | undefined {
  let plain = "";
  let end = at;
  let seen = false;
  while (end < text.length - 1 && text[end] !== ",") {
    const character = text[end] ?? "";
    if (character === "(" || character === ")") return undefined;
    seen = true;
    if (character === '"') {
      const quoted = cutQuoted(text, end);
      if (quoted === undefined) return undefined;
      plain += quoted.text ?? "";
      end = quoted.end;
      continue;
    }
    if (character === "\\") end += 1;
    plain += text[end] ?? "";
    end += 1;
  }
  if (end > text.length - 1) return undefined;
  return { text: seen ? plain : undefined, end };
}
