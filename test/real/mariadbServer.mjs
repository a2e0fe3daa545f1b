/** A MariaDB server of one's own on a free port, in StarRocks' place: the same wire, real cancels and types. */
import { spawn } from "node:child_process";
import { mkdtemp, rm } from "node:fs/promises";
import { createServer } from "node:net";
import { tmpdir, userInfo } from "node:os";
import { join } from "node:path";
import { command, expectCode } from "./command.mjs";

const path = `${process.env["PATH"]}:/usr/sbin`;
const startTries = 300;

/** True, or the reason why it can not be had. */
export async function installMariadb() {
  if (await present()) return true;
  if (process.getuid?.() !== 0) return "mariadb-server is not installed, and installing needs root";
  const env = { DEBIAN_FRONTEND: "noninteractive" };
  await command("apt-get", ["update", "-q"], { env, seconds: 180 });
  const args = ["install", "-y", "-q", "--no-install-recommends", "mariadb-server"];
  const installed = await command("apt-get", args, { env, seconds: 300 });
  return installed.code === 0 && (await present())
    ? true
    : "apt-get could not install mariadb-server";
}

async function present() {
  return (await command("mariadbd", ["--version"], { env: { PATH: path } })).code === 0;
}

/** Starts it with TLS and the account gateway, further arguments and statements; answers `{port, caFile, stop}`. */
export async function startMariadb({ more = [], statements = "" } = {}) {
  const folder = await mkdtemp(join(tmpdir(), "gateway-mariadb-"));
  const port = await freePort();
  const user = userInfo().username;
  const data = join(folder, "data");
  const socket = join(folder, "s");
  const env = { PATH: path };
  const install = [
    "--no-defaults",
    `--user=${user}`,
    `--datadir=${data}`,
    "--auth-root-authentication-method=normal",
    "--skip-test-db",
  ];
  expectCode(await command("mariadb-install-db", install, { env, seconds: 120 }));
  await certificates(folder);
  const args = [
    "--no-defaults",
    `--user=${user}`,
    `--datadir=${data}`,
    `--port=${port}`,
    "--bind-address=127.0.0.1",
    `--socket=${socket}`,
    `--pid-file=${join(folder, "pid")}`,
    `--ssl-ca=${join(folder, "ca.pem")}`,
    `--ssl-cert=${join(folder, "server.crt")}`,
    `--ssl-key=${join(folder, "server.key")}`,
    "--max-allowed-packet=256M",
    "--innodb-flush-log-at-trx-commit=0",
    ...more,
  ];
  const child = spawn("mariadbd", args, { env: { ...process.env, ...env }, stdio: "ignore" });
  const ended = new Promise((resolve) => {
    child.on("close", resolve);
  });
  const sql = (text) =>
    command("mariadb", ["--no-defaults", "-uroot", `--socket=${socket}`, "-e", text], { env });
  await ready(sql, child);
  expectCode(
    await sql(
      "DELETE FROM mysql.global_priv WHERE User=''; FLUSH PRIVILEGES; CREATE DATABASE demo; CREATE DATABASE other;" +
        "CREATE USER gateway IDENTIFIED BY 'gateway-secret'; GRANT ALL ON demo.* TO gateway; GRANT ALL ON other.* TO gateway;" +
        `GRANT PROCESS ON *.* TO gateway;${statements}`,
    ),
  );
  return {
    port,
    caFile: join(folder, "ca.pem"),
    stop: async () => {
      child.kill("SIGKILL");
      await ended;
      await rm(folder, { recursive: true, force: true });
    },
  };
}

async function ready(sql, child) {
  for (let tries = 0; tries < startTries && child.exitCode === null; tries += 1) {
    if ((await sql("select 1")).code === 0) return;
    await new Promise((resolve) => {
      setTimeout(resolve, 100);
    });
  }
  throw new Error("mariadbd did not start");
}

/** An authority, and a certificate for localhost under it. */
async function certificates(folder) {
  const openssl = (...args) =>
    command("openssl", args, { cwd: folder }).then((result) => expectCode(result));
  await openssl(
    "req",
    "-x509",
    "-newkey",
    "rsa:2048",
    "-nodes",
    "-days",
    "2",
    "-subj",
    "/CN=authority",
    "-keyout",
    "ca.key",
    "-out",
    "ca.pem",
  );
  await openssl(
    "req",
    "-newkey",
    "rsa:2048",
    "-nodes",
    "-subj",
    "/CN=localhost",
    "-addext",
    "subjectAltName=DNS:localhost",
    "-keyout",
    "server.key",
    "-out",
    "server.csr",
  );
  await openssl(
    "x509",
    "-req",
    "-in",
    "server.csr",
    "-CA",
    "ca.pem",
    "-CAkey",
    "ca.key",
    "-CAcreateserial",
    "-days",
    "2",
    "-copy_extensions",
    "copy",
    "-out",
    "server.crt",
  );
}

function freePort() {
  return new Promise((resolve, reject) => {
    const server = createServer();
    server.on("error", reject);
    server.listen(0, "127.0.0.1", () => {
      const { port } = server.address();
      server.close(() => resolve(port));
    });
  });
}
