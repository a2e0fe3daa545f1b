/** One gateway as a process of its own: the ports it listens on, and what it printed. */
import { spawn } from "node:child_process";
import { fileURLToPath } from "node:url";

const program = fileURLToPath(new URL("../../packages/gateway/dist/gateway.js", import.meta.url));
/** Under other work a start takes minutes, which proves nothing. */
const startMsMax = 400_000;

/** Resolves when the admin API listens and `printed` matches what stands on its standard output; a quick start logs no port. */
export async function startGateway(args, { cwd, printed = /^/, env = {} } = {}) {
  const child = spawn(process.execPath, [program, ...args], {
    cwd,
    env: { ...process.env, ...env },
    stdio: ["ignore", "pipe", "pipe"],
  });
  const killed = () => child.kill("SIGKILL");
  process.once("exit", killed);
  const ended = new Promise((resolve) => child.once("close", resolve)).finally(() =>
    process.off("exit", killed),
  );
  const { ports, found } = await listening({ child, args, ended, printed });
  return {
    ports,
    /** What `printed` found. */
    found,
    end: async () => {
      if (child.exitCode === null && child.signalCode === null) child.kill("SIGTERM");
      await ended;
    },
  };
}

function listening({ child, args, ended, printed }) {
  const ports = {};
  let said = "";
  let out = "";
  return new Promise((resolve, reject) => {
    const timer = setTimeout(
      () => reject(new Error(`it took too long:\n${said}${out}`)),
      startMsMax,
    );
    const look = () => {
      const found = printed.exec(out);
      if (found === null || (ports.adminApi === undefined && args[0] === "start")) return;
      clearTimeout(timer);
      resolve({ ports, found });
    };
    child.stdout.setEncoding("utf8").on("data", (text) => {
      out = `${out}${text}`.slice(-16_000);
      look();
    });
    child.stderr.setEncoding("utf8").on("data", (text) => {
      said = `${said}${text}`.slice(-8_000);
      for (const line of said.split("\n")) {
        if (!line.includes('"listener.open"')) continue;
        try {
          const { kind, port } = JSON.parse(line);
          ports[kind] = port;
        } catch {
          // Half a line; the rest comes with the next piece.
        }
      }
      look();
    });
    void ended.finally(() => {
      clearTimeout(timer);
      reject(new Error(`it did not start:\n${said}${out}`));
    });
  });
}
