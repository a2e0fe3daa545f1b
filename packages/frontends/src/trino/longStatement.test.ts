/** Statements that are long enough to be decoded and read in slices. */
import type { Slices } from "@gateway/core/port/host.ts";
import { describe, expect, it } from "vitest";
import { longTexts } from "../listener/longTexts.ts";
import { opened, rowsOf } from "./rig/server.ts";
import { numbers, resultOf } from "./rig/trino.ts";

const java = { "user-agent": "StatementClientV1/476" };

describe("a long statement", () => {
  it("goes on as it was sent, wherever slices end", async () => {
    for (const lead of ["", "a", "ab", "abc"]) {
      const sql = `SELECT '${lead}${"😀".repeat(50_000)}'`;
      const server = await opened({ answers: { [sql]: resultOf(numbers, [[1n]]) } });
      expect(rowsOf(await server.follow(sql, java))).toEqual([[1]]);
    }
  });

  it("is a query that failed where too many wait, and nothing of it is decoded", async () => {
    const server = await opened({ answers: {} });
    let end = (): void => undefined;
    const ended = new Promise<undefined>((resolve) => {
      end = () => resolve(undefined);
    });
    const room = new Uint8Array(64 * 1024 * 1024);
    const who = { user: "bob", client: { over: false } };
    const busy = { run: () => ended } as unknown as Slices;
    const waiting = longTexts.decode(room, () => "", who, busy);
    try {
      const answers = await server.follow(`SELECT '${"a".repeat(100_000)}'`, java);
      expect(answers.at(-1)?.results.error).toMatchObject({
        errorName: "GENERIC_INSUFFICIENT_RESOURCES",
      });
      expect(server.door.queries).toEqual([]);
    } finally {
      end();
      await waiting;
    }
    expect(longTexts.units).toBe(0);
  });
});
