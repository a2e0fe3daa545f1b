/**
 * Thread program: a PGlite that holds empty shells of a backend's tables and answers statements about them. It
 * blocks its thread while it works; `mirror.ts` ends the thread when that takes too long.
 *
 * Every statement runs alone in a transaction that can not write, as a role without rights, and is
 * rolled back. Nothing of one statement reaches the next.
 */
import { existsSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { parentPort, workerData } from "node:worker_threads";
import { PGlite } from "@electric-sql/pglite";
import type {
  MirrorData,
  MirrorFill,
  MirrorReply,
  MirrorRequest,
  MirrorSession,
  MirrorVector,
} from "./message.ts";
import { reader, seedSql } from "./seed.ts";
import { tidy } from "./tidy.ts";
import {
  describeMessages,
  queryMessage,
  readResponse,
  runMessages,
  type BackendResponse,
} from "./protocol.ts";

/** A result over this is refused: catalogs are small, and it is held in memory as a whole. */
const resultBytesMax = 32 * 1024 * 1024;
/** Beyond this size the thread starts anew, because WASM memory never shrinks. */
const heapBytesMax = 768 * 1024 * 1024;

/** Questions between two looks at what they left. */
const upkeepEvery = 256;

/** Made with the bundle (`packages/gateway/bin/build.mjs`); without it each start takes seconds longer. */
const dataFile = new URL("catalogMirror.tar.gz", import.meta.url);

/** Settings for little memory: the data takes a few megabytes, and temporary files would lie in memory too. */
const startParams = [
  ...PGlite.defaultStartParams,
  "-c",
  "shared_buffers=4MB",
  "-c",
  "temp_file_limit=65536",
  "-c",
  "jit=off",
];

const { work } = workerData as MirrorData;
/**
 * How the data is made: a log of two small segments in the place of 16 MB, which nothing here needs, as the
 * contents come from the backend and no start recovers any.
 */
const initDbStartParams = ["--wal-segsize=1", "-c", "min_wal_size=2MB", "-c", "max_wal_size=2MB"];
/** They hold nothing, and each is as large as all that is asked. */
const templates = ["template0", "template1"];

if (work.kind === "make") await make(work.file);
else await serve();

/** Writes the data folder of all mirrors, whole or not at all. */
async function make(file: string): Promise<void> {
  const pglite = await seeded();
  const data = await pglite.dumpDataDir("gzip");
  const draft = `${file}.${process.pid}`;
  writeFileSync(draft, new Uint8Array(await data.arrayBuffer()));
  renameSync(draft, file);
  await pglite.close();
  post({ kind: "made" });
  parentPort?.close();
}

async function seeded(): Promise<PGlite> {
  const pglite = await PGlite.create({ startParams, initDbStartParams });
  for (const template of templates) {
    await pglite.exec(`UPDATE pg_database SET datistemplate = false WHERE datname = '${template}'`);
    await pglite.exec(`DROP DATABASE ${template}`);
  }
  await pglite.exec(seedSql);
  await pglite.exec("VACUUM");
  await pglite.exec("CHECKPOINT");
  return pglite;
}

async function serve(): Promise<void> {
  let pglite: PGlite;
  let shellsFrom: string;
  try {
    pglite = existsSync(fileURLToPath(dataFile))
      ? await PGlite.create({ startParams, loadDataDir: new Blob([readFileSync(dataFile)]) })
      : await seeded();
    // Only a setting with a value of its own is restored by a rollback.
    await pglite.exec("SET SESSION AUTHORIZATION pg_gateway");
    const last = await pglite.query<{ oid: string }>(
      "SELECT max(oid)::text AS oid FROM pg_catalog.pg_class",
    );
    shellsFrom = last.rows[0]?.oid ?? "";
  } catch (error) {
    post({ kind: "broken", code: codeOf(error) });
    return;
  }
  // PGlite answers one request at a time; the chain keeps their order.
  let last = Promise.resolve();
  let questions = 0;
  parentPort?.on("message", (request: MirrorRequest) => {
    questions += 1;
    const due = request.kind === "fill" || questions % upkeepEvery === 0;
    last = last.then(() => answer(pglite, shellsFrom, request, due));
  });
  post({ kind: "ready" });
}

async function answer(
  pglite: PGlite,
  shellsFrom: string,
  request: MirrorRequest,
  upkeepDue: boolean,
): Promise<void> {
  try {
    post(await replyTo(pglite, shellsFrom, request));
    if (upkeepDue) await tidy(pglite, request.kind === "fill" ? "all" : "roles");
  } catch (error) {
    // PGlite itself failed, not a statement: its memory can not be trusted any more.
    post({ kind: "broken", code: codeOf(error) });
    parentPort?.close();
    return;
  }
  if (wasmBytes(pglite) <= heapBytesMax) return;
  post({ kind: "broken", code: "memory" });
  parentPort?.close();
}

async function replyTo(
  pglite: PGlite,
  shellsFrom: string,
  request: MirrorRequest,
): Promise<MirrorReply> {
  const { id } = request;
  if (request.kind === "fill") return { id, kind: "filled", skipped: await fill(pglite, request) };
  const bytes =
    request.kind === "describe"
      ? describeMessages(request.sql, request.types)
      : runMessages(request, request.values, request.formats);
  try {
    const before = await say(pglite, queryMessage(preludeOf(request.session)));
    if (before.error !== undefined) return { id, kind: "refused", error: before.error };
    const raw = await pglite.execProtocolRaw(bytes, { syncToFs: false });
    if (raw.length > resultBytesMax) return { id, kind: "tooLarge" };
    const { error, description, result } = readResponse(raw);
    if (error !== undefined) return { id, kind: "refused", error };
    const touched = await say(pglite, queryMessage(touchedSql(shellsFrom)));
    if (touched.result.rows > 0) return { id, kind: "touched" };
    return request.kind === "describe"
      ? { id, kind: "described", description }
      : { id, kind: "rows", result };
  } finally {
    await say(pglite, queryMessage("ROLLBACK"));
  }
}

/** Sets all that a statement may ask about its session, then gives up the right to write. */
function preludeOf(session: MirrorSession): string {
  // PostgreSQL's own roles begin with `pg_`: the user's name may be one of theirs.
  const role = session.user.startsWith("pg_") || session.user === "" ? reader : session.user;
  return [
    "BEGIN",
    `UPDATE pg_catalog.pg_authid SET rolname = ${literal(role)} WHERE rolname = ${literal(reader)}`,
    `SET LOCAL search_path TO ${session.searchPath}`,
    `SET LOCAL gateway.search_path TO ${literal(session.shownPath)}`,
    `SET LOCAL timezone TO ${literal(session.timeZone)}`,
    `SET LOCAL application_name TO ${literal(session.applicationName)}`,
    `SET LOCAL gateway.process TO ${literal(String(session.process))}`,
    `SET LOCAL SESSION AUTHORIZATION ${literal(role)}`,
    "SET TRANSACTION READ ONLY",
  ].join(";");
}

/** Asks whether a statement read a table: it holds that table's lock until its rollback. */
function touchedSql(shellsFrom: string): string {
  return `SELECT 1 FROM pg_catalog.gateway_lock_status() WHERE locktype = 'relation' AND relation > ${shellsFrom} LIMIT 1`;
}

/** Makes and drops shells; answers how many could not be made. */
async function fill(pglite: PGlite, { before, shells, after }: MirrorFill): Promise<number> {
  const together = [...before, ...shells, ...after].join(";\n");
  const whole = await say(pglite, queryMessage(together));
  if (whole.error === undefined) return 0;
  await demand(pglite, before.join(";\n"));
  let skipped = 0;
  for (const shell of shells) {
    const made = await say(pglite, queryMessage(shell));
    if (made.error !== undefined) skipped += 1;
  }
  await demand(pglite, after.join(";\n"));
  return skipped;
}

/** Runs a statement of ours that has no reason to fail. */
async function demand(pglite: PGlite, sql: string): Promise<void> {
  const { error } = await say(pglite, queryMessage(sql));
  if (error !== undefined) throw new Error(`${error.sqlState} in a statement of the mirror itself`);
}

async function say(pglite: PGlite, message: Uint8Array): Promise<BackendResponse> {
  return readResponse(await pglite.execProtocolRaw(message, { syncToFs: false }));
}

/** `standard_conforming_strings` is on and can not be changed from outside. */
function literal(text: string): string {
  return `'${text.replaceAll("'", "''")}'`;
}

function codeOf(error: unknown): string {
  const code: unknown = error instanceof Error && "code" in error ? error.code : undefined;
  return typeof code === "string" ? code : "pgliteFailed";
}

function post(reply: MirrorReply): void {
  parentPort?.postMessage(reply, reply.kind === "rows" ? buffersOf(reply.result.vectors) : []);
}

function buffersOf(vectors: readonly MirrorVector[]): ArrayBuffer[] {
  return vectors.flatMap(({ values, offsets, validity }) =>
    [values, offsets, ...(validity === undefined ? [] : [validity])].map(
      (part) => part.buffer as ArrayBuffer,
    ),
  );
}

/** Emscripten's view of the whole memory. */
function wasmBytes(pglite: PGlite): number {
  const heap: unknown = pglite.Module["HEAPU8"];
  return heap instanceof Uint8Array ? heap.length : 0;
}
