/** Oracle's MySQL as Debian's unstable release packages it: the client, and a server of one's own. */
import { spawn } from "node:child_process";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir, userInfo } from "node:os";
import { join } from "node:path";
import { command, expectCode } from "./command.mjs";
import { newerFolder, newerProgram, unpackNewer } from "./newerDebian.mjs";
import { freePort } from "./trinoServer.mjs";

const folder = "mysql";
const startTries = 300;

/** True, or the reason why they can not be had. */
export function installMysql() {
  return unpackNewer(folder, ["mysql-client", "mysql-server-core"]);
}

/** How the client runs: `{program, args}`, the arguments up to the first that says where to. */
export async function mysqlClient() {
  const { program, args } = await newerProgram(folder, "bin/mysql");
  return { program, args: [...args, "--no-defaults", "-h", "127.0.0.1"] };
}

/**
 * Starts a server with the account alice, whose password is alice-secret, and her database demo; `more` are further
 * arguments of the server. Answers `{port, stop}`.
 */
export async function startMysql({ more = [] } = {}) {
  const place = await mkdtemp(join(tmpdir(), "gateway-mysql-"));
  const { program, args } = await newerProgram(folder, "sbin/mysqld");
  const usr = newerFolder(folder);
  const data = `--datadir=${join(place, "data")}`;
  const common = [
    ...args,
    "--no-defaults",
    `--user=${userInfo().username}`,
    `--basedir=${usr}`,
    `--lc-messages-dir=${join(usr, "share/mysql")}`,
    `--character-sets-dir=${join(usr, "share/mysql/charsets")}`,
    `--plugin-dir=${join(usr, "lib/mysql/plugin")}`,
    data,
  ];
  const statements = join(place, "init.sql");
  await writeFile(
    statements,
    "CREATE DATABASE demo;\nCREATE USER alice IDENTIFIED BY 'alice-secret';\nGRANT ALL ON demo.* TO alice;\n",
  );
  const init = ["--initialize-insecure", `--init-file=${statements}`];
  expectCode(await command(program, [...common, ...init], { seconds: 120 }));
  const port = await freePort();
  const listen = [
    `--port=${port}`,
    "--bind-address=127.0.0.1",
    `--socket=${join(place, "s")}`,
    `--pid-file=${join(place, "pid")}`,
    "--mysqlx=OFF",
    "--secure-file-priv=NULL",
    ...more,
  ];
  const child = spawn(program, [...common, ...listen], { stdio: "ignore" });
  const ended = new Promise((resolve) => {
    child.on("close", resolve);
  });
  const stop = async () => {
    child.kill("SIGKILL");
    await ended;
    await rm(place, { recursive: true, force: true });
  };
  if (await ready(port, child)) return { port, stop };
  await stop();
  throw new Error("mysqld did not start");
}

async function ready(port, child) {
  const { program, args } = await mysqlClient();
  const env = { MYSQL_PWD: "alice-secret" };
  for (let tries = 0; tries < startTries && child.exitCode === null; tries += 1) {
    const ping = [...args, "-P", `${port}`, "-u", "alice", "-e", "select 1"];
    if ((await command(program, ping, { env })).code === 0) return true;
    await new Promise((resolve) => {
      setTimeout(resolve, 100);
    });
  }
  return false;
}
