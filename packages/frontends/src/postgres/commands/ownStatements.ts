/** Ends and beginnings of transactions in the gateway's own words. */
import { readStatement, type Statement } from "@gateway/core/sql/statement.ts";

export function ownStatement(word: "BEGIN" | "COMMIT" | "ROLLBACK"): Statement {
  return readStatement(word, "postgres");
}

/** COMMIT of a transaction that failed is a rollback, and begins the next one if it says so. The engine may not know that it failed. */
export function undone({ session }: Statement): Statement {
  const ends = session?.kind === "commit" || session?.kind === "rollback";
  return readStatement(ends && session.chain ? "ROLLBACK AND CHAIN" : "ROLLBACK", "postgres");
}
