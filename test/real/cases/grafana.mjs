/**
 * What Grafana asks of a MySQL, a PostgreSQL and a Trino, direct and through the gateway before each: the statements
 * of `grafanaStatements.mjs`, sent by the drivers that its data sources have, and with their options.
 */
import { copyFile, mkdir } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { command, expectCode } from "../command.mjs";
import { goModule } from "../goModule.mjs";
import { mysqlStatements, postgresStatements, trinoStatements } from "../grafanaStatements.mjs";
import { ask } from "../trinoPair.mjs";
import { driver as mysqlDriver } from "./goMysql.mjs";
import { driver as postgresDriver } from "./goPgx.mjs";

/** The programs, once they were built. */
const built = {};
let installed;

/** True, or why they can not run. They are built once. */
export function installGrafana() {
  installed ??= buildBoth();
  return installed;
}

/** A program is built in its driver's module, whose packages it has. */
async function buildBoth() {
  const sources = {
    mysql: [mysqlDriver, "grafanaMysql.go"],
    postgres: [postgresDriver, "grafanaPostgres.go"],
  };
  for (const [name, [driver, source]] of Object.entries(sources)) {
    const { folder, reason } = await goModule(driver);
    if (folder === undefined) return reason;
    const at = join(folder, "grafana");
    await mkdir(at);
    await copyFile(fileURLToPath(new URL(source, import.meta.url)), join(at, "main.go"));
    const made = await command("go", ["build", "-o", "asks", "."], { cwd: at, seconds: 240 });
    if (made.code !== 0) return `go build failed: ${made.stderr.slice(0, 200)}`;
    built[name] = join(at, "asks");
  }
  return true;
}

/** What a program is told of each statement, as text by statement. */
async function told(name, args, statements) {
  const lines = statements.map((one) =>
    JSON.stringify(typeof one === "string" ? { sql: one } : one),
  );
  const asked = await command(built[name], args, {
    input: `${lines.join("\n")}\n`,
    env: { TZ: "UTC" },
  });
  const answers = expectCode(asked).stdout.trimEnd().split("\n");
  if (answers.length !== lines.length)
    throw new Error(`${answers.length} answers: ${asked.stdout}`);
  return new Map(lines.map((line, at) => [line, answers[at].replaceAll(/ \(query \w+\)/g, "")]));
}

/** What differs without a reason. Of `meant`, each says of which statements it is, and what is then left out of both answers. */
function differences(direct, through, meant) {
  const found = [];
  for (const [statement, one] of direct) {
    const other = through.get(statement);
    const left = (text, { without }) => text.replaceAll(without, "");
    const explains = (reason) =>
      reason.of.test(statement) && left(one, reason) === left(other, reason);
    if (one === other || meant.some(explains)) continue;
    found.push(`${statement}\n  direct  ${one}\n  through ${other}`);
  }
  return found.join("\n");
}

/** In the gateway's time zone and in one that the data source names. */
export async function differencesOfGrafanaMysql(direct, through) {
  const found = [];
  for (const zone of ["", "&time_zone=%27%2B02%3A00%27"]) {
    const to = ({ port, user, password = "" }) => [
      `${user}:${password}@tcp(127.0.0.1:${port})/demo`,
      zone,
    ];
    const [one, other] = [
      await told("mysql", to(direct), mysqlStatements),
      await told("mysql", to(through), mysqlStatements),
    ];
    found.push(differences(one, other, []));
  }
  return found.join("\n").trim();
}

const postgresMeant = [
  {
    why: "the catalog is answered by an embedded PostgreSQL, and the version with it",
    of: /server_version_num/,
    without: /'\d{4}'/g,
  },
  {
    why: "the engine's driver knows texts, numbers with as many digits as they like and JSON without more of their types",
    of: /./,
    without: /\b(?:numeric|varchar|bpchar|text|jsonb?) -1 -?\d+ \d/g,
  },
];

export async function differencesOfGrafanaPostgres(direct, through) {
  const to = ({ port, user, database }) => [
    `user='${user}' password='any' host='127.0.0.1' dbname='${database}' port=${port} sslmode='disable'`,
  ];
  const one = await told("postgres", to(direct), postgresStatements);
  const other = await told("postgres", to(through), postgresStatements);
  return differences(one, other, postgresMeant);
}

/** As trino-go-client sends them for the plugin. */
const headers = { "x-trino-source": "grafana", "x-trino-client-tags": "tag1,tag2" };

export async function differencesOfGrafanaTrino(direct, through) {
  const answers = async (url) => {
    const all = new Map();
    for (const sql of trinoStatements) {
      const { error, ...answer } = await ask(url, sql, { headers });
      const { errorCode, errorName, errorLocation, message = "" } = error ?? {};
      const said = {
        errorCode,
        errorName,
        errorLocation,
        message: message.replace(/ \(query \w+\)/, ""),
      };
      all.set(sql, JSON.stringify({ ...answer, ...said }));
    }
    return all;
  };
  return differences(await answers(direct), await answers(through), []);
}
