/**
 * What the frontend answers itself: statements about the connection and the server, which no engine
 * here could answer as a MySQL server does.
 *
 * It decides by the first words and reads no more of a statement than it must. It asks nobody: what
 * needs the engine comes back as a rewritten statement.
 */
import { asciiLower, upperWord, openSql } from "@gateway/core/sql/cursor.ts";
import { nextSignificant } from "@gateway/core/sql/lex.ts";
import { withSchema } from "./clientSession.ts";
import { ownErrors } from "./errors.ts";
import type { LocalAnswer } from "./local/answer.ts";
import { describeTable } from "./local/schema.ts";
import { answerSelect } from "./local/select.ts";
import { answerSet } from "./local/set.ts";
import { answerShow, type ShowContext } from "./local/show.ts";
import { tokensOf, TokenWalk, type Token } from "./local/tokens.ts";

/** The answer to one statement; undefined when the engine answers it as it is. */
export function answerLocally(sql: string, context: ShowContext): LocalAnswer | undefined {
  const word = firstWord(sql);
  switch (word) {
    case "SELECT":
      return answerSelect(sql, context);
    case "SET":
      return withTokens(sql, (tokens) => answerSet(tokens, context));
    case "SHOW":
      return withTokens(sql, (tokens) => answerShow(tokens, context));
    case "USE":
      return withTokens(sql, (tokens) => answerUse(tokens, context));
    case "KILL":
      return withTokens(sql, answerKill);
    case "DESCRIBE":
    case "DESC":
      return withTokens(sql, (tokens) => {
        const walk = new TokenWalk(tokens.slice(1));
        const { schema } = context.client.session;
        return describeTable(walk, { schema, catalog: context.catalog });
      });
    case "COMMIT":
    case "ROLLBACK":
      return withTokens(sql, refuseChain);
    case "LOAD":
      return withTokens(sql, (tokens) =>
        tokens.slice(1, 6).some((token) => token.word === "LOCAL")
          ? { kind: "error", reply: ownErrors.localInfile() }
          : undefined,
      );
    default:
      return undefined;
  }
}

/** The first word in upper case; empty when the statement begins with something else. */
export function firstWord(sql: string): string {
  const cursor = openSql(sql, "mysql");
  return nextSignificant(cursor) ? upperWord(cursor) : "";
}

function withTokens(
  sql: string,
  answer: (tokens: readonly Token[]) => LocalAnswer | undefined,
): LocalAnswer | undefined {
  const tokens = tokensOf(sql);
  return tokens === undefined ? undefined : answer(tokens);
}

/** `USE schema` and `USE catalog.schema`. Whether it exists is said by the next statement that needs it. */
function answerUse(tokens: readonly Token[], { client }: ShowContext): LocalAnswer {
  const walk = new TokenWalk(tokens.slice(1));
  const first = walk.takeName();
  const second = walk.takeSign(".") ? walk.takeName() : undefined;
  if (first === undefined || !walk.done) {
    return { kind: "error", reply: ownErrors.syntax(walk.next.text) };
  }
  const [catalog, schema] = second === undefined ? [client.session.catalog, first] : [first, second];
  return { kind: "changed", client: withSchema(client, catalog, schema), commit: false };
}

/** `COMMIT AND CHAIN` begins another transaction, `COMMIT RELEASE` leaves: neither is done, so neither is taken. */
function refuseChain(tokens: readonly Token[]): LocalAnswer | undefined {
  const asked = tokens.some(
    ({ word }, index) =>
      (word === "CHAIN" || word === "RELEASE") &&
      tokens[index - 1]?.word !== "NO" &&
      !tokens.some((token) => token.word === "TO"),
  );
  if (!asked) return undefined;
  return { kind: "error", reply: ownErrors.notSupported("CHAIN and RELEASE") };
}

/** `KILL [CONNECTION | QUERY] id`. */
function answerKill(tokens: readonly Token[]): LocalAnswer {
  const walk = new TokenWalk(tokens.slice(1));
  const what = walk.takeOneOf("CONNECTION", "QUERY");
  const id = walk.takeLiteral();
  if (typeof id !== "bigint" || id < 0n || !walk.done) {
    return { kind: "error", reply: ownErrors.syntax(asciiLower(walk.next.text)) };
  }
  return { kind: "kill", connectionId: Number(id), whole: what !== "QUERY" };
}
