/**
 * `npm run bench clickhouse`, or `node test/bench/clickhouseRelay.mjs [gigabytes]`: a large answer of a ClickHouse server to an HTTP client, direct,
 * through a bare Node relay and through the gateway, in MB/s; and resident memory while that many gigabytes (ten)
 * pass. The bytes are made once, so that the server is not what is measured. Rounds alternate; medians with lowest and
 * highest.
 */
import { fork } from "node:child_process";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { Agent, createServer, request } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { median, spread } from "./figures.mjs";
import { bareRelay, cpuOf, keepAwake, memoryOf, pinBeside, spawnMeasured } from "./processes.mjs";

const self = fileURLToPath(import.meta.url);
const root = fileURLToPath(new URL("../../", import.meta.url));
const rounds = 5;
const roundBytes = 1e9;
const blockBytes = 1 << 20;
const [role, at] = process.argv.slice(2);
const agent = new Agent({ keepAlive: true });

if (process.argv[1] === self) {
  if (role === "server") serve(Number(at));
  else {
    keepAwake();
    console.table(await clickhouseRows(Number(role ?? 10)));
  }
}

/** As many bytes as the statement says. */
function serve(port) {
  const block = Buffer.alloc(
    blockBytes,
    "1\tCustomer#000000001\t1.37\ttrue\t2024-02-29 12:34:56.789000\n",
  );
  createServer((asked, answer) => {
    let sql = "";
    asked.on("data", (chunk) => {
      sql += chunk;
    });
    asked.on("end", () => {
      const wanted = Number(/bytes (\d+)/.exec(sql)?.[1] ?? 0);
      // A health check wants the engine's own format, and takes another one for a fault.
      answer.setHeader("X-ClickHouse-Format", wanted === 0 ? "Native" : "TabSeparated");
      if (wanted === 0) return answer.end();
      let left = Math.ceil(wanted / blockBytes);
      const more = () => {
        while (left > 0) {
          left -= 1;
          if (!answer.write(block)) return answer.once("drain", more);
        }
        return answer.end();
      };
      return more();
    });
  }).listen(port, "127.0.0.1");
}

export async function clickhouseRows(gigabytes = Number(process.env.BENCH_GIGABYTES ?? 10)) {
  pinBeside();
  const [origin, through, admin] = await Promise.all([freePort(), freePort(), freePort()]);
  const folder = await mkdtemp(join(tmpdir(), "bench-"));
  const file = join(folder, "gateway.yaml");
  const listener = (port) => ({ host: "127.0.0.1", port });
  const config = {
    gateway: {
      frontends: { clickhouseHttp: listener(through) },
      adminApi: listener(admin),
      persistence: { type: "inMemory" },
    },
    clusters: {
      ch: {
        engine: "clickHouse",
        endpoint: `http://127.0.0.1:${origin}`,
      },
    },
    clusterGroups: { default: { members: ["ch"], maxRunningQueries: 8 } },
    routingFallback: "default",
    auth: { provider: "none" },
  };
  await writeFile(file, JSON.stringify(config));
  const server = fork(self, ["server", String(origin)]);
  const program = `${root}packages/gateway/bin/gateway.mjs`;
  const gateway = spawnMeasured([program, "start", "--config", file], { stdio: "ignore" });
  const bare = await bareRelay("http", origin);
  try {
    const ways = [
      { way: "direct", port: origin },
      { way: "bare Node relay", port: bare.port, pid: bare.pid },
      { way: "gateway", port: through, pid: gateway.pid },
    ];
    for (const { port } of ways) await untilUp(port);
    const pass = () => run(through, gigabytes * 1e9);
    return [
      ...(await measured(ways)),
      await memoryOf(`${gigabytes} GB of ClickHouse`, gateway.pid, pass),
    ];
  } finally {
    bare.stop();
    for (const child of [server, gateway]) child.kill("SIGKILL");
    agent.destroy();
    await rm(folder, { recursive: true });
  }
}

async function measured(ways) {
  const found = ways.map((way) => ({ ...way, rates: [], cpu: [] }));
  // The first round warms up.
  for (let round = 0; round <= rounds; round += 1) {
    for (const one of found) {
      const cpuBefore = one.pid === undefined ? 0 : cpuOf(one.pid);
      const from = performance.now();
      const bytes = await run(one.port, roundBytes);
      const rate = bytes / 1e3 / (performance.now() - from);
      if (round === 0) continue;
      one.rates.push(rate);
      if (one.pid !== undefined) one.cpu.push((cpuOf(one.pid) - cpuBefore) / (bytes / 1e9));
    }
  }
  const reached = median(found.find(({ way }) => way === "bare Node relay").rates);
  return found.map(({ way, rates, cpu }) => ({
    what: `ClickHouse's answers, ${way}`,
    "MB/s": spread(rates, 0),
    "of the bare relay": `${((median(rates) / reached) * 100).toFixed(0)} %`,
    ...(cpu.length === 0 ? {} : { "its CPU s/GB": spread(cpu, 2) }),
  }));
}

/** Runs a statement of so many bytes; answers how many came. */
function run(port, bytes) {
  const options = { host: "127.0.0.1", port, method: "POST", path: "/?user=bench", agent };
  return new Promise((resolve, reject) => {
    const asked = request(options, (came) => {
      let count = 0;
      came.on("data", (chunk) => {
        count += chunk.length;
      });
      came.on("end", () => {
        if (came.statusCode === 200 && count >= bytes) resolve(count);
        else reject(new Error(`status ${came.statusCode}, ${count} bytes`));
      });
      came.on("error", reject);
    });
    asked.on("error", reject);
    asked.end(bytes === 0 ? "SELECT 1" : `SELECT 'bytes ${bytes}'`);
  });
}

async function untilUp(port) {
  for (let tries = 0; tries < 600; tries += 1) {
    const up = await run(port, 0).catch(() => undefined);
    if (up !== undefined) return;
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
  throw new Error("nothing answers");
}

function freePort() {
  return new Promise((resolve) => {
    const server = createServer().listen(0, "127.0.0.1", () => {
      const { port } = server.address();
      server.close(() => resolve(port));
    });
  });
}
