/** Statements about the connection itself, which are not sent as they are. */
import { remembered } from "@gateway/core/sql/reading/remembered.ts";
import { usedDatabase, variablesSet } from "../../starRocks/client/session.ts";

/** The database that a statement chooses, and the variables that it sets; undefined where it does neither. */
export const ownIn = remembered(
  (sql) => ({ database: usedDatabase(sql), variables: variablesSet(sql, "either") }),
  { textsMax: 1_000, lengthMax: 2_000 },
);
