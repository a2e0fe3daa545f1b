/**
 * Processes of a bench, each on its core: what is measured has one of its own, everything else shares
 * another. On one processor, or without `taskset`, they go where the system puts them.
 */
import { fork, spawn, spawnSync } from "node:child_process";
import {
  closeSync,
  mkdtempSync,
  openSync,
  readFileSync,
  readSync,
  readdirSync,
  rmSync,
} from "node:fs";
import { availableParallelism, tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

const relays = fileURLToPath(new URL("relays.mjs", import.meta.url));
const least = fileURLToPath(new URL("least.mjs", import.meta.url));
/** Before this process is pinned: afterwards it has one. */
const cores = availableParallelism();
const pins = cores > 1 && spawnSync("taskset", ["-V"]).status === 0;
/** Cores of the generator with its stand-ins, and of what is measured. */
const beside = "0";
const measured = "1";

/** Keeps this process, and what it starts from now on, off the core of what is measured. */
export function pinBeside() {
  if (pins) spawnSync("taskset", ["-a", "-p", "-c", beside, String(process.pid)]);
}

/**
 * Keeps every core busy with what gives way to anything else, until this process ends. A core that
 * nobody uses is halted, and a virtual machine takes longer to wake it than a short query takes: what is
 * measured then is how often somebody had to wait for that. Without `chrt` it does nothing.
 */
export function keepAwake() {
  if (!pins || spawnSync("chrt", ["-V"]).status !== 0) return;
  const spin = [process.execPath, "-e", "for (;;);"];
  const spinners = Array.from({ length: cores }, (_, core) =>
    spawn("taskset", ["-c", String(core), "chrt", "--idle", "0", ...spin], { stdio: "ignore" }),
  );
  for (const spinner of spinners) spinner.unref();
  process.once("exit", () => {
    for (const spinner of spinners) spinner.kill("SIGKILL");
  });
}

/** Puts this process, and what it starts from now on, on the core of what is measured. */
export function pinTogether() {
  pinMeasured(process.pid);
}

/** Lets a process that runs already use every core. */
export function unpin(pid) {
  const every = `0-${cores - 1}`;
  if (pins) spawnSync("taskset", ["-a", "-p", "-c", every, String(pid)]);
}

/** Puts a process that runs already on the core of what is measured. */
export function pinMeasured(pid) {
  if (pins) spawnSync("taskset", ["-a", "-p", "-c", measured, String(pid)]);
}

/** Starts Node on the core of what is measured. */
export function spawnMeasured(args, options) {
  const command = [process.execPath, ...args.map(String)];
  const [file, ...rest] = pins ? ["taskset", "-c", measured, ...command] : command;
  return spawn(file, rest, options);
}

/** A relay that only passes bytes on, `http` or `tcp`, where the gateway would stand: what can be reached at all. */
export function bareRelay(kind, port) {
  return standing(fork(relays, [kind, String(port)]));
}

/** The least of a gateway for `postgres`, `mysql` or `http`; its log goes to a file that goes with it. */
export async function leastGateway(wire, port) {
  const folder = mkdtempSync(join(tmpdir(), "gateway-least-"));
  const program = await standing(fork(least, [wire, String(port), join(folder, "log")]));
  const stop = () => {
    program.stop();
    rmSync(folder, { recursive: true });
  };
  return { ...program, stop };
}

/** A program between client and server, once it says where it listens. */
async function standing(child) {
  pinMeasured(child.pid);
  const at = await new Promise((resolve, reject) => {
    child.once("message", resolve);
    child.once("exit", () => reject(new Error("what stands between ended")));
  });
  return { port: at, pid: child.pid, stop: () => child.kill("SIGKILL") };
}

/** Resident bytes. */
export function rssOf(pid) {
  const match = /VmRSS:\s+(\d+) kB/.exec(readFileSync(`/proc/${pid}/status`, "utf8"));
  return Number(match[1]) * 1024;
}

/** Seconds of processor time so far. */
export function cpuOf(pid) {
  const fields = readFileSync(`/proc/${pid}/stat`, "utf8").split(") ")[1].split(" ");
  return (Number(fields[11]) + Number(fields[12])) / 100;
}

/**
 * Reads how long the threads of a process have run, in microseconds: its main thread, and all of those that it has now.
 * Exact while they wait. A reading costs some microseconds for each thread.
 */
export function threadClock(pid) {
  const bytes = Buffer.alloc(64);
  const open = (thread) => openSync(`/proc/${pid}/task/${thread}/schedstat`, "r");
  const others = readdirSync(`/proc/${pid}/task`).filter((thread) => thread !== String(pid));
  const files = [String(pid), ...others].map(open);
  const microsOf = (file) => {
    try {
      const length = readSync(file, bytes, 0, bytes.length, 0);
      return Number.parseInt(bytes.latin1Slice(0, length), 10) / 1_000;
    } catch {
      // The thread ended.
      return 0;
    }
  };
  return {
    main: () => microsOf(files[0]),
    all: () => files.reduce((sum, file) => sum + microsOf(file), 0),
    close: () => {
      for (const file of files) closeSync(file);
    },
  };
}

/** Runs `pass`, which answers the bytes that passed, and says how the process grew meanwhile. */
export async function memoryOf(what, pid, pass) {
  const before = rssOf(pid);
  let highest = before;
  const watch = setInterval(() => {
    highest = Math.max(highest, rssOf(pid));
  }, 50);
  const from = performance.now();
  const bytes = await pass();
  clearInterval(watch);
  const megabytes = (value) => `${(value / 1e6).toFixed(0)} MB`;
  return {
    what,
    "RSS before": megabytes(before),
    "RSS highest": megabytes(highest),
    "RSS growth": megabytes(highest - before),
    passed: megabytes(bytes),
    seconds: ((performance.now() - from) / 1000).toFixed(0),
  };
}
