/**
 * Holds a folder for one process by a listening Unix socket in it: the kernel ends the hold with the
 * process, whatever ended that. The socket is also the way in for commands on the same host.
 *
 * The folder (mode 0700) holds `data/`, which is PGlite's, and `socket.N` (mode 0600). A socket that
 * nobody listens on is left behind by every end of a process, and replacing a file is where two
 * starters race. So none is replaced: the holder is whoever listens on the highest number.
 *
 * - A starter finds the highest N. Somebody listens there: in use.
 * - Nobody does: it listens on a socket of a private name and links that to `socket.<N+1>`, which
 *   only one starter can. The file appears with a listener behind it, never without.
 * - It then looks again: a higher number means that it acted on an old look, and it steps back.
 * - The holder deletes lower numbers only, and leaves its own at the end; so the highest number
 *   never goes down, and a dead one never comes back to life.
 *
 * Addresses of sockets are at most about 100 bytes long. In a deeper folder the socket is the same
 * file, reached through a short symbolic link in the temporary folder, which each process makes for
 * itself and removes. A folder on a network file system is not held against other hosts.
 */
import { chmod, link, lstat, mkdir, mkdtemp, readdir, rm, symlink } from "node:fs/promises";
import { connect, createServer, type Server, type Socket } from "node:net";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { err, ok, type Result } from "@gateway/core/result.ts";

/** `folderUnusable`: it can not be made or entered, or belongs to somebody else; `detail` is a code. */
export type HoldRefusal =
  | { readonly code: "inUse"; readonly path: string }
  | { readonly code: "folderUnusable"; readonly path: string; readonly detail: string };

export interface FolderHold extends AsyncDisposable {
  /** Hands over everybody who connects, also those who did before. Called once. */
  accept(serve: (socket: Socket) => void): void;
  /** Hangs up on everybody and on whoever still comes; the folder stays held. */
  hangUp(): void;
}

/** Longer folders are reached through a link; the rest is for `claim-XXXXXX/socket.12345`. */
const folderBytesMax = 70;
/** Looks at a folder in which others come and go. More would be somebody playing. */
const looksMax = 50;
/** Commands of one host at once; whoever comes beyond is hung up on. */
const connectionsMax = 32;

/** Holds the folder until disposed; makes it when absent. */
export async function holdFolder(path: string): Promise<Result<FolderHold, HoldRefusal>> {
  const folder = resolve(path);
  try {
    await mkdir(folder, { recursive: true, mode: 0o700 });
    const found = await lstat(folder);
    if (!found.isDirectory()) return err({ code: "folderUnusable", path, detail: "ENOTDIR" });
    if ((found.mode & 0o077) !== 0) await chmod(folder, 0o700);
    return await claimIn(path, folder);
  } catch (error) {
    return err({ code: "folderUnusable", path, detail: systemCodeOf(error) });
  }
}

/** The socket somebody listens on, by an address short enough; undefined when nobody does. */
export async function findHolder(path: string): Promise<FolderRoad | undefined> {
  const folder = resolve(path);
  const road = await roadTo(folder);
  const number = await highest(folder).catch(() => 0);
  const address = join(road.folder, nameOf(number));
  if (number > 0 && (await listened(address))) return { ...road, address };
  await road[Symbol.asyncDispose]();
  return undefined;
}

/** A way to a socket; disposing removes the link that shortens it. */
export interface FolderRoad extends AsyncDisposable {
  readonly address: string;
}

async function claimIn(path: string, folder: string): Promise<Result<FolderHold, HoldRefusal>> {
  await using road = await roadTo(folder);
  const privateName = (await mkdtemp(join(folder, "claim-"))).slice(folder.length + 1);
  const server = createServer();
  const doorman = new Doorman(server);
  let held = false;
  try {
    await listenOn(server, join(road.folder, privateName, "s"));
    await chmod(join(folder, privateName, "s"), 0o600);
    held = await win(folder, road.folder, join(folder, privateName, "s"));
  } finally {
    await rm(join(folder, privateName), { recursive: true, force: true });
    if (!held) await doorman[Symbol.asyncDispose]();
  }
  return held ? ok(doorman) : err({ code: "inUse", path });
}

/** Clients may connect at any time, also before anybody is ready to serve them. */
class Doorman implements FolderHold {
  readonly #server: Server;
  readonly #sockets = new Set<Socket>();
  #serve: ((socket: Socket) => void) | undefined;
  #away = false;

  constructor(server: Server) {
    this.#server = server;
    server.maxConnections = connectionsMax;
    server.on("connection", (socket) => this.#enter(socket));
  }

  accept(serve: (socket: Socket) => void): void {
    this.#serve = serve;
    for (const socket of this.#sockets) serve(socket);
  }

  hangUp(): void {
    this.#away = true;
    for (const socket of this.#sockets) socket.destroy();
  }

  [Symbol.asyncDispose](): Promise<void> {
    this.hangUp();
    return new Promise((closed) => {
      this.#server.close(() => closed());
    });
  }

  #enter(socket: Socket): void {
    // Whoever hangs up is told apart by `close`; an error without a listener would end the process.
    socket.on("error", () => {});
    socket.on("close", () => this.#sockets.delete(socket));
    if (this.#away) {
      socket.destroy();
      return;
    }
    this.#sockets.add(socket);
    this.#serve?.(socket);
  }
}

/** Whether our listening socket became the highest number. */
async function win(folder: string, road: string, own: string): Promise<boolean> {
  for (let look = 0; look < looksMax; look += 1) {
    const number = await highest(folder);
    if (number > 0 && (await listened(join(road, nameOf(number))))) return false;
    const name = join(folder, nameOf(number + 1));
    if (!(await linked(own, name))) continue;
    if ((await highest(folder)) === number + 1) {
      await removeBelow(folder, number + 1);
      return true;
    }
    await rm(name, { force: true });
  }
  return false;
}

async function linked(from: string, to: string): Promise<boolean> {
  try {
    await link(from, to);
    return true;
  } catch (error) {
    if (systemCodeOf(error) === "EEXIST") return false;
    throw error;
  }
}

async function highest(folder: string): Promise<number> {
  return Math.max(0, ...(await numbersIn(folder)));
}

async function numbersIn(folder: string): Promise<readonly number[]> {
  return (await readdir(folder)).flatMap((name) => {
    const digits = /^socket\.([1-9]\d{0,14})$/.exec(name)?.[1];
    return digits === undefined ? [] : [Number(digits)];
  });
}

async function removeBelow(folder: string, own: number): Promise<void> {
  const lower = (await numbersIn(folder)).filter((number) => number < own);
  await Promise.all(lower.map((number) => rm(join(folder, nameOf(number)), { force: true })));
}

function nameOf(number: number): string {
  return `socket.${number}`;
}

/** Counts as alive unless it is surely dead: opening a folder twice ruins the data, refusing does not. */
function listened(address: string): Promise<boolean> {
  return new Promise((answer) => {
    const socket = connect(address);
    socket.once("connect", () => {
      socket.destroy();
      answer(true);
    });
    socket.once("error", (error) => {
      const code = systemCodeOf(error);
      answer(code !== "ECONNREFUSED" && code !== "ENOENT");
    });
  });
}

function listenOn(server: Server, address: string): Promise<void> {
  return new Promise((listening, failed) => {
    server.once("error", failed);
    server.listen(address, () => {
      server.off("error", failed);
      // A holder that stops does not wait for its lock.
      server.unref();
      listening();
    });
  });
}

async function roadTo(folder: string): Promise<FolderRoad & { readonly folder: string }> {
  if (Buffer.byteLength(folder) <= folderBytesMax) {
    return { folder, address: folder, [Symbol.asyncDispose]: () => Promise.resolve() };
  }
  const made = await mkdtemp(join(tmpdir(), "gw-"));
  const short = join(made, "f");
  await symlink(folder, short);
  return {
    folder: short,
    address: short,
    [Symbol.asyncDispose]: () => rm(made, { recursive: true, force: true }),
  };
}

function systemCodeOf(error: unknown): string {
  const code: unknown = error instanceof Error && "code" in error ? error.code : undefined;
  return typeof code === "string" ? code : "failed";
}
