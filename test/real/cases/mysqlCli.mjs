/** MySQL's own command-line client. Debian packages MariaDB's under the same name; this is Oracle's. */
import { spawn } from "node:child_process";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { command, expectCode, expectMatch, expectText } from "../command.mjs";
import { endlessSql, joinSql, sameJoin, untilRunning } from "../gateway.mjs";
import { installMysql, mysqlClient, startMysql } from "../mysqlServer.mjs";
import { startSecuredGateway } from "../securedGateway.mjs";

const password = { MYSQL_PWD: "alice-secret" };
const bigSeconds = 60;

/** True, or why it can not run. */
export const findMysqlCli = () => installMysql();

/** Runs the client against a port of this machine. */
async function mysqlAt(port, args, options = {}) {
  const client = await mysqlClient();
  const all = [...client.args, "-P", `${port}`, "-u", "alice", ...args];
  return await command(client.program, all, options);
}

const mysql = (gateway, args, options) => mysqlAt(gateway.ports.mysql, args, options);

/** Types lines into the client on a terminal; answers what the terminal shows. */
async function typed(port, args, lines) {
  const client = await mysqlClient();
  const words = [client.program, ...client.args, "-P", `${port}`, "-u", "alice", ...args];
  const text = words.map((word) => `'${word}'`).join(" ");
  const env = { TERM: "dumb", HOME: tmpdir(), MYSQL_HISTFILE: "/dev/null", ...password };
  const input = lines.map((line) => `${line}\n`).join("");
  const result = await command("script", ["-qec", text, "/dev/null"], { env, input });
  return expectCode(result).stdout.replaceAll("\r", "");
}

async function secured(run) {
  const gateway = await startSecuredGateway();
  try {
    await run(gateway.ports.mysqlWire, gateway.caFile);
  } finally {
    await gateway.stop();
  }
}

const cipherSql = ["-N", "-B", "-e", "show status like 'ssl_cipher'"];
const rsa = ["--ssl-mode=DISABLED", "--get-server-public-key"];

async function refused(port, args) {
  const result = await mysqlAt(port, [...args, "-e", "select 1"], { env: { MYSQL_PWD: "wrong" } });
  expectMatch(expectCode(result, 1).stderr, /ERROR 1045 \(28000\)/);
}

const login = {
  "caching_sha2_password over TLS, with the certificate checked": () =>
    secured(async (port, caFile) => {
      const args = ["--ssl-mode=VERIFY_IDENTITY", `--ssl-ca=${caFile}`];
      const result = expectCode(await mysqlAt(port, [...args, ...cipherSql], { env: password }));
      expectMatch(result.stdout, /^Ssl_cipher\tTLS_/);
      await refused(port, args);
    }),
  "caching_sha2_password without TLS, by the server's RSA key": () =>
    secured(async (port) => {
      const result = expectCode(await mysqlAt(port, [...rsa, ...cipherSql], { env: password }));
      expectText(result.stdout, "Ssl_cipher");
      await refused(port, rsa);
      const keyless = ["--ssl-mode=DISABLED", "-e", "select 1"];
      const without = await mysqlAt(port, keyless, { env: password });
      expectMatch(expectCode(without, 1).stderr, /ERROR 2061 .*requires secure connection/);
    }),
  "clients of other plugins are asked to switch": () =>
    secured(async (port) => {
      const env = password;
      const clear = ["--enable-cleartext-plugin", "--default-auth=mysql_clear_password"];
      expectCode(await mysqlAt(port, [...clear, "-e", "select 1"], { env }));
      const native = ["--default-auth=mysql_native_password"];
      expectCode(await mysqlAt(port, [...native, "-e", "select 1"], { env }));
    }),
};

const statements = {
  "a join over the sample": async (gateway) => {
    const result = expectCode(await mysql(gateway, ["-N", "-B", "-e", joinSql]));
    sameJoin(result.stdout.replaceAll("\t", ","));
  },
  "several statements and a NULL, plain and compressed": async (gateway) => {
    for (const more of [[], ["--compress"], ["--compression-algorithms=zlib"]]) {
      const args = [...more, "-N", "-B", "-e", "select 1; select null, 'x'"];
      expectText(expectCode(await mysql(gateway, args)).stdout, "1\nNULL\tx");
    }
  },
  "an error has its number and SQLSTATE": async (gateway) => {
    const result = await mysql(gateway, ["-e", "select * from no_such_table"]);
    expectMatch(expectCode(result, 1).stderr, /ERROR 1146 \(42S02\)/);
  },
  "a database that does not exist is refused": async (gateway) => {
    const result = await mysql(gateway, ["no_such_database", "-e", "select 1"]);
    expectMatch(expectCode(result, 1).stderr, /ERROR 1049 \(42000\)/);
  },
  "what it asks first is answered": async (gateway) => {
    const asked = "select @@version_comment limit 1; show databases; show tables";
    expectCode(await mysql(gateway, ["main", "-e", asked]));
    expectMatch((await mysql(gateway, ["-e", "select $$"])).stderr, /ERROR 1064 \(42000\)/);
    const status = ["--commands", "-e", "status"];
    expectMatch(expectCode(await mysql(gateway, status)).stdout, /Current user:/);
  },
  "zstd is used where the gateway's runtime has it, and refused by the client where not": async (
    gateway,
  ) => {
    const args = (algorithms) => [
      `--compression-algorithms=${algorithms}`,
      "-N",
      "-B",
      "-e",
      "show status like 'Compression'",
    ];
    const alone = await mysql(gateway, args("zstd"));
    if (alone.code !== 0) {
      expectMatch(alone.stderr, /ERROR 2066 \(HY000\)/);
      const plain = expectCode(await mysql(gateway, args("zstd,uncompressed")));
      expectText(plain.stdout, "Compression\tOFF");
    }
    const either = expectCode(await mysql(gateway, args("zstd,zlib")));
    expectText(either.stdout, "Compression\tON");
  },
  "hundreds of thousands of rows, and a cell over 16 MB, plain and compressed": async (gateway) => {
    for (const algorithm of ["uncompressed", "zlib"]) {
      const args = [`--compression-algorithms=${algorithm}`, "--quick", "-N", "-B", "-e"];
      const sql = "select i, repeat('x', 60) from range(300000) t(i) order by i";
      const many = expectCode(await mysql(gateway, [...args, sql], { seconds: bigSeconds }));
      const lines = many.stdout.trimEnd().split("\n");
      if (lines.length !== 300_000) throw new Error(`${lines.length} rows`);
      expectText(lines.at(-1), `299999\t${"x".repeat(60)}`);
      const cell = ["--max-allowed-packet=64M", ...args, "select repeat('a', 20000000)"];
      const wide = expectCode(await mysql(gateway, cell, { seconds: bigSeconds }));
      if (wide.stdout.length !== 20_000_001) throw new Error(`${wide.stdout.length} characters`);
    }
  },
  "source runs a file of statements": async (gateway) => {
    const folder = await mkdtemp(join(tmpdir(), "gateway-source-"));
    const file = join(folder, "some.sql");
    await writeFile(file, "select 1;\ndelimiter //\nselect 2;\nselect 3//\n");
    const result = await mysql(gateway, ["--commands", "-N", "-B", "-e", `source ${file}`]);
    await rm(folder, { recursive: true });
    expectText(expectCode(result).stdout, "1\n2\n3");
  },
};

const terminal = {
  "tab completes names of tables and columns": async (gateway) => {
    const lines = [
      "select max(countr\t) > '' as c from customers;",
      "select 7 from line_it\t limit 1;",
    ];
    const shown = await typed(gateway.ports.mysql, ["main"], [...lines, "exit"]);
    expectMatch(shown, /max\(country *\) > '' as c from customers/);
    expectMatch(shown, /select 7 from line_items *limit 1/);
    expectMatch(shown, /\| +7 \|/);
  },
  "Ctrl-C ends the query by KILL QUERY, and the session goes on": async (gateway) => {
    const client = await mysqlClient();
    const more = ["-P", gateway.ports.mysql, "-u", "alice", "--force", "-N", "-B"];
    const child = spawn(client.program, [...client.args, ...more], { stdio: "pipe" });
    child.stdin.end(`${endlessSql};\nselect 'still here';\n`);
    let text = "";
    child.stdout.on("data", (chunk) => (text += chunk));
    child.stderr.on("data", (chunk) => (text += chunk));
    const ended = new Promise((resolve) => {
      child.on("close", resolve);
    });
    await untilRunning(gateway, 1, 10);
    child.kill("SIGINT");
    await untilRunning(gateway, 0, 2);
    await ended;
    expectMatch(text, /\^C -- query aborted/);
    expectMatch(text, /ERROR 1317 \(70100\)/);
    expectMatch(text, /still here/);
  },
  "killing the client ends its query in the engine within two seconds": async (gateway) => {
    const client = await mysqlClient();
    const more = ["-P", gateway.ports.mysql, "-u", "alice", "-e", endlessSql];
    const child = spawn(client.program, [...client.args, ...more], { stdio: "ignore" });
    await untilRunning(gateway, 1, 10);
    child.kill("SIGKILL");
    await untilRunning(gateway, 0, 2);
  },
};

export const mysqlCliCases = {
  tool: "mysqlCli",
  cases: { ...login, ...statements, ...terminal, "shows what a MySQL server shows": likeMysql },
};

/** Outputs of the client that do not depend on the engine's SQL. */
const alike = [
  ["-N", "-B", "-e", "select 1; select null, 'ä漢😀', 'tab\tline\\\\n'"],
  ["--table", "-e", "select 'ä漢😀' as c, null as n"],
  ["--vertical", "-e", "select 'ä' as c, null as n"],
  ["--html", "-e", "select '<&>' as c, null as n"],
  ["--xml", "-e", "select '<&>' as c, null as n"],
  ["--binary-as-hex", "-e", "select cast('ab' as binary) as b, 'x' as t"],
  ["--default-character-set=latin1", "-N", "-e", "select @@character_set_client"],
  ["-e", "show status like 'Compression'"],
  ["--compression-algorithms=zlib", "-e", "show status like 'Compression_algorithm'"],
  ["--force", "-N", "-e", "select 1; select 2 from no_such_table; select 3"],
  ["--local-infile", "-e", "load data local infile '/etc/hostname' into table t"],
  ["--init-command=set @a = 'set'", "-N", "-e", "select @a"],
  ["--comments", "-N", "-e", "select /* in */ 1 -- behind\n, /*!80000 2, */ 3"],
  ["--show-warnings", "-N", "-e", "select 1"],
];

/** The same conversations with a real server; what is the server's own is taken out of both. */
async function likeMysql(gateway) {
  const server = await startMysql();
  try {
    for (const args of alike) {
      const ours = await mysqlAt(gateway.ports.mysql, ["main", ...args]);
      const theirs = await mysqlAt(server.port, ["demo", ...args], { env: password });
      expectText(shapeOf(ours), shapeOf(theirs));
    }
    for (const lines of conversations) {
      const [ours, theirs] = await Promise.all([
        typed(gateway.ports.mysql, ["main", "--commands"], lines("main")),
        typed(server.port, ["demo", "--commands"], lines("demo")),
      ]);
      expectText(shownOf(ours, "main"), shownOf(theirs, "demo"));
    }
  } finally {
    await server.stop();
  }
}

const conversations = [
  (database) => [
    "select 'letters' as c, cast('ab' as binary) as b;",
    "delimiter //",
    "select 'first' as one; select 'second' as two//",
    "delimiter ;",
    "use information_schema",
    "select 'there' as c\\G",
    `use ${database}`,
    "\\W",
    "\\P cat",
    "prompt here> ",
    "select 'x' as none where 1 = 0;",
    "exit",
  ],
  (database) => [`\\u ${database}`, "\\C utf8mb4", "\\x", "select 'letters' as c;", "\\s"],
];

function shapeOf({ code, stdout, stderr }) {
  return `${code}\n${stdout}\n${stderr}`
    .replaceAll(/(ERROR \d+ \(\w+\)).*/g, "$1")
    .replaceAll(/^Did you mean.*\n/gm, "")
    .replaceAll(/^(?:WARNING: |Query id: ).*\n/gm, "");
}

function shownOf(text, database) {
  const [, ...shown] = text.split("mysql> ");
  return shown
    .join("mysql> ")
    .replaceAll(/^Query id: .*\n/gm, "")
    .replaceAll(/^Reading table information .*\n.*-A\n\n/gm, "")
    .replaceAll(/\d+\.\d+ sec/g, "0 sec")
    .replaceAll(database, "DATABASE")
    .replaceAll(
      /^(Connection id|Current user|SSL|Server version|TCP port|Uptime|Threads):.*$/gm,
      "$1:",
    );
}
