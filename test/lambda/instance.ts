/**
 * Instances of the function under test and the events that the platform makes of requests. One
 * instance answers one request at a time, as there; whoever waits while somebody writes needs two.
 */
import { fork, type ChildProcess } from "node:child_process";
import { createCipheriv, randomBytes } from "node:crypto";
import { once } from "node:events";
import { cpSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

const runtime = fileURLToPath(new URL("runtime.mjs", import.meta.url));
/** As infra/gatewayConfig.ts has it for the deployed function. */
const remainingMs = 300_000;

export interface Call {
  readonly method?: string;
  readonly path: string;
  readonly query?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string | Uint8Array;
  readonly address?: string;
}

export interface Answer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly cookies: readonly string[];
  /** What has arrived of the body so far; grows until `ended()` resolves. */
  text(): string;
  bytes(): Uint8Array;
  /** Resolves when the body has so many whole lines that are not empty; with those. Rejects when it ends before. */
  lines(count: number): Promise<readonly string[]>;
  ended(): Promise<void>;
}

export interface Instance extends AsyncDisposable {
  /** Milliseconds that the import of the bundle took. */
  readonly importMs: number;
  /** Of which, and of the runtime's other threads meanwhile, on a processor. */
  readonly importProcessorMs: number;
  readonly pid: number;
  /** Resolves with status and headers; the body may still be on its way. */
  invoke(call: Call): Promise<Answer>;
  /** Resolves when the answer is complete. */
  ask(call: Call): Promise<Answer>;
  /** Through the form for gateways that can not stream. */
  askBuffered(call: Call): Promise<{ readonly statusCode: number; readonly body: string }>;
  /** Of a function that is no web server: its answer to an event. Rejects when it throws. */
  run(event: unknown): Promise<unknown>;
  /** What the function has logged. */
  log(): string;
}

type Said =
  | { readonly kind: "ready"; readonly tookMs: number; readonly processorMs: number }
  | { readonly kind: "bytes"; readonly bytes: readonly number[] }
  | { readonly kind: "end" }
  | {
      readonly kind: "result";
      readonly result: { readonly statusCode: number; readonly body: string };
    }
  | { readonly kind: "error"; readonly message: string };

export interface InstanceSettings {
  /** A folder that `buildLambda` made. */
  readonly folder: string;
  /** Secrets as SST links them: sealed in a file beside the code. */
  readonly links: Readonly<Record<string, string>>;
  readonly variables?: Readonly<Record<string, string>>;
}

/** Starts an instance from a copy of the built folder, outside the checkout: nothing else is there to be found. */
export async function startInstance(settings: InstanceSettings): Promise<Instance> {
  const folder = mkdtempSync(join(tmpdir(), "gateway-function-"));
  cpSync(settings.folder, folder, { recursive: true });
  const key = sealLinks(folder, settings.links);
  const child = fork(runtime, [join(folder, "index.mjs")], {
    cwd: folder,
    execArgv: [],
    stdio: ["ignore", "pipe", "pipe", "ipc"],
    env: {
      PATH: process.env["PATH"],
      SST_RESOURCE_App: JSON.stringify({ name: "query-gateway", stage: "test" }),
      SST_KEY: key,
      SST_KEY_FILE: "resource.enc",
      ...settings.variables,
    },
  });
  let log = "";
  child.stdout?.on("data", (chunk) => (log += String(chunk)));
  child.stderr?.on("data", (chunk) => (log += String(chunk)));
  const ready = await nextOf(child, () => log);
  if (ready.kind !== "ready") throw new Error(`not ready but ${ready.kind}: ${log}`);

  const invoke = (call: Call) => streamed(child, eventOf(call), () => log);
  const result = async (form: "buffered" | "plain", event: unknown): Promise<unknown> => {
    child.send({ event, remainingMs, form });
    const said = await nextOf(child, () => log);
    if (said.kind !== "result") throw new Error(`no result but ${JSON.stringify(said)}: ${log}`);
    return said.result;
  };
  return {
    importMs: ready.tookMs,
    importProcessorMs: ready.processorMs,
    pid: child.pid ?? 0,
    invoke,
    ask: async (call) => {
      const answer = await invoke(call);
      await answer.ended();
      return answer;
    },
    askBuffered: async (call) =>
      (await result("buffered", eventOf(call))) as { statusCode: number; body: string },
    run: (event) => result("plain", event),
    log: () => log,
    [Symbol.asyncDispose]: async () => {
      if (child.exitCode === null && child.signalCode === null) {
        const gone = once(child, "exit");
        child.kill("SIGKILL");
        await gone;
      }
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

/** As SST seals links: AES-256-GCM under a fresh key, a nonce of zeros. Answers the key. */
function sealLinks(folder: string, links: Readonly<Record<string, string>>): string {
  const key = randomBytes(32);
  const resources = Object.entries(links).map(([name, value]) => [name, { value }]);
  const cipher = createCipheriv("aes-256-gcm", key, Buffer.alloc(12));
  const text = [cipher.update(JSON.stringify(Object.fromEntries(resources))), cipher.final()];
  writeFileSync(join(folder, "resource.enc"), Buffer.concat([...text, cipher.getAuthTag()]));
  return key.toString("base64");
}

/** The child's next word; its exit is an error that shows its log. */
function nextOf(child: ChildProcess, log: () => string): Promise<Said> {
  return new Promise((resolve, reject) => {
    const onMessage = (message: unknown) => {
      child.off("exit", onExit);
      resolve(message as Said);
    };
    const onExit = (code: number | null) => {
      child.off("message", onMessage);
      reject(new Error(`the instance ended (${code}) without an answer: ${log()}`));
    };
    child.once("message", onMessage);
    child.once("exit", onExit);
  });
}

/** Sends the event and reads the platform's stream: a prelude in JSON, eight zeros, the body. */
async function streamed(child: ChildProcess, event: unknown, log: () => string): Promise<Answer> {
  const stream = new PlatformStream(child, log);
  child.send({ event, remainingMs, form: "streaming" });
  const { statusCode, headers, cookies } = await stream.prelude();
  return {
    status: statusCode,
    headers,
    cookies,
    text: () => stream.body().toString(),
    bytes: () => stream.body(),
    lines: async (count) => {
      const whole = () => stream.body().toString().split("\n").slice(0, -1).filter(Boolean);
      await stream.until(() => whole().length >= count);
      return whole();
    },
    ended: () => stream.until(() => stream.ended),
  };
}

interface Prelude {
  readonly statusCode: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly cookies: readonly string[];
}

const preludeEnd = Buffer.alloc(8);

/** What one invocation has said so far. */
class PlatformStream {
  readonly #log: () => string;
  readonly #waiting = new Set<() => void>();
  #bytes = Buffer.alloc(0);
  #failure: string | undefined;
  ended = false;

  constructor(child: ChildProcess, log: () => string) {
    this.#log = log;
    const onMessage = (message: unknown): void => {
      const said = message as Said;
      if (said.kind === "bytes")
        this.#bytes = Buffer.concat([this.#bytes, Uint8Array.from(said.bytes)]);
      if (said.kind === "error") this.#failure = said.message;
      if (said.kind === "end") this.ended = true;
      if (said.kind !== "bytes") stop();
      this.#look();
    };
    const onExit = (code: number | null): void => {
      this.#failure = `the instance ended (${code}) during an invocation`;
      stop();
      this.#look();
    };
    const stop = (): void => {
      child.off("message", onMessage);
      child.off("exit", onExit);
    };
    child.on("message", onMessage);
    child.on("exit", onExit);
  }

  async prelude(): Promise<Prelude> {
    await this.until(() => this.#bytes.includes(preludeEnd));
    const text = this.#bytes.subarray(0, this.#bytes.indexOf(preludeEnd)).toString();
    return JSON.parse(text) as Prelude;
  }

  body(): Buffer {
    return this.#bytes.subarray(this.#bytes.indexOf(preludeEnd) + preludeEnd.length);
  }

  /** Rejects when it can not come true any more. */
  async until(holds: () => boolean): Promise<void> {
    while (!holds()) {
      const failure = this.#failure ?? (this.ended ? "the answer ended" : undefined);
      if (failure !== undefined) throw new Error(`${failure}: ${this.#log()}`);
      await new Promise<void>((resolve) => this.#waiting.add(resolve));
    }
  }

  #look(): void {
    for (const wake of this.#waiting) wake();
    this.#waiting.clear();
  }
}

/** What a function URL makes of a request (payload format 2.0). */
function eventOf({ method = "GET", path, query = "", headers = {}, body, address }: Call) {
  const sourceIp = address ?? "203.0.113.7";
  const domainName = "control.lambda-url.example";
  const lower = Object.entries(headers).map(
    ([name, value]) => [name.toLowerCase(), value] as const,
  );
  const { cookie, ...others } = Object.fromEntries(lower);
  return {
    version: "2.0",
    routeKey: "$default",
    rawPath: path,
    rawQueryString: query,
    ...(cookie === undefined ? {} : { cookies: cookie.split("; ") }),
    headers: {
      host: domainName,
      "x-forwarded-proto": "https",
      "x-forwarded-for": sourceIp,
      ...others,
    },
    requestContext: {
      accountId: "anonymous",
      apiId: "control",
      domainName,
      domainPrefix: "control",
      http: { method, path, protocol: "HTTP/1.1", sourceIp, userAgent: "test" },
      requestId: "request",
      routeKey: "$default",
      stage: "$default",
      timeEpoch: 0,
    },
    ...(body === undefined ? {} : { body: Buffer.from(body).toString("base64") }),
    isBase64Encoded: body !== undefined,
  };
}
