/**
 * Thread program: PGlite, which blocks its thread while it works. It speaks PostgreSQL's own wire
 * messages to PGlite, so that cells arrive as the text that PostgreSQL made, untouched by parsers.
 *
 * It knows nothing of transactions, turns and locks: `pglite.ts` does.
 */
import { existsSync, readFileSync, readdirSync, renameSync, writeFileSync } from "node:fs";
import { parentPort, workerData } from "node:worker_threads";
import { PGlite, protocol } from "@electric-sql/pglite";
import type { DatabaseError, Parameter } from "../database.ts";
import { touchedBy, type Reply } from "./connection.ts";
import { openPackedFiles, readWhenAsked, rootOf } from "./lean/packageFiles.ts";

export interface PgliteData {
  readonly work: PgliteWork;
}

/** `make` writes the data folder that new databases begin with into `file`, for the build. */
export type PgliteWork =
  | { readonly kind: "make"; readonly file: string }
  | ({ readonly kind: "serve" } & PgliteFolder);

export interface PgliteFolder {
  /** Folder of the data; undefined keeps everything in memory. */
  readonly folder: string | undefined;
  /** `name=value` of PostgreSQL's configuration. */
  readonly parameters: readonly string[];
}

export type PgliteRequest =
  | {
      readonly id: number;
      readonly kind: "run";
      readonly sql: string;
      readonly parameters: readonly Parameter[];
    }
  | { readonly id: number; readonly kind: "script"; readonly sql: string }
  | { readonly id: number; readonly kind: "close" };

/** `id` is absent for what nobody asked for. */
export type PgliteMessage =
  | { readonly kind: "ready" }
  /** Whoever asked for `make` hears it, and nothing else. */
  | { readonly kind: "made" }
  /** `code` is the system's, where it has one. The thread ends after it. */
  | { readonly kind: "failed"; readonly code: string }
  | { readonly kind: "notified"; readonly channel: string }
  | { readonly kind: "answer"; readonly id: number; readonly reply: Reply }
  | { readonly kind: "error"; readonly id: number; readonly error: DatabaseError };

/** What we read of PGlite's parsed messages, whose type says only `name`. */
interface BackendMessage {
  readonly name: string;
  readonly text?: string;
  readonly fields?: readonly (string | null)[];
  readonly code?: string;
  readonly constraint?: string;
  readonly severity?: string;
}

const { serialize } = protocol;

/** Made with the bundle (`packages/gateway/bin/build.mjs`); without it a new database takes seconds and 600 MB. */
const dataFile = new URL("pglite.tar.gz", import.meta.url);

const { work } = workerData as PgliteData;
if (work.kind === "make") await make(work.file);
else await serve(work);

/** Whole or not at all. */
async function make(file: string): Promise<void> {
  const pglite = await PGlite.create();
  await pglite.exec("CHECKPOINT");
  const data = await pglite.dumpDataDir("gzip");
  const draft = `${file}.${process.pid}`;
  writeFileSync(draft, new Uint8Array(await data.arrayBuffer()));
  renameSync(draft, file);
  await pglite.close();
  post({ kind: "made" });
  parentPort?.close();
}

async function serve({ folder, parameters }: PgliteFolder): Promise<void> {
  let pglite: PGlite;
  try {
    const files = openPackedFiles();
    const isNew = folder === undefined || readdirSync(folder).length === 0;
    pglite = await PGlite.create({
      ...(folder === undefined ? {} : { dataDir: folder }),
      ...(isNew && existsSync(dataFile) ? { loadDataDir: new Blob([readFileSync(dataFile)]) } : {}),
      startParams: [
        ...PGlite.defaultStartParams,
        ...parameters.flatMap((parameter) => ["-c", parameter]),
      ],
    });
    readWhenAsked(rootOf(pglite), files);
  } catch (error) {
    post({ kind: "failed", code: systemCodeOf(error) });
    return;
  }
  pglite.onNotification((channel) => post({ kind: "notified", channel }));
  // PGlite answers one request at a time; the chain keeps the order of requests.
  let last = Promise.resolve();
  parentPort?.on("message", (request: PgliteRequest) => {
    last = last.then(() => answer(pglite, request));
  });
  post({ kind: "ready" });
}

async function answer(pglite: PGlite, request: PgliteRequest): Promise<void> {
  const { id } = request;
  try {
    if (request.kind === "close") {
      await pglite.close();
      post({ kind: "answer", id, reply: { rows: [], count: 0, command: "" } });
      return;
    }
    const { messages } = await pglite.execProtocol(bytesOf(request), { throwOnError: false });
    post(read(id, messages));
  } catch (error) {
    // Not a statement that failed but PGlite itself: its memory can not be trusted any more.
    post({ kind: "error", id, error: { kind: "unreachable", code: systemCodeOf(error) } });
    process.exit(1);
  }
}

function bytesOf(request: Exclude<PgliteRequest, { kind: "close" }>): Uint8Array {
  if (request.kind === "script") return serialize.query(request.sql);
  return Buffer.concat([
    serialize.parse({ text: request.sql }),
    serialize.bind({ values: request.parameters.map(valueOf) }),
    serialize.describe({ type: "P" }),
    serialize.execute({}),
    serialize.sync(),
  ]);
}

function valueOf(parameter: Parameter): string | Uint8Array | null {
  if (parameter === null || typeof parameter === "string") return parameter;
  return parameter instanceof Uint8Array ? parameter : String(parameter);
}

function read(id: number, messages: readonly BackendMessage[]): PgliteMessage {
  const error = messages.find(({ name }) => name === "error");
  if (error !== undefined) {
    const { code = "XX000", constraint } = error;
    return {
      kind: "error",
      id,
      error: { kind: "refused", code, ...(constraint === undefined ? {} : { constraint }) },
    };
  }
  const rows = messages.flatMap(({ name, fields }) =>
    name === "dataRow" && fields !== undefined ? [fields] : [],
  );
  const tag = messages.findLast(({ name }) => name === "commandComplete")?.text ?? "";
  const command = tag.split(" ", 1)[0] ?? "";
  const count = touchedBy(command, Number(tag.slice(tag.lastIndexOf(" ") + 1)));
  return { kind: "answer", id, reply: { rows, count, command } };
}

function systemCodeOf(error: unknown): string {
  const code: unknown = error instanceof Error && "code" in error ? error.code : undefined;
  return typeof code === "string" ? code : "pgliteFailed";
}

function post(message: PgliteMessage): void {
  parentPort?.postMessage(message);
}
