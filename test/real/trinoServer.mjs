/**
 * A Trino server of our own: fetched from Maven once, started on free ports with the catalogs that the
 * cases need. Plain, or with TLS, logins and rules of who may be whom.
 */
import { generateKeyPairSync, pbkdf2Sync, randomBytes } from "node:crypto";
import { mkdir, mkdtemp, readFile, symlink, writeFile } from "node:fs/promises";
import http from "node:http";
import https from "node:https";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { command, expectCode } from "./command.mjs";
import { archiveHome, installArchive, javaHome, startServer } from "./java.mjs";

/** The last version whose server archive is published to Maven repositories. */
const version = "476";
const javaLeast = 24;
/** A machine that does much besides needs several times the half minute of an idle one. */
const startSeconds = 420;
const plugins = ["tpch", "memory", "blackhole"];
const archive = `trino-server-${version}`;
const home = archiveHome("trino", archive);

/** True, or the reason why there is none. */
export async function installTrinoServer() {
  if ((await javaHome(javaLeast)) === undefined) return `there is no JDK ${javaLeast} or newer`;
  return await installArchive("trino", archive, `io.trino:trino-server:${version}:tar.gz`);
}

/**
 * People who log in with `<name>-secret`, or with a token of the issuer below whose subject they are.
 * `gateway` may be alice and bob, `names` anybody.
 */
const people = ["gateway", "names", "alice", "bob", "carol", "j\u00f6rg"];
const rules = {
  catalogs: [{ allow: "all" }],
  queries: [{ user: "gateway", allow: ["execute", "kill", "view"] }, { allow: ["execute"] }],
  impersonation: [
    { original_user: "gateway", new_user: "alice|bob" },
    { original_user: "names", new_user: "(?s).*" },
  ],
};
export const tokens = { issuer: "https://issuer.test", audience: "trino" };
/** Tokens of a provider: `keys` is where its public keys are. The user is the name it logs in with. */
const tokensOf = ({ issuer, keys }) =>
  `http-server.authentication.jwt.key-file=${keys}\nhttp-server.authentication.jwt.required-issuer=${issuer}\nhttp-server.authentication.jwt.principal-field=preferred_username\n`;

/**
 * Starts one and waits until it answers. `stop` ends it and removes what it wrote. With `logins` it takes
 * TLS and its `people` only, and answers also `caFile`, and `tokenKey`, a file with the key of its tokens;
 * with a `provider` its tokens are those of that one. With a `lake` it has a catalog of that name, of Iceberg tables.
 * One that is not `lasting` starts sooner and answers many rows slower, as its code is compiled once and simply.
 */
export async function startTrinoServer({
  logins = false,
  provider,
  lake = false,
  lasting = false,
} = {}) {
  const run = await mkdtemp(join(tmpdir(), "trino-"));
  const port = await freePort();
  await configure(run, port, lasting);
  if (lake) await addLake(run);
  if (logins) await secure(run, provider);
  const files = { caFile: join(run, "ca.pem"), tokenKey: join(run, "token.key") };
  const server = logins
    ? { url: `https://localhost:${port}`, ca: await readFile(files.caFile) }
    : { url: `http://127.0.0.1:${port}` };
  const java = await javaHome(javaLeast);
  const stop = await startServer({
    name: "Trino",
    program: join(home, "bin", "launcher"),
    args: [`--etc-dir=${run}/etc`, "run"],
    env: { JAVA_HOME: java, PATH: `${java}/bin:${process.env["PATH"]}` },
    run,
    seconds: startSeconds,
    isReady: () => isReady(server),
  });
  return { url: server.url, stop, ...(logins ? files : {}) };
}

async function configure(run, port, lasting) {
  const etc = join(run, "etc");
  await mkdir(join(etc, "catalog"), { recursive: true });
  await mkdir(join(run, "plugin"));
  // Start time is mostly plugin loading.
  for (const name of plugins) {
    await symlink(join(home, "plugin", name), join(run, "plugin", name));
  }
  const files = {
    "catalog/tpch.properties":
      "connector.name=tpch\ntpch.column-naming=STANDARD\ntpch.double-type-mapping=DECIMAL\n",
    "catalog/memory.properties": "connector.name=memory\n",
    "catalog/blackhole.properties": "connector.name=blackhole\n",
    "log.properties": "io.trino=WARN\n",
    "node.properties": `node.environment=test\nnode.id=trino-${port}\nnode.data-dir=${run}/data\nnode.bind-ip=127.0.0.1\nnode.internal-address=127.0.0.1\n`,
    "jvm.config":
      "-server\n-Xmx1536M\n-XX:+UseG1GC\n-XX:+ExitOnOutOfMemoryError\n-Djdk.attach.allowAttachSelf=true\n-Dfile.encoding=UTF-8\n--add-opens=java.base/java.nio=ALL-UNNAMED\n".concat(
        // Its best compiler costs more than it brings to a server that lives for minutes.
        lasting ? "" : "-XX:TieredStopAtLevel=1\n",
      ),
    "config.properties": `coordinator=true\nnode-scheduler.include-coordinator=true\nplugin.dir=${run}/plugin\ndiscovery.uri=http://127.0.0.1:${port}\nhttp-server.http.port=${port}\nquery.max-memory=512MB\nquery.max-memory-per-node=256MB\nmemory.heap-headroom-per-node=256MB\n`,
  };
  for (const [name, text] of Object.entries(files)) await writeFile(join(etc, name), text);
}

async function addLake(run) {
  await symlink(join(home, "plugin", "iceberg"), join(run, "plugin", "iceberg"));
  const folder = join(run, "lake");
  await mkdir(folder);
  const lines = [
    "connector.name=iceberg",
    "iceberg.catalog.type=TESTING_FILE_METASTORE",
    "hive.metastore.catalog.dir=local:///",
    "fs.native-local.enabled=true",
    `local.location=${folder}`,
  ];
  await writeFile(join(run, "etc/catalog/lake.properties"), `${lines.join("\n")}\n`);
}

/** TLS, two ways to log in, and rules, over what `configure` wrote. */
async function secure(run, provider) {
  const at = (file) => join(run, file);
  const certificate =
    "req -x509 -newkey rsa:2048 -nodes -days 2 -subj /CN=localhost -addext subjectAltName=DNS:localhost -keyout ca.key -out ca.pem";
  expectCode(await command("openssl", certificate.split(" "), { cwd: run }));
  const { publicKey, privateKey } = generateKeyPairSync("rsa", { modulusLength: 2048 });
  const lines = people.map((user) => {
    const salt = randomBytes(16);
    const key = pbkdf2Sync(`${user}-secret`, salt, 10_000, 32, "sha1");
    return `${user}:10000:${salt.toString("hex")}:${key.toString("hex")}\n`;
  });
  const files = {
    "server.pem": `${await readFile(at("ca.key"), "utf8")}${await readFile(at("ca.pem"), "utf8")}`,
    "token.key": privateKey.export({ type: "pkcs8", format: "pem" }),
    "token.pub": publicKey.export({ type: "spki", format: "pem" }),
    "password.db": lines.join(""),
    "rules.json": JSON.stringify(rules),
    "etc/password-authenticator.properties": `password-authenticator.name=file\nfile.password-file=${at("password.db")}\n`,
    "etc/access-control.properties": `access-control.name=file\nsecurity.config-file=${at("rules.json")}\n`,
    "etc/config.properties": (await readFile(at("etc/config.properties"), "utf8"))
      .replace("http-server.http.port=", "http-server.https.port=")
      .replace("discovery.uri=http:", "discovery.uri=https:")
      .concat(
        "http-server.http.enabled=false\nhttp-server.https.enabled=true\n",
        `http-server.https.keystore.path=${at("server.pem")}\n`,
        `internal-communication.https.required=true\ninternal-communication.shared-secret=${randomBytes(16).toString("hex")}\n`,
        "http-server.authentication.type=PASSWORD,JWT\n",
        provider === undefined
          ? `http-server.authentication.jwt.key-file=${at("token.pub")}\nhttp-server.authentication.jwt.required-issuer=${tokens.issuer}\n`
          : tokensOf(provider),
        `http-server.authentication.jwt.required-audience=${tokens.audience}\n`,
      ),
  };
  for (const [file, text] of Object.entries(files)) await writeFile(at(file), text);
  await symlink(
    join(home, "plugin", "password-authenticators"),
    join(run, "plugin", "password-authenticators"),
  );
}

/** Started is not enough: until the server knows itself as a worker, tables have no node to be read on ("nodes is empty"). */
async function isReady(server) {
  try {
    const info = await asked(server, `${server.url}/v1/info`);
    return info.starting === false && (await readsTables(server));
  } catch {
    return false;
  }
}

async function readsTables(server) {
  let answer = await asked(
    server,
    `${server.url}/v1/statement`,
    "SELECT count(*) FROM tpch.tiny.nation",
  );
  for (;;) {
    const { nextUri, error } = answer;
    if (nextUri === undefined) return error === undefined;
    answer = await asked(server, nextUri);
  }
}

/** The JSON that it answers to its own account. */
function asked({ ca }, url, body) {
  const login = ca === undefined ? { "x-trino-user": "test" } : {};
  const auth = ca === undefined ? undefined : "gateway:gateway-secret";
  const signal = AbortSignal.timeout(30_000);
  const method = body === undefined ? "GET" : "POST";
  const { request } = ca === undefined ? http : https;
  return new Promise((resolve, reject) => {
    const sent = request(url, { method, headers: login, auth, ca, signal }, (response) => {
      let text = "";
      response.on("data", (chunk) => {
        text += chunk;
      });
      response.on("error", reject);
      response.on("end", () => {
        try {
          resolve(JSON.parse(text));
        } catch (error) {
          reject(error);
        }
      });
    });
    sent.on("error", reject);
    sent.end(body);
  });
}

/** A port that is free now. */
export function freePort() {
  const server = createServer();
  return new Promise((resolve, reject) => {
    server.on("error", reject);
    server.listen(0, "127.0.0.1", () => {
      const { port } = server.address();
      server.close(() => resolve(port));
    });
  });
}
