/**
 * Statements that pass to a server of MySQL's whatever the session is: nothing here could answer them, and they name
 * nothing that the session has. Most statements are such, and all of it follows from the text: it is found by one look.
 */
import { remembered } from "@gateway/core/sql/reading/remembered.ts";
import { readStatement } from "@gateway/core/sql/statement.ts";
import { isNeverLocal } from "../commands/local.ts";
import { rememberedLengthMax, rememberedTexts } from "../limits.ts";
import { hasCode } from "./relaying.ts";
import { rowCountRefusal } from "../read/rowCount.ts";
import { boundAsIs, type BoundStatement } from "./statement.ts";

/** The statement as a server of MySQL's gets it; `none` where more than its text has to be looked at. */
export function plainly(source: string): BoundStatement | "none" {
  // A long one is read in steps, by those who need it.
  return source.length > rememberedLengthMax ? "none" : plain(source);
}

const plain = remembered(read, { textsMax: rememberedTexts, lengthMax: rememberedLengthMax });

function read(source: string): BoundStatement | "none" {
  // A variable, of the session or the server.
  if (source.includes("@") || hasCode(source) || !isNeverLocal(source)) return "none";
  const statement = readStatement(source, "mysql");
  if (statement.kind === "unknown" || statement.kind === "set") return "none";
  if (rowCountRefusal(source) !== undefined) return "none";
  const relayed = { statement, execution: undefined, settings: undefined };
  return boundAsIs(source, statement, relayed);
}
