/**
 * Databases and connections of a driver, on the thread that calls it. What a statement does on a
 * connection is in statement.ts.
 */
import { err, ok } from "@gateway/core/result.ts";
import { handleStruct } from "../memory/abi.ts";
import type { AdbcFailure, AdbcResult, Driver } from "../driver.ts";
import type { DatabaseOptions, OpenedDatabase, SkippedStatement } from "../message.ts";
import {
  addressIn,
  allocate,
  MemoryBlock,
  bytesAt,
  release,
  type Address,
} from "../memory/native.ts";

/** Opens a database and answers where its handle lies; `closeDatabase` gives it back, from any thread of the process. */
export function openDatabase(
  driver: Driver,
  { options, setup, untried = false }: DatabaseOptions,
): AdbcResult<OpenedDatabase> {
  // Not a block: the handle outlives this thread.
  const address = allocate(handleStruct.bytes);
  const failure = initialised(driver, address, options);
  if (failure === undefined && untried && setup.length === 0) return ok({ address, skipped: [] });
  const prepared = failure === undefined ? preparedDatabase(driver, address, setup) : err(failure);
  if (prepared.ok) return ok({ address, skipped: prepared.value });
  closeDatabase(driver, address);
  return prepared;
}

/** Every connection must be closed before. */
export function closeDatabase(driver: Driver, database: Address): AdbcFailure | undefined {
  const failure = driver.call("DatabaseRelease", database);
  release(database);
  return failure;
}

function initialised(
  driver: Driver,
  database: Address,
  options: DatabaseOptions["options"],
): AdbcFailure | undefined {
  const failure = driver.call("DatabaseNew", database);
  if (failure !== undefined) return failure;
  for (const [key, value] of options) {
    const refused = driver.call("DatabaseSetOption", database, key, value);
    // Drivers answer for the option without naming it.
    if (refused !== undefined) return { ...refused, message: `${key}: ${refused.message}` };
  }
  return driver.call("DatabaseInit", database);
}

function preparedDatabase(
  driver: Driver,
  database: Address,
  setup: DatabaseOptions["setup"],
): AdbcResult<readonly SkippedStatement[]> {
  const skipped: SkippedStatement[] = [];
  using handle = new MemoryBlock(handleStruct.bytes);
  const opened = Connection.open(driver, database, handle);
  if (!opened.ok) return opened;
  using connection = opened.value;
  for (const { sql, label } of setup) {
    const failure = connection.runAll([sql]);
    if (failure === undefined) continue;
    if (label === undefined) return err(failure);
    skipped.push({ label, failure });
  }
  return ok(skipped);
}

/** Where a connection's handle lies. */
type Handle = Pick<MemoryBlock, "address" | "pointer">;

/** Memory that is somebody else's: nothing is kept of it here. */
function handleAt(address: Address): Handle {
  return {
    address,
    pointer: (at) => addressIn(new DataView(bytesAt(address + at, 8).buffer), 0),
  };
}

/** One open connection. Disposing closes it; an open transaction is rolled back by the driver. */
export class Connection implements Disposable {
  readonly driver: Driver;
  readonly #handle: Handle;

  private constructor(driver: Driver, handle: Handle) {
    this.driver = driver;
    this.#handle = handle;
  }

  /** `handle` is a block for the driver to fill; it is free again when the connection was closed. */
  static open(driver: Driver, database: Address, handle: MemoryBlock): AdbcResult<Connection> {
    handle.clear();
    return Connection.#opened(driver, database, handle);
  }

  /** Opens one that outlives the thread, on a handle in zeroed memory. */
  static keep(driver: Driver, database: Address, handle: Address): AdbcResult<Connection> {
    return Connection.#opened(driver, database, handleAt(handle));
  }

  static #opened(driver: Driver, database: Address, handle: Handle): AdbcResult<Connection> {
    const failure =
      driver.call("ConnectionNew", handle.address) ??
      driver.call("ConnectionInit", handle.address, database);
    if (failure === undefined) return ok(new Connection(driver, handle));
    driver.call("ConnectionRelease", handle.address);
    return err(failure);
  }

  /** One that was opened before, maybe by another thread. */
  static at(driver: Driver, address: Address): Connection {
    return new Connection(driver, handleAt(address));
  }

  get address(): Address {
    return this.#handle.address;
  }

  /** The driver's own struct behind the connection. */
  get privateData(): Address {
    return this.#handle.pointer(handleStruct.privateData);
  }

  /** Runs statements whose results nobody wants, up to the first that fails. */
  runAll(statements: readonly string[]): AdbcFailure | undefined {
    if (statements.length === 0) return undefined;
    using handle = new MemoryBlock(handleStruct.bytes);
    for (const sql of statements) {
      handle.clear();
      const failure =
        this.driver.call("StatementNew", this.address, handle.address) ??
        this.driver.call("StatementSetSqlQuery", handle.address, sql) ??
        this.driver.call("StatementExecuteQuery", handle.address, 0, 0);
      this.driver.call("StatementRelease", handle.address);
      if (failure !== undefined) return failure;
    }
    return undefined;
  }

  /** Begins a transaction, and runs statements in it; one that fails takes it back. */
  begin(statements: readonly string[]): AdbcFailure | undefined {
    const begun = this.#autocommit("false");
    if (begun !== undefined) return begun;
    const failure = this.runAll(statements);
    if (failure !== undefined) this.end("rollback");
    return failure;
  }

  /** Ends the transaction. A commit that fails is rolled back, so that none is left open. */
  end(how: "commit" | "rollback"): AdbcFailure | undefined {
    const name = how === "commit" ? "ConnectionCommit" : "ConnectionRollback";
    const failure = this.driver.call(name, this.address);
    if (failure !== undefined && how === "commit") {
      this.driver.call("ConnectionRollback", this.address);
    }
    return failure ?? this.#autocommit("true");
  }

  #autocommit(value: "true" | "false"): AdbcFailure | undefined {
    return this.driver.call(
      "ConnectionSetOption",
      this.address,
      "adbc.connection.autocommit",
      value,
    );
  }

  [Symbol.dispose](): void {
    this.driver.call("ConnectionRelease", this.address);
  }
}
