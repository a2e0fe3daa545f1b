/**
 * Gives a connection the session's catalog and schema, on the thread that calls the driver: by statements
 * where somebody knows them, else by the two options that ADBC 1.1.0 has for it.
 *
 * A driver may know neither option, or take a name and stand elsewhere. The statement does not run then: in
 * the wrong catalog it would answer from the wrong tables.
 */
import type { Connection } from "./connection.ts";
import { failureOf, type AdbcFailure, type AdbcResult, type Driver } from "../driver.ts";
import {
  contextOptions,
  namelessCatalog,
  namelessSchema,
  type Option,
  type ConnectionStep,
} from "../message.ts";
import { MemoryBlock, countIn } from "../memory/native.ts";

/** Drivers put the name into a statement without quotes (DuckDB's into `USE`), so no other text reaches them. */
const plainName = /^[\p{L}_][\p{L}\p{N}_$]*$/u;
/** Longer names are taken for none. */
const nameBytesMax = 1_024;

interface Movable extends Pick<Connection, "address" | "runAll"> {
  readonly driver: Pick<Driver, "call" | "has">;
}

/** Names of the driver's catalogs, for a driver that does not say where it stands. */
type CatalogNames = () => AdbcResult<readonly string[]>;

/** Takes the steps in their order, up to the first that fails; the connection may be anywhere then. */
export function takeSteps(
  connection: Movable,
  steps: readonly ConnectionStep[],
  catalogs: CatalogNames,
): AdbcFailure | undefined {
  for (const step of steps) {
    const failure =
      typeof step === "string" ? connection.runAll([step]) : goTo(connection, step, catalogs);
    if (failure !== undefined) return failure;
  }
  return undefined;
}

function goTo(
  connection: Movable,
  option: Option,
  catalogs: CatalogNames,
): AdbcFailure | undefined {
  const [key, name] = option;
  if (nameNow(connection, key) === name) return undefined;
  if (plainName.test(name)) {
    const refused = connection.driver.call("ConnectionSetOption", connection.address, key, name);
    if (refused === undefined) {
      const now = nameNow(connection, key);
      // An engine may change the case of a name. One that does not say where it stands is believed.
      return now === "" || now.toLowerCase() === name.toLowerCase()
        ? undefined
        : contextRefused(option);
    }
    // For example: there is no such catalog, or the server is gone.
    if (refused.sqlState !== undefined) return { ...refused, code: "contextRefused" };
  }
  return isShownAs(connection, option, catalogs) ? undefined : contextRefused(option);
}

function contextRefused([key, name]: Option): AdbcFailure {
  const object = key === contextOptions.catalog ? "catalog" : "schema";
  return failureOf("contextRefused", `the driver can not go to the ${object} "${name}"`);
}

/**
 * Whether a connection that does not say where it stands is there all the same: there is nowhere else, and
 * listings use the name.
 */
function isShownAs(connection: Movable, [key, name]: Option, catalogs: CatalogNames): boolean {
  if (nameNow(connection, key) !== "") return false;
  const catalog = nameNow(connection, contextOptions.catalog) || onlyCatalog(catalogs());
  if (key === contextOptions.catalog) return name === catalog;
  return name === (catalog === namelessCatalog ? namelessSchema : catalog);
}

/** Undefined where there are several. */
function onlyCatalog(names: AdbcResult<readonly string[]>): string | undefined {
  const [first = namelessCatalog, ...others] = names.ok ? names.value : [];
  return others.length === 0 ? first : undefined;
}

/** What the driver says; empty where it says nothing. */
function nameNow({ driver, address }: Movable, key: string): string {
  if (!driver.has("ConnectionGetOption")) return "";
  using text = new MemoryBlock(nameBytesMax);
  using length = new MemoryBlock(8);
  length.put(0, nameBytesMax);
  const call = "ConnectionGetOption";
  const failure = driver.call(call, address, key, text.address, length.address);
  const bytes = countIn(length.view, 0);
  // The length counts the zero at the end.
  if (failure !== undefined || bytes < 2 || bytes > nameBytesMax) return "";
  return new TextDecoder().decode(new Uint8Array(text.view.buffer, 0, bytes - 1));
}
