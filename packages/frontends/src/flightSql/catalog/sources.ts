/** Which commands the gateway answers from what it knows, and with what. */
import type { Command } from "../read/command.ts";
import type { Source } from "../run/source.ts";
import { sqlInfo } from "../commands/sqlInfo.ts";
import { foreignKeys, primaryKeys } from "./keys.ts";
import { catalogs, schemas, tables, tableTypes, type Asker } from "./lists.ts";
import { typeInfo } from "./typeInfo.ts";

/** The rows of a command about catalogs or this server; undefined for one about a statement. */
export function sourceOf(command: Command, asker: Asker): Source | undefined {
  switch (command.name) {
    case "CommandGetCatalogs":
      return catalogs(asker);
    case "CommandGetDbSchemas":
      return schemas(asker, command.message);
    case "CommandGetTables":
      return tables(asker, command.message);
    case "CommandGetTableTypes":
      return tableTypes();
    case "CommandGetSqlInfo":
      return sqlInfo(command.message.info, asker.session.dialect);
    case "CommandGetXdbcTypeInfo":
      return typeInfo(command.message.dataType);
    case "CommandGetPrimaryKeys":
      return primaryKeys(asker, command.message);
    case "CommandGetExportedKeys":
      return foreignKeys(asker, namedIn(command.message), undefined);
    case "CommandGetImportedKeys":
      return foreignKeys(asker, undefined, namedIn(command.message));
    case "CommandGetCrossReference": {
      const { pkCatalog, pkDbSchema, pkTable, fkCatalog, fkDbSchema, fkTable } = command.message;
      return foreignKeys(
        asker,
        { catalog: pkCatalog, schema: pkDbSchema, table: pkTable },
        { catalog: fkCatalog, schema: fkDbSchema, table: fkTable },
      );
    }
    default:
      return undefined;
  }
}

function namedIn(message: {
  readonly catalog?: string | undefined;
  readonly dbSchema?: string | undefined;
  readonly table: string;
}) {
  return { catalog: message.catalog, schema: message.dbSchema, table: message.table };
}
