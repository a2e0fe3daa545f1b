/**
 * The web console's files on the admin listener. They hold no secret and need no login; whatever the console shows,
 * it asks the admin API for.
 *
 * A path is looked up among the files that are there, and never made into one, so that none leads out of the folder.
 */
import { createReadStream } from "node:fs";
import { readdir, stat } from "node:fs/promises";
import { extname, join } from "node:path";
import { Readable } from "node:stream";
import { studioContentSecurityPolicy, studioPath } from "@gateway/contract/studioApi.ts";

/** Answers GET and HEAD below `studioPath`. */
export interface StudioFiles {
  answer(request: Request): Promise<Response>;
}

const types: Readonly<Record<string, string>> = {
  ".html": "text/html; charset=utf-8",
  ".js": "text/javascript; charset=utf-8",
  ".css": "text/css; charset=utf-8",
  ".json": "application/json",
  ".webmanifest": "application/manifest+json",
  ".svg": "image/svg+xml",
  ".png": "image/png",
  ".ico": "image/x-icon",
  ".woff2": "font/woff2",
  ".txt": "text/plain; charset=utf-8",
};

/** Whatever a page of the console could be made to do, it does not reach beyond this listener. */
export const pageHeaders = {
  "content-security-policy": studioContentSecurityPolicy,
  "x-content-type-options": "nosniff",
  "referrer-policy": "no-referrer",
  "cross-origin-opener-policy": "same-origin",
  "cross-origin-resource-policy": "same-origin",
  "permissions-policy": "camera=(), geolocation=(), microphone=(), payment=(), usb=()",
  vary: "accept-encoding",
} as const;

/** A name with a hash of its content never means anything else. */
const hashed = /^assets\/.*-[\w-]{8,}\.\w+$/;
const immutable = "public, max-age=31536000, immutable";
const index = "index.html";

/** Forms that a build may have made of a file, the smaller first. */
const encodings = [
  { name: "br", ending: ".br" },
  { name: "gzip", ending: ".gz" },
] as const;

interface Found {
  readonly path: string;
  readonly bytes: number;
  readonly modifiedMs: number;
}

const notBuilt = [
  "The web console's files are not here.",
  "From a checkout: npm run build, then reload this page. The admin API answers below /admin; /openapi.json says how.",
  "",
].join("\n");

/** `folders`: where a build may lie; the first that has an `index.html`. Nothing is read before the first request. */
export function studioFiles(folders: readonly string[]): StudioFiles {
  let known: { readonly files: ReadonlyMap<string, Found>; readonly page: Found } | undefined;

  async function current(): Promise<typeof known> {
    if (known !== undefined && (await isSame(known.page))) return known;
    known = undefined;
    for (const folder of folders) {
      const files = await filesOf(folder);
      const page = files.get(index);
      if (page === undefined) continue;
      known = { files, page };
      break;
    }
    return known;
  }

  return {
    answer: async (request) => {
      const built = await current();
      if (built === undefined) return textResponse(notBuilt);
      const name = nameOf(request.url);
      if (name === undefined) return textResponse("There is no such path.\n");
      if (built.files.has(name)) return fileResponse(request, built.files, name);
      if (isFile(name)) {
        return textResponse("There is no such file. Reload the page: the console may be newer.\n");
      }
      return fileResponse(request, built.files, index);
    },
  };
}

/**
 * A file that is missing is no page. All others are deep links, which may end in the name of an object or the place of a
 * revision, with dots in it.
 */
function isFile(name: string): boolean {
  return name.startsWith("assets/") || (extname(name) !== "" && !/^[a-z]+\//.test(name));
}

/** The path below `studioPath`, decoded once; undefined for one that can not be decoded. */
function nameOf(url: string): string | undefined {
  const { pathname } = new URL(url);
  try {
    return decodeURIComponent(pathname.slice(studioPath.length));
  } catch {
    return undefined;
  }
}

/** Every file by its path with slashes; links are not followed. Empty where there is no such folder. */
async function filesOf(folder: string): Promise<ReadonlyMap<string, Found>> {
  const files = new Map<string, Found>();
  const walk = async (at: string, prefix: string): Promise<void> => {
    const entries = await readdir(at, { withFileTypes: true }).catch(() => []);
    for (const entry of entries) {
      const path = join(at, entry.name);
      if (entry.isDirectory()) await walk(path, `${prefix}${entry.name}/`);
      if (!entry.isFile()) continue;
      const { size, mtimeMs } = await stat(path);
      files.set(prefix + entry.name, { path, bytes: size, modifiedMs: mtimeMs });
    }
  };
  await walk(folder, "");
  return files;
}

async function isSame({ path, modifiedMs }: Found): Promise<boolean> {
  const now = await stat(path).catch(() => undefined);
  return now?.mtimeMs === modifiedMs;
}

function fileResponse(request: Request, files: ReadonlyMap<string, Found>, name: string): Response {
  const plain = files.get(name);
  if (plain === undefined) return textResponse("There is no such file.\n");
  const accepted = acceptedOf(request.headers.get("accept-encoding"));
  const encoding = encodings.find((one) => accepted.has(one.name) && files.has(name + one.ending));
  const file = encoding === undefined ? plain : (files.get(name + encoding.ending) ?? plain);
  const tag = `"${plain.bytes.toString(36)}-${Math.floor(plain.modifiedMs).toString(36)}${encoding?.name ?? ""}"`;
  const headers = {
    ...pageHeaders,
    "content-type": types[extname(name)] ?? "application/octet-stream",
    "cache-control": hashed.test(name) ? immutable : "no-cache",
    etag: tag,
    ...(encoding === undefined ? {} : { "content-encoding": encoding.name }),
  };
  if (request.headers.get("if-none-match") === tag)
    return new Response(null, { status: 304, headers });
  const sized = { ...headers, "content-length": String(file.bytes) };
  if (request.method === "HEAD") return new Response(null, { headers: sized });
  const body = Readable.toWeb(createReadStream(file.path)) as ReadableStream<Uint8Array>;
  return new Response(body, { headers: sized });
}

/** Encodings that a client takes at all; which it likes best does not matter for a file. */
function acceptedOf(header: string | null): ReadonlySet<string> {
  const names = (header ?? "").split(",").flatMap((part) => {
    const [name = "", ...parameters] = part.trim().toLowerCase().split(";");
    const refused = parameters.some((one) => /^\s*q=0(?:\.0*)?\s*$/.test(one));
    return refused ? [] : [name.trim()];
  });
  return new Set(names);
}

function textResponse(text: string): Response {
  return new Response(text, {
    status: 404,
    headers: {
      ...pageHeaders,
      "content-type": "text/plain; charset=utf-8",
      "cache-control": "no-store",
    },
  });
}
