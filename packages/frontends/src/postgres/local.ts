/**
 * Finds the statements that are about the server or the session, which the frontend answers itself:
 * SET, RESET, SHOW, DISCARD, DEALLOCATE, and SELECTs of nothing but server functions.
 *
 * Reading only; what they do is in `localAnswer.ts`. Everything that is not certainly such a
 * statement is the engine's.
 */
import { gatewayError, type GatewayError } from "@gateway/core/error.ts";
import { isQuestion, readSelect, type Question } from "./localSelect.ts";
import { settings } from "./settings.ts";
import { firstWords, literalOf, nameOf, TokenReader, tokensOf, type Token } from "./tokens.ts";

export type LocalStatement =
  /** `value` undefined is DEFAULT. `local`: until the end of the transaction. */
  | {
      readonly kind: "set";
      readonly changes: readonly { readonly name: string; readonly value: string | undefined }[];
      readonly local: boolean;
    }
  | { readonly kind: "reset"; readonly name: string }
  | { readonly kind: "resetAll" }
  | { readonly kind: "show"; readonly name: string }
  | { readonly kind: "showAll" }
  /** `name` undefined: all of them. */
  | { readonly kind: "deallocate"; readonly name: string | undefined }
  | { readonly kind: "discardAll" }
  /** A statement that has nothing to do here. */
  | { readonly kind: "nothing"; readonly tag: string }
  | { readonly kind: "ask"; readonly questions: readonly Question[] }
  | { readonly kind: "arrayTypes" }
  | { readonly kind: "refuse"; readonly error: GatewayError };

/** Longer statements are never local. */
const tokensMax = 256;

/** What the statement asks of the frontend; undefined when it is the engine's. Cheap for the engine's. */
export function readLocal(sql: string): LocalStatement | undefined {
  const [first = "", second = ""] = firstWords(sql);
  const reader = readers.get(first);
  if (reader === undefined || (first === "select" && !mayBeQuestion(second))) return undefined;
  const tokens = tokensOf(sql, tokensMax);
  return tokens === undefined ? undefined : reader(new TokenReader(tokens.slice(1)), tokens);
}

type Reader = (rest: TokenReader, tokens: readonly Token[]) => LocalStatement | undefined;

const readers: ReadonlyMap<string, Reader> = new Map<string, Reader>([
  ["set", readSet],
  ["reset", readReset],
  ["show", readShow],
  ["discard", readDiscard],
  ["deallocate", readDeallocate],
  ["close", readClose],
  ["unlisten", () => ({ kind: "nothing", tag: "UNLISTEN" })],
  ["select", readQuestions],
  ["copy", readCopy],
  ["prepare", () => refuse("PREPARE as a statement is not supported; use the protocol's own")],
  ["execute", () => refuse("EXECUTE as a statement is not supported; use the protocol's own")],
  [
    "declare",
    () => refuse("cursors by DECLARE are not supported; use a row limit of the protocol"),
  ],
  ["fetch", () => refuse("cursors by DECLARE are not supported; use a row limit of the protocol")],
  ["move", () => refuse("cursors by DECLARE are not supported; use a row limit of the protocol")],
  ["listen", () => refuse("LISTEN and NOTIFY are not supported")],
  ["notify", () => refuse("LISTEN and NOTIFY are not supported")],
]);

function refuse(message: string): LocalStatement {
  return { kind: "refuse", error: gatewayError("query.unsupported", { message }) };
}

function readSet(rest: TokenReader): LocalStatement | undefined {
  if (rest.takeWords("session", "characteristics", "as", "transaction")) {
    return readModes(rest, "default_transaction_");
  }
  if (rest.takeWords("transaction")) return readModes(rest, "transaction_");
  const local = rest.takeWords("local");
  if (!local) rest.takeWords("session");
  if (rest.takeWords("role")) return readIdentity(rest, "none");
  if (rest.takeWords("authorization") || rest.takeWords("session", "authorization")) {
    return readIdentity(rest, "default");
  }
  if (rest.takeWords("time", "zone")) return setOne("timezone", zoneValue(rest), local);
  if (rest.takeWords("names")) return setOne("client_encoding", valueOf(rest), local);
  const name = settingName(rest);
  if (name === undefined || !(rest.takeText("=") || rest.takeWords("to"))) return undefined;
  // A name with a dot is a client's own; any other that PostgreSQL does not have is the engine's.
  if (!settings.has(name) && !name.includes(".")) return undefined;
  return setOne(name, valueOf(rest, name === "search_path"), local);
}

/** `null` is what could not be read. */
function setOne(name: string, value: string | null | undefined, local: boolean) {
  if (value === null) return undefined;
  return { kind: "set", changes: [{ name, value }], local } as const;
}

/** `SET ROLE NONE` and the like change nothing. Another identity is not for the client to choose. */
function readIdentity(rest: TokenReader, own: "none" | "default"): LocalStatement {
  if (rest.takeWords(own) && rest.done) return { kind: "nothing", tag: "SET" };
  return refuse("the identity of a session is decided by the gateway and can not be changed");
}

/** `ISOLATION LEVEL REPEATABLE READ, READ WRITE, NOT DEFERRABLE`; commas are optional. */
function readModes(rest: TokenReader, prefix: string): LocalStatement | undefined {
  const changes: { name: string; value: string }[] = [];
  while (!rest.done) {
    const change = readMode(rest);
    if (change === undefined) return undefined;
    changes.push({ name: prefix + change[0], value: change[1] });
    rest.takeText(",");
  }
  if (changes.length === 0) return undefined;
  return { kind: "set", changes, local: prefix === "transaction_" };
}

function readMode(rest: TokenReader): readonly [string, string] | undefined {
  if (rest.takeWords("isolation", "level")) {
    const first = rest.next()?.word ?? "";
    if (first === "serializable") return ["isolation", first];
    return ["isolation", `${first} ${rest.next()?.word ?? ""}`];
  }
  if (rest.takeWords("read", "only")) return ["read_only", "on"];
  if (rest.takeWords("read", "write")) return ["read_only", "off"];
  if (rest.takeWords("not", "deferrable")) return ["deferrable", "off"];
  if (rest.takeWords("deferrable")) return ["deferrable", "on"];
  return undefined;
}

/** `name` or `name.part`, in lower case. */
function settingName(rest: TokenReader): string | undefined {
  const name = nameOf(rest.next());
  if (name === undefined) return undefined;
  if (!rest.takeText(".")) return name.toLowerCase();
  const part = nameOf(rest.next());
  return part === undefined ? undefined : `${name}.${part}`.toLowerCase();
}

/** One value or a list; undefined for DEFAULT, null for what is neither. Quotes of names stay where they mean something. */
function valueOf(rest: TokenReader, keepQuotes = false): string | null | undefined {
  if (rest.takeWords("default")) return rest.done ? undefined : null;
  const parts: string[] = [];
  do {
    const sign = rest.takeText("-") ? "-" : "";
    const token = rest.next();
    const part = literalOf(token) ?? bareValue(token, keepQuotes);
    if (part === undefined) return null;
    parts.push(sign + part);
  } while (rest.takeText(","));
  return rest.done ? parts.join(", ") : null;
}

function bareValue(token: Token | undefined, keepQuotes: boolean): string | undefined {
  if (token?.kind === "word" || token?.kind === "number") return token.text;
  return keepQuotes && token?.kind === "quotedIdentifier" ? token.text : nameOf(token);
}

function zoneValue(rest: TokenReader): string | null | undefined {
  if (rest.takeWords("local")) return rest.done ? undefined : null;
  return valueOf(rest);
}

function readReset(rest: TokenReader): LocalStatement | undefined {
  if (rest.takeWords("all")) return rest.done ? { kind: "resetAll" } : undefined;
  if (rest.takeWords("role") || rest.takeWords("session", "authorization")) {
    return { kind: "nothing", tag: "RESET" };
  }
  const name = rest.takeWords("time", "zone") ? "timezone" : settingName(rest);
  if (name === undefined || !rest.done) return undefined;
  return settings.has(name) || name.includes(".") ? { kind: "reset", name } : undefined;
}

function readShow(rest: TokenReader): LocalStatement | undefined {
  if (rest.takeWords("all")) return rest.done ? { kind: "showAll" } : undefined;
  const name = shownName(rest);
  if (name === undefined || !rest.done) return undefined;
  // `SHOW tables` is a question to the engine.
  return settings.has(name) || name.includes(".") ? { kind: "show", name } : undefined;
}

function shownName(rest: TokenReader): string | undefined {
  if (rest.takeWords("time", "zone")) return "timezone";
  if (rest.takeWords("transaction", "isolation", "level")) return "transaction_isolation";
  if (rest.takeWords("session", "authorization")) return "session_authorization";
  return settingName(rest);
}

function readDiscard(rest: TokenReader): LocalStatement | undefined {
  const what = rest.next()?.word ?? "";
  if (!rest.done) return undefined;
  if (what === "all") return { kind: "discardAll" };
  // Plans, sequences and temporary tables do not outlive a statement here.
  if (/^(plans|sequences|temp|temporary)$/.test(what)) {
    return {
      kind: "nothing",
      tag: `DISCARD ${what === "temporary" ? "TEMP" : what.toUpperCase()}`,
    };
  }
  return undefined;
}

function readDeallocate(rest: TokenReader): LocalStatement | undefined {
  rest.takeWords("prepare");
  const token = rest.next();
  const name = nameOf(token);
  if (name === undefined || !rest.done) return undefined;
  return { kind: "deallocate", name: token?.word === "all" ? undefined : name };
}

function readClose(rest: TokenReader): LocalStatement {
  if (rest.takeWords("all") && rest.done) return { kind: "nothing", tag: "CLOSE CURSOR ALL" };
  return refuse("cursors by DECLARE are not supported; use a row limit of the protocol");
}

/** COPY with the client's own connection; COPY with a file is the engine's to allow or refuse. */
function readCopy(_: TokenReader, tokens: readonly Token[]): LocalStatement | undefined {
  const streamed = tokens.some(
    ({ word }, index) =>
      (word === "stdout" && tokens[index - 1]?.word === "to") ||
      (word === "stdin" && tokens[index - 1]?.word === "from"),
  );
  return streamed ? refuse("COPY TO STDOUT and COPY FROM STDIN are not supported") : undefined;
}

/** Most SELECTs are the engine's, and their second word shows it. */
function mayBeQuestion(word: string): boolean {
  return word === arrayTypesTokens[1] || word === "pg_catalog" || isQuestion(word);
}

function readQuestions(rest: TokenReader, tokens: readonly Token[]): LocalStatement | undefined {
  if (isArrayTypes(tokens)) return { kind: "arrayTypes" };
  const questions = readSelect(rest);
  return questions === undefined ? undefined : { kind: "ask", questions };
}

/** What the client `postgres` asks once per connection: which type is whose array. */
const arrayTypesText =
  "select b.oid,b.typarray from pg_catalog.pg_type a left join pg_catalog.pg_type b " +
  "on b.oid=a.typelem where a.typcategory='A' group by b.oid,b.typarray order by b.oid";

const arrayTypesTokens: readonly string[] = (tokensOf(arrayTypesText, tokensMax) ?? []).map(
  ({ text }) => text.toLowerCase(),
);

function isArrayTypes(tokens: readonly Token[]): boolean {
  return (
    tokens.length === arrayTypesTokens.length &&
    tokens.every(({ text }, index) => text.toLowerCase() === arrayTypesTokens[index])
  );
}
