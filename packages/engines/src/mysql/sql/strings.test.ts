/** Sessions under NO_BACKSLASH_ESCAPES: their connections read texts as they do, and nobody else's. */
import type { Backend } from "@gateway/core/port/backend.ts";
import { Home } from "@gateway/core/query/home.ts";
import { beforeEach, describe, expect, it } from "vitest";
import { hostOf, identifiedOf, never, valueOf } from "../../rig/backend.ts";
import { open } from "../adapter.ts";
import { mysqlConfig } from "../config.ts";
import { errorOf, ScriptedMysql } from "../rig/scripted.ts";

const plain = "NO_BACKSLASH_ESCAPES,STRICT_TRANS_TABLES";
const setsPlain = `SET SESSION \`sql_mode\` = '${plain}'`;
/** What a client under the mode wrote as `'a\'`. */
const text = "select 'a\\\\' from t";

let refuses: string | undefined;
beforeEach(() => {
  refuses = undefined;
});

async function standOf(): Promise<
  AsyncDisposable & { readonly server: ScriptedMysql; readonly backend: Backend }
> {
  const server = await ScriptedMysql.start((seen) =>
    refuses !== undefined && seen.text.includes(refuses)
      ? [errorOf(1231, "42000", "no")]
      : undefined,
  );
  const config = mysqlConfig.parse({
    engine: "mysql",
    hosts: [`127.0.0.1:${server.port}`],
    auth: { type: "basic", username: "ann", password: "none" },
    poolSize: 1,
  });
  const backend = valueOf(await open("c", config, hostOf()));
  return {
    server,
    backend,
    [Symbol.asyncDispose]: async () => {
      await backend[Symbol.asyncDispose]();
      await server[Symbol.asyncDispose]();
    },
  };
}

async function asked(
  backend: Backend,
  sql: string,
  settings: Readonly<Record<string, string>> = {},
  frontend = "mysqlWire",
): Promise<string | undefined> {
  const session = { frontend, dialect: "mysql", settings: new Map(Object.entries(settings)) };
  const mysql =
    frontend === "mysqlWire"
      ? { home: new Home(), foundRows: false, ignoreSpace: false }
      : undefined;
  const query = { ...identifiedOf(sql, [], session as never), ...(mysql && { mysql }) };
  let last: string | undefined;
  for await (const event of backend.execute(query, never))
    last = event.kind === "failed" ? event.error.code : event.kind;
  return last;
}

const sentBy = (server: ScriptedMysql) =>
  server.seen.map(({ text: sent }) => sent).filter((sent) => /'a|sql_mode. =/.test(sent));

describe("a session under NO_BACKSLASH_ESCAPES", () => {
  it("has its text sent as its client wrote it, on a connection under the mode", async () => {
    await using stand = await standOf();
    expect(await asked(stand.backend, text, { sql_mode: plain })).toBe("done");
    expect(sentBy(stand.server)).toEqual([setsPlain, "select 'a\\' from t"]);
  });

  it("leaves no connection under it to the next session", async () => {
    await using stand = await standOf();
    await asked(stand.backend, text, { sql_mode: plain });
    expect(await asked(stand.backend, text)).toBe("done");
    const sent = stand.server.seen.map(({ code, text: one }) => (one === "" ? code : one));
    const own = sent.indexOf("select 'a\\' from t");
    const other = sent.indexOf(text);
    expect(own).toBeGreaterThan(-1);
    expect(sent.slice(own, other)).toContain(0x1f);
  });

  it("leaves none where a variable behind the mode is refused", async () => {
    await using stand = await standOf();
    refuses = "`b`";
    expect(await asked(stand.backend, text, { sql_mode: plain, b: "x" })).toBe("query.invalid");
    expect(await asked(stand.backend, text)).toBe("done");
    const sent = stand.server.seen.map(({ code, text: one }) => (one === "" ? code : one));
    expect(sent.slice(sent.indexOf(setsPlain), sent.indexOf(text))).toContain(0x1f);
  });

  it("sets the mode by SET, and is told of a text that can not be written so", async () => {
    await using stand = await standOf();
    expect(await asked(stand.backend, `set sql_mode = '${plain}'`)).toBe("done");
    expect(sentBy(stand.server)).toEqual([setsPlain]);
    const hex = "select x'\\n' from t";
    expect(await asked(stand.backend, hex, { sql_mode: plain })).toBe("query.unsupported");
  });

  it("is nothing to a client of another protocol", async () => {
    await using stand = await standOf();
    expect(await asked(stand.backend, text, { sql_mode: plain }, "trinoHttp")).toBe("done");
    expect(sentBy(stand.server)).toEqual([text]);
  });
});
