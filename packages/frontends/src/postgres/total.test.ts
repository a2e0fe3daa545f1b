import { describe, expect, it } from "vitest";
import { lettersIn, memoryClient } from "./rig/memory.ts";
import {
  bindOf,
  cancelOf,
  closeOf,
  describeOf,
  executeOf,
  flush,
  gssRequest,
  messageOf,
  parseOf,
  queryOf,
  sslRequest,
  startupOf,
  sync,
  textOf,
} from "./rig/rawClient.ts";
import { column, resultOf } from "./rig/served.ts";
import { transactional } from "./rig/transaction.ts";

const script = {
  answers: transactional({ "select 1": resultOf(column("n"), [1n], [2n]) }),
  descriptions: { "select 1": { parameters: [], columns: column("n") } },
};

const start = startupOf({ user: "ann" });
const suspend = [parseOf("", "select 1"), bindOf({ portal: "p" }), executeOf("p", 1)];

/** What brings a connection into each state. */
const states: Readonly<Record<string, readonly Uint8Array[]>> = {
  start: [],
  afterSsl: [sslRequest],
  afterGss: [gssRequest],
  afterBoth: [sslRequest, gssRequest],
  idle: [start],
  extended: [start, parseOf("s", "select 1")],
  skipping: [start, bindOf({ statement: "missing" })],
  suspended: [start, ...suspend],
  transaction: [start, queryOf("BEGIN")],
  suspendedInTransaction: [start, queryOf("BEGIN"), ...suspend, sync],
  failedTransaction: [start, queryOf("BEGIN"), queryOf("broken")],
  closed: [start, messageOf("X")],
};

const messages: Readonly<Record<string, Uint8Array>> = {
  sslRequest,
  gssRequest,
  cancelRequest: cancelOf({ process: 1, secret: Uint8Array.of(1, 2, 3, 4) }),
  startup: start,
  query: queryOf("select 1"),
  emptyQuery: queryOf(""),
  parse: parseOf("", "select 1"),
  bind: bindOf({ portal: "q" }),
  describeStatement: describeOf("S"),
  describePortal: describeOf("P", "p"),
  execute: executeOf("p"),
  close: closeOf("P", "p"),
  flush,
  sync,
  terminate: messageOf("X"),
  functionCall: messageOf("F", Buffer.from("0000000100000000ffff0000", "hex")),
  password: messageOf("p", textOf("x")),
  copyData: messageOf("d", Buffer.from("x")),
  copyDone: messageOf("c"),
  copyFail: messageOf("f", textOf("x")),
  unknown: messageOf("z"),
  badText: queryOf("select 1").map((byte, index) => (index === 7 ? 0xff : byte)),
  tooLong: Buffer.from("517fffffff", "hex"),
};

describe("every message in every state", () => {
  for (const [state, before] of Object.entries(states)) {
    it.each(Object.keys(messages))(
      `${state}: %s is answered, refused or passed over`,
      async (name) => {
        const client = memoryClient(script);
        for (const bytes of before) client.push(bytes);
        await settled();
        const already = client.sent().length;
        client.push(messages[name] ?? sync);
        await settled();
        const open = !client.ended;
        // A connection that is still open gets to its next command.
        const started = before.length > 0 && before[0] === start;
        if (open && started) client.push(sync);
        await settled();
        await client.leave();
        expect(client.host.log.bugs).toEqual([]);
        if (!started) return;
        const letters = lettersIn(client.sent().subarray(already)) ?? "half a message";
        expect(letters).toMatch(open ? /Z$/ : /^[^Z]*$/);
      },
    );
  }
});

async function settled(): Promise<void> {
  for (let turn = 0; turn < 3; turn += 1) {
    await new Promise<void>((resolve) => {
      setImmediate(resolve);
    });
  }
}
