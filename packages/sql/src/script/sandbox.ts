/**
 * The sandbox: one QuickJS context for each script, in which its source runs anew for every call.
 *
 * Time and memory are limited from inside by QuickJS itself. A loop within one built-in function is not: that ends with
 * the thread (scriptHost.ts). A script keeps nothing from one call to the next, because everything that a source
 * declares is made for one call and everything that is there before is frozen.
 */
import type { ScriptUse } from "@gateway/contract/config/script.ts";
import type { ScriptFailure, ScriptFailureCode } from "@gateway/core/script/scripts.ts";
import { err, ok, type Result } from "@gateway/core/result.ts";
import variant from "@jitl/quickjs-singlefile-mjs-release-sync";
import {
  newQuickJSWASMModuleFromVariant,
  type QuickJSContext,
  type QuickJSHandle,
  type QuickJSRuntime,
  type QuickJSWASMModule,
} from "quickjs-emscripten-core";
import { callMsMax, memoryBytesMax, outputLengthMax } from "./limits.ts";

/** What is left of the language: no time, no views of memory. Without promises an `async` function would break the engine; their jobs never run. */
const intrinsics = {
  BaseObjects: true,
  Eval: true,
  StringNormalize: true,
  RegExp: true,
  JSON: true,
  MapSet: true,
  Proxy: false,
  TypedArrays: false,
  Date: false,
  Promise: true,
} as const;

/** Of the 256 KB that a module of WebAssembly has as its stack here, some are the caller's. */
const stackBytesMax = 160 * 1024;

/** File name in stacks. */
const sourceName = "script";

/** Chance goes, and what is left can not be changed: a prototype is a place to keep things. */
const hardening = `
delete Math.random;
delete globalThis.performance;
delete globalThis.Promise;
(() => {
  const seen = new Set();
  const freeze = (value) => {
    if (value === null || (typeof value !== "object" && typeof value !== "function")) return;
    if (seen.has(value)) return;
    seen.add(value);
    for (const key of Reflect.ownKeys(value)) {
      const { value: held, get, set } = Reflect.getOwnPropertyDescriptor(value, key);
      freeze(held);
      freeze(get);
      freeze(set);
    }
    freeze(Reflect.getPrototypeOf(value));
    Object.freeze(value);
  };
  for (const kind of [function* () {}, [][Symbol.iterator](), new Map().entries(), new Set().values(), "".matchAll(/a/g), ""[Symbol.iterator]()]) freeze(kind);
  freeze(globalThis);
})();
`;

/** The engine, loaded once for a thread; sandboxes are made of it. */
export async function loadSandboxes(
  nowMs: () => number,
): Promise<(source: string, use: ScriptUse) => Result<Sandbox, ScriptFailure>> {
  const module = await newQuickJSWASMModuleFromVariant(variant);
  return (source, use) => Sandbox.open({ module, nowMs, source, use });
}

interface SandboxParts {
  readonly module: QuickJSWASMModule;
  readonly nowMs: () => number;
  readonly source: string;
  readonly use: ScriptUse;
}

export class Sandbox implements Disposable {
  readonly #parts: SandboxParts;
  #room: Room | undefined;

  private constructor(parts: SandboxParts) {
    this.#parts = parts;
  }

  /** Compiles the source and runs it once, without a call. Refuses with what is wrong and its line. */
  static open(parts: SandboxParts): Result<Sandbox, ScriptFailure> {
    const sandbox = new Sandbox(parts);
    const room = roomOf(parts);
    if (!room.ok) return room;
    sandbox.#room = room.value;
    const tried = room.value.run("undefined");
    if (tried.ok) return ok(sandbox);
    sandbox[Symbol.dispose]();
    return tried;
  }

  /** Calls the script's function with the arguments, a JSON list; answers JSON. */
  call(args: string): Result<string, ScriptFailure> {
    const room = this.#room === undefined ? roomOf(this.#parts) : ok(this.#room);
    if (!room.ok) return room;
    this.#room = room.value;
    const answer = room.value.run(args);
    // What was cut in the middle of something is not trusted with the next query.
    if (!answer.ok && answer.error.code !== "threw") this[Symbol.dispose]();
    return answer;
  }

  [Symbol.dispose](): void {
    this.#room?.[Symbol.dispose]();
    this.#room = undefined;
  }
}

/** A runtime with its context and the compiled source. */
class Room implements Disposable {
  readonly #runtime: QuickJSRuntime;
  readonly #context: QuickJSContext;
  readonly #nowMs: () => number;
  #caller: QuickJSHandle | undefined;
  #deadlineMs = Number.POSITIVE_INFINITY;

  constructor({ module, nowMs }: SandboxParts) {
    this.#nowMs = nowMs;
    this.#runtime = module.newRuntime();
    this.#runtime.setMemoryLimit(memoryBytesMax);
    this.#runtime.setMaxStackSize(stackBytesMax);
    this.#runtime.setInterruptHandler(() => nowMs() > this.#deadlineMs);
    this.#context = this.#runtime.newContext({ intrinsics });
  }

  compile(source: string, use: ScriptUse): Result<undefined, ScriptFailure> {
    const hardened = this.#context.evalCode(hardening, "gateway");
    if (hardened.error !== undefined) throw new Error("the sandbox could not be made");
    hardened.value.dispose();
    // On the first line of the source, so that lines are the author's.
    const factory = `(() => { "use strict"; ${source}\n;return typeof ${use} === "function" ? ${use} : undefined; })`;
    return this.#timed(() => {
      const made = this.#context.evalCode(factory, sourceName);
      if (made.error !== undefined) return err(this.#failureOf(made.error));
      const bound = this.#context.evalCode(callerText(use), "gateway");
      if (bound.error !== undefined) throw new Error("the sandbox could not be made");
      const caller = this.#context.callFunction(bound.value, this.#context.undefined, made.value);
      made.value.dispose();
      bound.value.dispose();
      if (caller.error !== undefined) return err(this.#failureOf(caller.error));
      this.#caller = caller.value;
      return ok(undefined);
    });
  }

  run(args: string): Result<string, ScriptFailure> {
    const caller = this.#caller;
    if (caller === undefined) throw new Error("a script is called before it is compiled");
    return this.#timed(() => {
      using text = this.#context.newString(args);
      const called = this.#context.callFunction(caller, this.#context.undefined, text);
      if (called.error !== undefined) return err(this.#failureOf(called.error));
      using answer = called.value;
      const length = this.#context
        .getProp(answer, "length")
        .consume((value) => this.#context.getNumber(value));
      if (length > outputLengthMax)
        return err({ code: "answer", detail: "its answer is too long" });
      return ok(this.#context.getString(answer));
    });
  }

  [Symbol.dispose](): void {
    this.#caller?.dispose();
    this.#context.dispose();
    this.#runtime.dispose();
  }

  #timed<Found>(work: () => Found): Found {
    this.#deadlineMs = this.#nowMs() + callMsMax;
    try {
      return work();
    } finally {
      this.#deadlineMs = Number.POSITIVE_INFINITY;
    }
  }

  #failureOf(handle: QuickJSHandle): ScriptFailure {
    const late = this.#nowMs() > this.#deadlineMs;
    // Reading an error may run its getters, which are a script as well.
    const thrown = handle.consume((error) => this.#context.dump(error) as unknown);
    return failureOf(thrown, late);
  }
}

/** The caller has the source run, calls what it declares, and writes the answer; `"undefined"` only has it run. */
function callerText(use: ScriptUse): string {
  const missing = JSON.stringify(`the source defines no function ${use}`);
  return `((parse, write) => (factory) => (args) => {
    const declared = factory();
    if (declared === undefined) throw new TypeError(${missing});
    if (args === "undefined") return "null";
    return write(declared(...parse(args)) ?? null) ?? "null";
  })(JSON.parse, JSON.stringify)`;
}

function roomOf(parts: SandboxParts): Result<Room, ScriptFailure> {
  const room = new Room(parts);
  const compiled = room.compile(parts.source, parts.use);
  if (compiled.ok) return ok(room);
  room[Symbol.dispose]();
  return compiled;
}

const detailLengthMax = 300;

function failureOf(thrown: unknown, late: boolean): ScriptFailure {
  const { name, message, stack } = fieldsOf(thrown);
  const said = [name, message].filter((part) => part !== "").join(": ");
  const line = lineIn(stack);
  const detail = (said === "" ? "it threw a value that is no error" : said).slice(
    0,
    detailLengthMax,
  );
  const code = codeOf(name, message, late);
  return line === undefined ? { code, detail } : { code, detail, line };
}

function codeOf(name: string, message: string, late: boolean): ScriptFailureCode {
  if (name !== "InternalError") return "threw";
  if (message === "interrupted" && late) return "time";
  return message === "out of memory" || message === "stack overflow" ? "memory" : "threw";
}

function fieldsOf(thrown: unknown): Readonly<Record<"name" | "message" | "stack", string>> {
  const from = typeof thrown === "object" && thrown !== null ? thrown : {};
  const field = (key: string): string => {
    const value = (from as Readonly<Record<string, unknown>>)[key];
    return typeof value === "string" ? value : "";
  };
  const text = typeof thrown === "string" ? thrown : field("message");
  return { name: field("name"), message: text, stack: field("stack") };
}

/** The innermost line of the source. */
function lineIn(stack: string): number | undefined {
  const found = /\bscript:(\d{1,9})/.exec(stack);
  return found?.[1] === undefined ? undefined : Number(found[1]);
}
