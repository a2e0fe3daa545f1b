/** Deep texts in the parser's own thread, whose stack is what decides. */
import type { TranslateInput } from "@gateway/core/port/sql/sqlWork.ts";
import { workerThreads } from "@gateway/gateway/host/process/threads.ts";
import { expect, it } from "vitest";
import type { SqlMessage, SqlReply } from "./message.ts";

const bundle = new URL("../../../gateway/dist/", import.meta.url);
/** After so many texts the parser's code is compiled for speed, and takes more of the stack for a level. */
const textsBefore = 2_000;

it("follows a text to some hundred levels, also after many others, and no further", async () => {
  const thread = workerThreads(bundle).start("sql", undefined);
  let told: (reply: SqlReply) => void = () => {};
  thread.onMessage((reply) => told(reply as SqlReply));
  const next = (): Promise<SqlReply> =>
    new Promise((resolve) => {
      told = resolve;
    });
  const kindOf = async (sql: string) => {
    const common = { source: "trino", target: "duckdb", refuses: false, proves: false } as const;
    const input: TranslateInput = { sql, ...common };
    const reply = next();
    thread.post({ task: "translate", input } satisfies SqlMessage);
    return await reply;
  };
  try {
    await next();
    for (let count = 0; count < textsBefore; count += 1) {
      await kindOf(`SELECT a, (b + ${count}) * 2 FROM t WHERE x IN (SELECT y FROM u WHERE z > 1)`);
    }
    expect(await kindOf(nested(300))).toMatchObject({ output: { kind: "translated" } });
    expect(await kindOf(nested(60_000))).toMatchObject({ output: { kind: "unread" } });
    expect(await kindOf(nested(300))).toMatchObject({ output: { kind: "translated" } });
  } finally {
    await thread.terminate();
  }
});

function nested(levels: number): string {
  return `SELECT ${"(".repeat(levels)}1${")".repeat(levels)}`;
}
