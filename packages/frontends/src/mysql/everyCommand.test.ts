/** The command phase as a table: every command byte, with and without a body, in every state of a session. */
import { noModes } from "@gateway/core/sql/session/statement.ts";
import type { Pin } from "@gateway/core/query/pin.ts";
import { columnOf } from "@gateway/core/type/build.ts";
import { commandCode } from "@gateway/wire/mysql/protocol.ts";
import { describe, expect, it } from "vitest";
import { doneOf, resultOf, serverOf, type OpenServer } from "./rig/mysql.ts";
import { ascii, RawClient } from "./rig/raw.ts";

const columns = [columnOf("a", { kind: "integer", bits: 8, signed: true } as const)];
const pin: Pin = { cluster: "c", group: "g", state: "open", end: async () => undefined };

/** How a session comes into the state, with the packets that answers. */
const states = {
  "right after the login": [],
  "in a transaction": [[ascii("\u0003begin"), 1]],
  "with a prepared statement": [[ascii("\u0016select a"), 2]],
  "with an open cursor": [
    [ascii("\u0016select a"), 2],
    ["17010000000101000000", 3],
  ],
  "with values sent ahead": [
    [ascii("\u0016select ?"), 3],
    [`180100000000006162`, 0],
  ],
  "after an error": [[ascii("\u0003nonsense"), 1]],
} as const satisfies Record<string, readonly (readonly [string, number])[]>;

/** What comes behind the command byte. */
const bodies = ["", "01000000", "010000000100000001000000", "00".repeat(20), "ff".repeat(20)];

/** Packets of COM_PROCESS_INFO's answer: a count, eight columns, a row, an end. */
const longestAnswer = 11;

/** Closes the connection, or begins a login. */
const leaving: readonly number[] = [commandCode.quit, commandCode.changeUser];

describe("a session", () => {
  it.each(Object.entries(states))("%s answers every command and lives on", async (_name, steps) => {
    await using server = await serverWith();
    for (const body of bodies) {
      using client = await entered(server, steps);
      for (let code = 0; code < 256; code += 1) {
        if (leaving.includes(code)) continue;
        client.send(code.toString(16).padStart(2, "0") + body, "09");
        expect(await untilStatistics(client)).toBeLessThanOrEqual(longestAnswer);
      }
    }
    expect(server.bugs()).toEqual([]);
  });

  it.each(Object.entries(states))("%s ends when the client quits", async (_name, steps) => {
    await using server = await serverWith();
    using client = await entered(server, steps);
    client.send("01");
    await client.closed;
    expect(server.bugs()).toEqual([]);
  });
});

function serverWith(): Promise<OpenServer> {
  const description = { parameters: [], columns };
  return serverOf({
    answers: {
      begin: [{ kind: "session", change: { kind: "pinned", modes: noModes, pin } }, doneOf()],
      "select a": resultOf(columns, [[1n]]),
    },
    descriptions: {
      "select a": description,
      "select $1": { ...description, parameters: [{ kind: "text" }] },
    },
  });
}

async function entered(
  server: OpenServer,
  steps: readonly (readonly [string, number])[],
): Promise<RawClient> {
  const client = await RawClient.login(server);
  for (const [command, answers] of steps) {
    client.send(command);
    await client.answers(answers);
  }
  return client;
}

/** Packets before the line that COM_STATISTICS answers with; fails when the connection closes instead. */
async function untilStatistics(client: RawClient): Promise<number> {
  for (let packets = 0; ; packets += 1) {
    const text = Buffer.from(await client.answer(), "hex").toString("latin1");
    if (text.startsWith("Uptime")) return packets;
  }
}
