/** A scripted backend with transactions, for the tests of this folder: it tells what it was asked in which order. */
import { noModes } from "@gateway/core/sql/session/statement.ts";
import { gatewayError } from "@gateway/core/error.ts";
import type { ResultEvent, ResultStream } from "@gateway/core/query/event.ts";
import type { Query } from "@gateway/core/query/query.ts";
import type { ScriptedAnswer } from "../../rig/scriptedDoor.ts";
import { pinOf } from "./session.ts";
import { doneOf } from "./served.ts";

/** BEGIN, COMMIT and ROLLBACK over one connection that refuses a second statement while one is open. */
export function transactional(
  answers: Readonly<Record<string, ScriptedAnswer>>,
): Readonly<Record<string, ScriptedAnswer>> {
  const pin = pinOf();
  let busy = false;
  async function* alone(query: Query, events: ResultStream): ResultStream {
    const pinned = query.session.pin !== undefined;
    if (pinned && busy) {
      yield { kind: "failed", error: gatewayError("query.transaction") };
      return;
    }
    busy = pinned;
    try {
      for await (const event of events) {
        if (event.kind === "done" || event.kind === "failed") busy = false;
        if (event.kind === "failed" && pinned) pin.state = "aborted";
        yield event;
      }
    } finally {
      busy = false;
    }
  }
  async function* from(events: readonly ResultEvent[]): ResultStream {
    yield* events;
  }
  const guarded = Object.entries(answers).map(([sql, answer]): [string, ScriptedAnswer] => [
    sql,
    (query, signal) =>
      alone(query, typeof answer === "function" ? answer(query, signal) : from(answer)),
  ]);
  async function* end(word: string): ResultStream {
    pin.state = "ended";
    yield {
      kind: "session",
      change: { kind: "unpinned", outcome: word === "COMMIT" ? "committed" : "rolledBack" },
    };
    yield doneOf(word);
  }
  return {
    ...Object.fromEntries(guarded),
    BEGIN: async function* () {
      pin.state = "open";
      yield { kind: "session", change: { kind: "pinned", modes: noModes, pin } };
      yield doneOf("BEGIN");
    },
    COMMIT: () => end(pin.state === "aborted" ? "ROLLBACK" : "COMMIT"),
    ROLLBACK: () => end("ROLLBACK"),
  };
}
