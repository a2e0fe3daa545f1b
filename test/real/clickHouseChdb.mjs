/**
 * ClickHouse's HTTP interface over chdb, the embedded engine: real parser, real functions, real
 * formats. Not the real server: the login is decided here, and nothing can be cancelled.
 *
 * Usage: node clickHouseChdb.mjs PORT DATA_FOLDER FOLDER_WITH_NODE_MODULES
 */
import { createServer } from "node:http";
import { createRequire } from "node:module";

const [port, data, modules] = process.argv.slice(2);
const { Session } = createRequire(`${modules}/`)("chdb");
const engine = new Session(data);
const login = `Basic ${Buffer.from("gateway:gateway-secret").toString("base64")}`;

// As ClickHouse maps exception codes to statuses. Everything else is 500.
const statusOf = { 62: 400, 497: 403, 516: 403, 60: 404, 81: 404, 47: 404, 159: 408, 344: 501 };

async function answer(request, response) {
  const url = new URL(request.url, "http://localhost");
  response.setHeader("X-ClickHouse-Query-Id", url.searchParams.get("query_id") ?? "none");
  if (url.pathname === "/ping") return response.end("Ok.\n");
  const chunks = [];
  for await (const chunk of request) chunks.push(chunk);
  if (request.headers.authorization !== login) {
    throw new Error(
      "Code: 516. DB::Exception: gateway: Authentication failed. (AUTHENTICATION_FAILED)",
    );
  }
  // The field is the start of the text, and the body its rest.
  const start = url.searchParams.get("query");
  const sql = (start === null ? "" : `${start}\n`) + Buffer.concat(chunks).toString();
  // A FORMAT clause in the text wins over the parameter.
  const inText = /\bFORMAT\s+(\w+)\s*;?\s*$/i.exec(sql)?.[1];
  const format = inText ?? url.searchParams.get("default_format") ?? "TabSeparated";
  const binds = {};
  for (const [key, value] of url.searchParams) {
    if (key.startsWith("param_")) binds[key.slice(6)] = unescaped(value);
  }
  const result =
    Object.keys(binds).length > 0
      ? await engine.queryBindAsync(sql, binds, { format })
      : await engine.queryAsync(sql, { format });
  response.setHeader("X-ClickHouse-Format", format);
  response.setHeader("X-ClickHouse-Summary", "{}");
  response.end(Buffer.from(result.bytes()));
}

/** Values travel as fields of tab-separated text; the embedded engine takes them plain. */
function unescaped(text) {
  if (text === "\\N") return null;
  const letters = { t: "\t", n: "\n", r: "\r", 0: "\0" };
  return text.replaceAll(/\\(.)/gs, (_all, letter) => letters[letter] ?? letter);
}

const server = createServer((request, response) => {
  answer(request, response).catch((error) => {
    const code = Number(/Code: (\d+)/.exec(error.message)?.[1] ?? 1002);
    response.statusCode = statusOf[code] ?? 500;
    response.setHeader("X-ClickHouse-Exception-Code", String(code));
    response.end(`${error.message}\n`);
  });
});
// A machine with much to do stops both ends for longer than the usual five seconds; a request on its way then would be lost.
server.keepAliveTimeout = 0;
server.listen(Number(port), "127.0.0.1", () => {
  console.log(`listening ${server.address().port}`);
});
