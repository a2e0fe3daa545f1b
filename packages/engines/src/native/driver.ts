/**
 * A loaded ADBC driver: its table of functions, called with failures as values.
 *
 * There is no driver manager for Node: this asks the library's own init function for the table. It
 * knows no SQL and no particular driver.
 */
import { err, ok, type Result } from "@gateway/core/result.ts";
import {
  adbcVersions,
  driverBytes,
  driverFunctions,
  driverTable,
  driverTableStart,
  errorStruct,
  statusOk,
  type DriverFunction,
} from "./memory/abi.ts";
import {
  MemoryBlock,
  addressIn,
  bytesAt,
  detailBy,
  functionAt,
  loadLibrary,
  textAt,
  type Address,
  type Library,
  type NativeFunction,
} from "./memory/native.ts";

/** Who refused, and why when it was not the driver. */
export type FailureCode =
  /** The driver or the engine behind it; the other fields say why. */
  | "driver"
  | "cancelled"
  /** The text holds no statement, or more than one. */
  | "empty"
  | "several"
  /** A statement of a kind that may not run. */
  | "refused"
  /** Another number of parameters than the statement has. */
  | "parameters"
  /** A catalog or schema that the driver can not go to; `status` is 0 where it does not say why. */
  | "contextRefused"
  /** A column of an Arrow layout that is not read here. */
  | "unreadable"
  /** The library can not be loaded, or is not the one this was built for. */
  | "library"
  /** The driver's thread is gone. */
  | "broken"
  /** The driver's process is gone with everything in it; `message` says how, for the operator. */
  | "crashed"
  /** A fault of ours; `message` holds the stack and is for the log only. */
  | "bug";

/**
 * What a driver said when it refused. The status alone classifies nothing (a wrong password and a
 * cancelled query come under the same ones): vendor code and SQLSTATE first, then the message.
 */
export interface AdbcFailure {
  readonly code: FailureCode;
  /** `ADBC_STATUS_…`; 0 unless the driver answered. */
  readonly status: number;
  readonly message: string;
  readonly vendorCode: number | undefined;
  /** Five characters. */
  readonly sqlState: string | undefined;
  /** What the driver says beside its message, by its own keys; absent where it says nothing. */
  readonly details?: ReadonlyMap<string, string>;
}

export type AdbcResult<T> = Result<T, AdbcFailure>;

/** A failure found on this side of the driver. */
export function failureOf(code: FailureCode, message: string): AdbcFailure {
  return { code, status: 0, message, vendorCode: undefined, sqlState: undefined };
}

const countSignature = { answer: "int32", takes: ["pointer"] } as const;
/** Most details read of one error. */
const detailsMax = 32;
const releaseSignature = { answer: "void", takes: ["pointer"] } as const;
const initSignature = { answer: "status", takes: ["int32", "pointer", "pointer"] } as const;
const lastErrorSignature = { answer: "text", takes: ["pointer"] } as const;
const streamErrorSignature = { answer: "pointer", takes: ["pointer", "pointer"] } as const;

export class Driver {
  readonly library: Library;
  readonly #table: MemoryBlock;
  readonly #error = new MemoryBlock(errorStruct.bytes);
  readonly #functions = new Map<DriverFunction, NativeFunction>();

  private constructor(library: Library, table: MemoryBlock) {
    this.library = library;
    this.#table = table;
  }

  /** Loads a library and asks `entrypoint` for the table, in the newest version it has. */
  static load(path: string, entrypoint: string): AdbcResult<Driver> {
    let library: Library;
    try {
      library = loadLibrary(path);
    } catch (error) {
      return err(
        failureOf(
          "library",
          error instanceof Error ? error.message : "the library can not be loaded",
        ),
      );
    }
    const init = library.find(entrypoint, initSignature);
    if (init === undefined)
      return err(failureOf("library", `the library does not export ${entrypoint}`));
    const table = new MemoryBlock(driverBytes);
    const driver = new Driver(library, table);
    let failure = failureOf("library", "no version of the ADBC interface fits");
    for (const version of adbcVersions) {
      table.clear();
      const status = init(version, table.address, driver.#error.address);
      if (status === statusOk) return ok(driver);
      failure = driver.#failure(Number(status));
    }
    return err(failure);
  }

  /** Whether the driver fills this entry of its table. Filled entries may still answer "not implemented". */
  has(name: DriverFunction): boolean {
    return this.#entry(name) !== 0;
  }

  /** Calls a function with its arguments, the error struct left out. Undefined means it went well. */
  call(
    name: DriverFunction,
    ...values: readonly (Address | string | null)[]
  ): AdbcFailure | undefined {
    const callable = this.#function(name);
    if (callable === undefined) return failureOf("library", `the driver has no ${name}`);
    this.#prepareError();
    const status = callable(...values, this.#error.address);
    return status === statusOk ? undefined : this.#failure(Number(status));
  }

  /** The failure behind a stream's error number; drivers of version 1.0.0 give its text only. */
  streamFailure(stream: Address, lastError: Address): AdbcFailure {
    const address = this.#entry("ErrorFromArrayStream");
    if (address !== 0) {
      const found = functionAt(address, streamErrorSignature)(stream, 0);
      const error = found === null ? 0 : Number(found);
      // The stream owns this one: it is read and not released.
      if (error !== 0) return this.#read(error);
    }
    if (lastError === 0) return failureOf("driver", "the driver's stream failed without a message");
    const text = functionAt(lastError, lastErrorSignature)(stream);
    return failureOf(
      "driver",
      typeof text === "string" ? text : "the driver's stream failed without a message",
    );
  }

  #function(name: DriverFunction): NativeFunction | undefined {
    const known = this.#functions.get(name);
    if (known !== undefined) return known;
    const address = this.#entry(name);
    if (address === 0) return undefined;
    const found = functionAt(address, { answer: "status", takes: driverTable[name] });
    this.#functions.set(name, found);
    return found;
  }

  #prepareError(): void {
    const { view } = this.#error;
    this.#error.clear();
    view.setInt32(errorStruct.vendorCode, errorStruct.vendorCodeUnset, true);
  }

  #failure(status: number): AdbcFailure {
    const details = this.#details(this.#error.address);
    const said = { ...fromError(this.#error.view), status };
    const failure = details === undefined ? said : { ...said, details };
    const release = this.#error.pointer(errorStruct.release);
    if (release !== 0) functionAt(release, releaseSignature)(this.#error.address);
    return failure;
  }

  #read(error: Address): AdbcFailure {
    const failure = fromError(new DataView(bytesOfError(error).buffer));
    const details = this.#details(error);
    return details === undefined ? failure : { ...failure, details };
  }

  /** Details are kept behind the error itself, so they are read before it is released. */
  #details(error: Address): ReadonlyMap<string, string> | undefined {
    const counter = this.#entry("ErrorGetDetailCount");
    const getter = this.#entry("ErrorGetDetail");
    if (counter === 0 || getter === 0) return undefined;
    const count = Math.min(Number(functionAt(counter, countSignature)(error)), detailsMax);
    if (count <= 0) return undefined;
    const found = new Map<string, string>();
    for (let index = 0; index < count; index += 1) {
      const { key, value } = detailBy(getter, error, index);
      found.set(key, new TextDecoder().decode(value));
    }
    return found;
  }

  #entry(name: DriverFunction): Address {
    return this.#table.pointer(driverTableStart + driverFunctions.indexOf(name) * 8);
  }
}

function bytesOfError(error: Address): Uint8Array<ArrayBuffer> {
  return bytesAt(error, errorStruct.sqlState + errorStruct.sqlStateBytes);
}

function fromError(view: DataView): AdbcFailure {
  const vendorCode = view.getInt32(errorStruct.vendorCode, true);
  let sqlState = "";
  for (let index = 0; index < errorStruct.sqlStateBytes; index += 1) {
    const byte = view.getUint8(errorStruct.sqlState + index);
    if (byte >= 0x30 && byte <= 0x5a) sqlState += String.fromCharCode(byte);
  }
  return {
    code: "driver",
    status: 0,
    message: textAt(addressIn(view, errorStruct.message)),
    // Drivers that know no vendor code leave the mark, or zero, or minus one.
    vendorCode:
      vendorCode === errorStruct.vendorCodeUnset || vendorCode <= 0 ? undefined : vendorCode,
    sqlState: sqlState.length === errorStruct.sqlStateBytes ? sqlState : undefined,
  };
}
