/** The image, without Docker: what its Dockerfile makes starts in an empty, read-only root and answers. */
import { existsSync, readdirSync, statSync } from "node:fs";
import { join } from "node:path";
import { expectMatch, expectText } from "../command.mjs";
import { buildImage, dockerfile } from "../image.mjs";

const config = `
gateway:
  frontends: { trinoHttp: { host: 127.0.0.1, port: 0 }, postgresWire: { enabled: false }, mysqlWire: { enabled: false } }
  adminApi: { host: 127.0.0.1, port: 0 }
clusters: { local: { engine: duckDb } }
clusterGroups: { default: { members: [local], maxRunningQueries: 4 } }
routingFallback: default
translation: { mode: bestEffort }
auth: { provider: none }
`;
const withDriver = config
  .replace("gateway:", "gateway:\n  adbc: { drivers: [sqlite] }")
  .replace("engine: duckDb", 'engine: adbc, driver: sqlite, databasePath: ":memory:"');
const startSeconds = 60;

export const imageCases = {
  tool: "image",
  cases: {
    "starts from its own files in a read-only root, without rights and without a shell, and answers":
      async () => {
        const image = await buildImage();
        try {
          const node = bytesOf(join(image.app, "bin/node"));
          const bytes = bytesOf(image.app) - node;
          console.log(
            `         figure: files of the image beside Node ${(bytes / 1e6).toFixed(1)} MB, Node ${Math.round(node / 1e6)} MB`,
          );
          if (bytes > 120e6) throw new Error(`${bytes} bytes are too many`);
          const last = dockerfile().at(-1) ?? [];
          if (last.some(([word]) => word === "RUN"))
            throw new Error("the last stage runs something");
          // A function of Trino's alone, so that the parser of SQL is asked as well as the engine.
          const translated = "SELECT 41 + approx_distinct(x) FROM (SELECT 1 AS x) AS t";
          await answersAndDrains(image, config, translated);
          await takesWhatWasCompiled(image);
          await refusesWithoutDriver(image);
          await image.takeDrivers("sqlite");
          expectText(readdirSync(join(image.app, "adbc")).join(), "libadbc_driver_sqlite.so");
          await answersAndDrains(image, withDriver, "SELECT 41 + 1");
        } finally {
          image.stop();
        }
      },
  },
};

/** Every file that the command line is made of, under the user that has no rights. A Node before 22.1 compiles at each start. */
async function takesWhatWasCompiled(image) {
  if (!existsSync(join(image.app, "compiled"))) return;
  const args = ["NODE_DEBUG_NATIVE=COMPILE_CACHE", "node", "/app/bin/gateway.mjs", "help"];
  const help = image.run({ config, args });
  const code = await help.ended;
  const taken = help.said.stderr.match(/dist\/\S+ was accepted/g) ?? [];
  const lost = help.said.stderr.match(/dist\/\S+ was rejected|dist\/\S+ no such file/g) ?? [];
  if (code !== 0 || taken.length < 20 || lost.length > 0) {
    throw new Error(`ended with ${code}, took ${taken.length}, not ${lost.join(", ")}`);
  }
}

/** Before a port is open: what stands in its place serves on. */
async function refusesWithoutDriver(image) {
  const gateway = image.run({ config: withDriver });
  const code = await gateway.ended;
  if (code !== 2) throw new Error(`without its driver it ended with ${code}`);
  expectMatch(gateway.said.stderr, /gateway\.adbc\.drivers\[0\]: no library of the driver sqlite/);
}

async function answersAndDrains(image, text, sql) {
  const startedMs = performance.now();
  const gateway = image.run({ config: text });
  try {
    const trino = await listenerOf(gateway, "trinoHttp");
    const admin = await listenerOf(gateway, "adminApi");
    const ready = await fetch(`http://127.0.0.1:${admin}/readyz`);
    if (ready.status !== 200) throw new Error(`/readyz answers ${ready.status}`);
    const took = (performance.now() - startedMs) / 1000;
    console.log(`         figure: image, start to /readyz ${took.toFixed(1)} s`);
    const rows = await answerOf(trino, sql);
    if (JSON.stringify(rows) !== "[[42]]") throw new Error(`answered ${JSON.stringify(rows)}`);
    for (const [url, code] of [
      [`http://127.0.0.1:${admin}/health`, 0],
      ["http://127.0.0.1:1/health", 1],
    ]) {
      await healthIs(image, url, code);
    }
    gateway.child.kill("SIGTERM");
    const code = await gateway.ended;
    if (code !== 0) throw new Error(`ended with ${code}: ${gateway.said.stderr}`);
  } finally {
    if (gateway.child.exitCode === null) gateway.child.kill("SIGKILL");
    await gateway.ended;
  }
}

/** The command of HEALTHCHECK, as Docker runs it. */
async function healthIs(image, url, wanted) {
  const [, command = "[]"] = /CMD (\[.*\])$/.exec(image.settings.HEALTHCHECK) ?? [];
  const args = [`GATEWAY_HEALTH_URL=${url}`, ...JSON.parse(command)];
  const check = image.run({ config, args });
  const code = await check.ended;
  if (code !== wanted) throw new Error(`health of ${url}: ${code} ${check.said.stderr}`);
}

/** The port that the log names when the listener is open. */
function listenerOf({ child, said, ended }, kind) {
  return new Promise((resolve, reject) => {
    const limit = setTimeout(
      () => reject(new Error(`no ${kind}: ${said.stderr}`)),
      startSeconds * 1000,
    );
    const look = () => {
      const line = said.stderr.split("\n").find((one) => one.includes(`"kind":"${kind}"`));
      const [, port] = /"port":(\d+)/.exec(line ?? "") ?? [];
      if (port === undefined) return;
      clearTimeout(limit);
      resolve(port);
    };
    child.stderr.on("data", look);
    look();
    void ended.then((code) => reject(new Error(`ended with ${code}: ${said.stderr}`)));
  });
}

async function answerOf(port, sql) {
  const headers = { "x-trino-user": "ann" };
  const url = `http://127.0.0.1:${port}/v1/statement`;
  let answer = await (await fetch(url, { method: "POST", headers, body: sql })).json();
  const rows = [];
  for (;;) {
    if (answer.error) throw new Error(answer.error.message);
    rows.push(...(answer.data ?? []));
    if (answer.nextUri === undefined) return rows;
    answer = await (await fetch(answer.nextUri, { headers })).json();
  }
}

function bytesOf(path) {
  const found = statSync(path);
  if (!found.isDirectory()) return found.size;
  return readdirSync(path).reduce((sum, name) => sum + bytesOf(join(path, name)), 0);
}
