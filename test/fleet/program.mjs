/** One gateway process of a test: started from a config, its log read, ended by its own process id. */
import { spawn } from "node:child_process";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { until, within } from "./wait.mjs";

export const bundle = fileURLToPath(
  new URL("../../packages/gateway/dist/gateway.js", import.meta.url),
);
/** What a program that `ages` says. */
const aged = "a minute passed";
const startSeconds = 60;
const stopSeconds = 45;

/** Those that run. */
const children = new Set();
// Also after a failure of the harness itself, or a signal.
process.once("exit", () => {
  for (const child of children) child.kill("SIGKILL");
});
for (const signal of ["SIGINT", "SIGTERM"]) process.once(signal, () => process.exit(1));

/**
 * Starts `gateway start` on `config` in the folder `cwd`; answers as soon as the process runs, not when
 * it listens. Its clock goes wrong by `clockSecs`; with `collects` it can be told to collect its garbage, with `ages`
 * that a minute has passed. `program` is the bundle of another version.
 */
export async function startProgram(
  name,
  folder,
  { config, clockSecs = 0, collects = false, ages = false, cwd = folder, program = bundle },
) {
  const file = join(folder, `${name}.yaml`);
  // JSON is YAML.
  await writeFile(file, JSON.stringify(config, undefined, 2), { mode: 0o600 });
  const options = [
    ...(clockSecs === 0 ? [] : wrongClock(clockSecs)),
    ...(collects ? collecting() : []),
    ...(ages ? ageing() : []),
  ];
  return new Program(name, file, { options, cwd, program });
}

class Program {
  /** Everything that was written, by this start and those before it. */
  text = "";
  /** Port by kind of listener, of this start. */
  ports = {};
  #child;
  #closed;
  #line = "";
  #options;
  #cwd;
  #program;

  constructor(name, file, { options, cwd, program }) {
    this.name = name;
    this.file = file;
    this.#cwd = cwd;
    this.#program = program;
    this.#options = options;
    this.#spawn();
  }

  #spawn() {
    this.ports = {};
    this.startedMs = performance.now();
    const args = [...this.#options, this.#program, "start", "--config", this.file];
    const child = spawn(process.execPath, args, {
      stdio: ["ignore", "pipe", "pipe"],
      cwd: this.#cwd,
    });
    this.#child = child;
    children.add(child);
    for (const stream of [child.stdout, child.stderr]) {
      stream.setEncoding("utf8");
      stream.on("data", (chunk) => this.#read(chunk));
    }
    this.#closed = new Promise((resolve) => {
      child.on("close", (code, signal) => {
        children.delete(child);
        resolve(signal ?? code);
      });
    });
  }

  #read(chunk) {
    this.text += chunk;
    const lines = (this.#line + chunk).split("\n");
    this.#line = lines.pop() ?? "";
    for (const line of lines) {
      const entry = entryOf(line);
      if (entry?.event === "listener.open") this.ports[entry.kind] = entry.port;
    }
  }

  get pid() {
    return this.#child.pid;
  }

  get running() {
    return this.#child.exitCode === null && this.#child.signalCode === null;
  }

  /** Waits until the listeners are open. */
  async open() {
    await until(
      `${this.name} listens`,
      () => {
        if (!this.running) throw new Error(`${this.name} ended:\n${this.text.slice(-4_000)}`);
        return this.ports.adminApi !== undefined;
      },
      startSeconds,
    );
    return this;
  }

  get url() {
    return `http://127.0.0.1:${this.ports.adminApi}`;
  }

  /** Log lines of an event, oldest first. */
  events(event) {
    return this.text
      .split("\n")
      .map(entryOf)
      .filter((entry) => entry?.event === event);
  }

  /** Waits for one more line of `event` than there were at `before`. */
  logged(event, before = 0, seconds = 30) {
    return until(
      `${this.name} logs ${event}`,
      () => this.events(event).length > before && this.events(event).at(-1),
      seconds,
    );
  }

  /** As an orchestrator ends it; answers the exit code. */
  async stop() {
    if (this.running) {
      this.thaw();
      this.#child.kill("SIGTERM");
    }
    try {
      return await within(`${this.name} ends`, this.#closed, stopSeconds);
    } catch (error) {
      await this.kill();
      throw error;
    }
  }

  /** SIGKILL. */
  async kill() {
    if (this.running) this.#child.kill("SIGKILL");
    await this.#closed;
  }

  /** Of a program that `collects`: what it holds afterwards it needs, or has leaked. */
  collect() {
    this.#child.kill("SIGUSR2");
  }

  /** Of a program that `ages`: waits until it has heard that a minute passed. */
  async age() {
    const before = this.text.split(aged).length;
    this.#child.kill("SIGUSR2");
    await until(`${this.name} is a minute older`, () => this.text.split(aged).length > before);
  }

  freeze() {
    this.#child.kill("SIGSTOP");
  }

  thaw() {
    this.#child.kill("SIGCONT");
  }

  /** The same file again, after it ended. */
  restart() {
    if (this.running) throw new Error(`${this.name} still runs`);
    this.#spawn();
    return this;
  }
}

/** Both clocks go on by a minute when it is told; timers that run are not called for it. */
function ageing() {
  const [wall, steady] = ["Date.now", "performance.now"];
  return imported(`let more = 0;
    const wall = ${wall}.bind(Date), steady = ${steady}.bind(performance);
    ${wall} = () => wall() + more; ${steady} = () => steady() + more;
    process.on("SIGUSR2", () => { more += 60000; process.stderr.write("${aged}\\n"); });`);
}

/** The wall clock alone: what is measured is measured by another one. */
function wrongClock(secs) {
  return imported(`const now = Date.now; Date.now = () => now() + ${secs * 1000};`);
}

/** The young generation keeps its size, which else comes and goes with the load by some thirty megabytes. */
function collecting() {
  const young = ["--min-semi-space-size=16", "--max-semi-space-size=16"];
  return ["--expose-gc", ...young, ...imported(`process.on("SIGUSR2", () => gc());`)];
}

function imported(module) {
  return ["--import", `data:text/javascript,${encodeURIComponent(module)}`];
}

function entryOf(line) {
  if (!line.startsWith("{")) return undefined;
  try {
    return JSON.parse(line);
  } catch {
    return undefined;
  }
}
