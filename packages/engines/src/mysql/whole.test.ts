/** A result that is there at once is told as one that is read packet by packet. */
import { answerOf } from "@gateway/core/query/course.ts";
import type { ResultEvent } from "@gateway/core/query/event.ts";
import { Home } from "@gateway/core/query/home.ts";
import { commandCode } from "@gateway/wire/mysql/protocol.ts";
import { describe, expect, it } from "vitest";
import { hostOf, identifiedOf, never, valueOf } from "../rig/backend.ts";
import { open } from "./adapter.ts";
import { mysqlConfig } from "./config.ts";
import { columnOf, eofOf, errorOf, okOf, ScriptedMysql, status } from "./rig/scripted.ts";

const [n, m] = [columnOf("n"), columnOf("m")];
const [row, nulls] = [Uint8Array.of(1, 0x37, 1, 0x38), Uint8Array.of(0xfb, 0xfb)];
const columns = [Uint8Array.of(2), n, m, eofOf()];
const more = eofOf(status.autocommit | status.more);

describe("a result that is there at once", () => {
  it.each([
    ["rows", 1, [...columns, row, nulls, eofOf(status.autocommit)]],
    ["no rows", 1, [...columns, eofOf()]],
    ["an open transaction behind it", 1, [...columns, row, eofOf(status.transaction)]],
    ["an error", 0, [errorOf(1064, "42000")]],
    ["an error behind a row", 0, [...columns, row, errorOf(1317, "70100")]],
    ["no result", 0, [okOf({})]],
    ["two results", 0, [...columns, row, more, ...columns, row, eofOf()]],
    ["a second result without rows", 0, [...columns, row, more, okOf({})]],
  ] as const)("with %s is told as one in packets", async (_what, wholes, payloads) => {
    const whole = await told(payloads, true);
    const { events } = await told(payloads, false);
    expect(whole.events).toEqual(events);
    expect(whole.wholes).toBe(wholes);
  });

  it("is left to the reader of packets where it lies", async () => {
    const packets = packetsOf([...columns, row, eofOf()]);
    for (let at = 0; at < packets.length; at += 3) {
      const raw = packets.slice();
      raw[at] = (raw[at] ?? 0) ^ 0x81;
      const [whole, read] = [await told(raw, true), await told(raw, false)];
      expect(whole.events).toEqual(read.events);
    }
  });
});

async function told(answer: readonly Uint8Array[] | Uint8Array, whole: boolean) {
  await using server = await ScriptedMysql.start(({ code, tagged }) => {
    if (code !== commandCode.query || !tagged) return undefined;
    return answer instanceof Uint8Array ? { raw: answer, close: true } : answer;
  });
  const auth = { type: "basic", username: "ann", password: "none" } as const;
  const config = mysqlConfig.parse({
    engine: "mysql",
    hosts: [`127.0.0.1:${server.port}`],
    auth,
  });
  await using backend = valueOf(await open("c", config, hostOf()));
  await using home = new Home();
  const own = { frontend: "mysqlWire", dialect: "mysql" } as const;
  const mysql = { home, foundRows: false, ignoreSpace: false };
  const query = { ...identifiedOf("select n, m from t", [], own), mysql };
  if (backend.course === undefined) throw new Error("the engine has courses");
  const course = backend.course({ ...query, takes: ["mysqlRows"] }, never, whole);
  const events: object[] = [];
  let wholes = 0;
  let rows = "";
  for await (const event of (await answerOf(course)) as AsyncIterable<ResultEvent>) {
    // How many pieces rows come in is the network's to say.
    if (event.kind === "batch" && event.batch.form === "native" && event.batch.rows > 0)
      rows += hexOf(event.batch.bytes);
    else if (event.kind === "done") {
      const { stats, whole: came, ...rest } = event;
      if (came !== undefined) wholes += 1;
      events.push({ ...rest, stats: { ...stats, executionMs: 0 }, rows });
    } else if (event.kind === "columns") {
      events.push({ ...event, native: { ...event.native, bytes: hexOf(event.native?.bytes) } });
    } else events.push(event);
  }
  return { events, wholes };
}

function hexOf(bytes: Uint8Array | undefined): string {
  return bytes === undefined ? "" : Buffer.from(bytes).toString("hex");
}

function packetsOf(payloads: readonly Uint8Array[]): Uint8Array {
  return Buffer.concat(
    payloads.flatMap((payload, at) => [Uint8Array.of(payload.length, 0, 0, at + 1), payload]),
  );
}
