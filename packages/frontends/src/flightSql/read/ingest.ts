/** Where the rows of a bulk ingestion go, and what becomes of a table that is there or is missing. */
import type { GatewayError } from "@gateway/core/error.ts";
import { err, ok, type Result } from "@gateway/core/result.ts";
import * as sql from "../proto/FlightSql_pb.js";
import { unsupported, violation, type Command } from "./command.ts";

export interface Ingest {
  /** Its name, quoted and with its catalog and schema where those were given. */
  readonly table: string;
  readonly ifMissing: "create" | "fail";
  readonly ifExists: "append" | "replace" | "fail";
}

const missing = sql.CommandStatementIngest_TableDefinitionOptions_TableNotExistOption;
const exists = sql.CommandStatementIngest_TableDefinitionOptions_TableExistsOption;
const nameCharsMax = 1_024;

/** What the command asks for. An option that is not kept is refused, never left out. */
export function readIngest({
  table,
  schema,
  catalog,
  temporary,
  options,
  tableDefinitionOptions,
}: Extract<Command, { name: "CommandStatementIngest" }>["message"]): Result<Ingest, GatewayError> {
  if (temporary) {
    // It would stay behind on a connection that others get.
    return err(unsupported("Rows are not taken into temporary tables."));
  }
  if (Object.keys(options).length > 0) {
    return err(unsupported("Bulk ingestion has no options of its own here."));
  }
  const names = [catalog ?? "", schema ?? "", table].filter((name) => name !== "");
  if (table === "" || names.some((name) => name.length > nameCharsMax || name.includes("\0"))) {
    return err(violation("The name of the table is missing, or no name."));
  }
  if (catalog !== undefined && catalog !== "" && (schema ?? "") === "") {
    return err(violation("A catalog is named without its schema."));
  }
  const ifMissing = notThere(tableDefinitionOptions?.ifNotExist);
  const ifExists = there(tableDefinitionOptions?.ifExists);
  if (ifMissing === undefined || ifExists === undefined) {
    return err(violation("It is not said what becomes of a table that is there or is missing."));
  }
  if (ifMissing === "fail" && ifExists === "fail") {
    return err(violation("A table that is neither made nor appended to takes no rows."));
  }
  return ok({ table: names.map(quoted).join("."), ifMissing, ifExists });
}

function notThere(option: number | undefined): Ingest["ifMissing"] | undefined {
  if (option === missing.CREATE) return "create";
  return option === missing.FAIL ? "fail" : undefined;
}

function there(option: number | undefined): Ingest["ifExists"] | undefined {
  if (option === exists.APPEND) return "append";
  if (option === exists.REPLACE) return "replace";
  return option === exists.FAIL ? "fail" : undefined;
}

/** As both dialects quote it that take rows. */
export function quoted(name: string): string {
  return `"${name.replaceAll('"', '""')}"`;
}
