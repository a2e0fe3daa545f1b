import { gatewayError } from "@gateway/core/error.ts";
import { virtualHost } from "@gateway/core/rig/virtual.ts";
import { Canceller } from "@gateway/core/tool/canceller.ts";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { Turns, type Taken, type Turn } from "./turns.ts";

describe("Turns", () => {
  it("serves users in turn, whoever sent more", async () => {
    const bench = benchOf();
    bench.ask("ann", "ann", "ann", "ann", "bob", "carl", "bob");
    expect(await bench.drain()).toEqual(["ann", "ann", "bob", "carl", "ann", "bob", "ann"]);
  });

  it("lets another's question wait for one statement, and not for all of a user whose statements are ended", async () => {
    const bench = benchOf();
    bench.ask("ann", "ann", "ann", "ann", "ann", "ann");
    await bench.host.advance(5_000);
    await bench.endTurn({ late: true });
    bench.ask("bob");
    await bench.endTurn({ late: true });
    expect(bench.serving).toBe("bob");
  });

  it("puts who was late behind everybody who was not, until half a minute has passed", async () => {
    const bench = benchOf();
    bench.ask("ann");
    await bench.endTurn({ late: true });
    bench.ask("bob", "ann", "carl", "bob", "carl", "bob");
    expect(await bench.drain()).toEqual(["bob", "carl", "bob", "carl", "bob", "ann"]);
    await bench.host.advance(30_000);
    bench.ask("bob", "ann", "bob", "bob");
    expect(await bench.drain()).toEqual(["bob", "ann", "bob", "bob"]);
  });

  it("lets two statements wait of who was late, and tells the others why not", async () => {
    const bench = benchOf();
    bench.ask("ann", "ann", "ann", "ann", "ann", "ann", "bob");
    expect(bench.refused).toEqual([]);
    await bench.endTurn({ late: true });
    expect(bench.refused).toEqual(["ann at most 2", "ann at most 2", "ann at most 2"]);
    bench.ask("ann");
    await bench.host.settle();
    expect(bench.refused).toHaveLength(4);
    expect(await bench.drain()).toEqual(["bob", "ann", "ann"]);
  });

  it("lets a pool of connections wait, and no user take more than two places of others", async () => {
    const bench = benchOf();
    const pool = (user: string) => Array.from({ length: 50 }, () => user);
    bench.ask("first", ...pool("ann"), ...pool("bob"), ...pool("dan"), ...pool("eve"), "carl");
    await bench.host.settle();
    expect(bench.refused).toEqual([]);
    expect((await bench.drain()).slice(1, 6)).toEqual(["ann", "bob", "dan", "eve", "carl"]);
  });

  it("serves a third after one statement of each of two that flood it", async () => {
    const bench = benchOf();
    const flood = ["ann", "bob"].flatMap((user) => Array.from({ length: 100 }, () => user));
    bench.ask(...flood);
    await bench.host.settle();
    expect(bench.refused[0]).toBe("ann at most 64");
    bench.ask("carl");
    let before = 0;
    for (; bench.serving !== "carl"; before += 1) {
      await bench.endTurn({ late: false });
      bench.ask("ann", "bob");
    }
    expect(before).toBeLessThanOrEqual(3);
    expect(bench.refused).not.toContain("carl ");
  });

  it("refuses whoever comes when every place is taken", async () => {
    const bench = benchOf();
    const users = Array.from({ length: 33 }, (_, at) => [`user-${at}`, `user-${at}`]).flat();
    bench.ask("first", ...users, "user-0");
    await bench.host.settle();
    expect(bench.refused).toEqual(["user-32 ", "user-32 "]);
  });

  it("answers who leaves with the signal's reason, and who waits when it is closed", async () => {
    const { clock } = virtualHost(1);
    const turns = new Turns(clock);
    const { signal } = new Canceller();
    const first = await turns.take("ann", signal);
    const leaver = new Canceller();
    const left = turns.take("bob", leaver.signal);
    const waiting = turns.take("carl", signal);
    leaver.abort(gatewayError("query.cancelled"));
    expect(await left).toMatchObject({ ok: false, error: { code: "query.cancelled" } });
    const closed = turns.close();
    expect(await waiting).toEqual({ ok: true, value: undefined });
    expect(turns.busy).toBe(1);
    if (first.ok) first.value?.end(false);
    await closed;
    expect(turns.busy).toBe(0);
    expect(await turns.take("ann", signal)).toEqual({ ok: true, value: undefined });
  });

  it("never lets a user who was not late wait for more than one statement of each other user and of itself", async () => {
    const users = fc.array(fc.constantFrom("a", "b", "c", "d"), { minLength: 1, maxLength: 12 });
    const bounded = fc.asyncProperty(users, fc.boolean(), async (sent, late) => {
      const bench = benchOf();
      bench.ask(...sent, "quiet");
      await bench.host.settle();
      let before = 0;
      while (bench.serving !== "quiet") {
        before += 1;
        await bench.endTurn({ late });
        // They send again at once.
        bench.ask(...sent.slice(0, 2));
      }
      expect(before).toBeLessThanOrEqual(new Set(sent).size + 1);
    });
    await fc.assert(bounded, { numRuns: 50 });
  });
});

/** Users who ask, and the one whose turn it is. */
function benchOf() {
  const host = virtualHost(1);
  const turns = new Turns(host.clock);
  const { signal } = new Canceller();
  const served: string[] = [];
  const refused: string[] = [];
  let turn: Turn | undefined;
  const taken = (user: string, answer: Taken): void => {
    if (!answer.ok) {
      refused.push(`${user} ${/at most \d+/.exec(answer.error.message)?.[0] ?? ""}`);
      return;
    }
    served.push(user);
    turn = answer.value;
  };
  const bench = {
    host,
    refused,
    get serving() {
      return served.at(-1);
    },
    ask: (...users: string[]) => {
      for (const user of users) {
        void turns.take(user, signal).then((answer) => taken(user, answer));
      }
    },
    endTurn: async ({ late }: { readonly late: boolean }) => {
      await host.settle();
      const ending = turn;
      turn = undefined;
      ending?.end(late);
      await host.settle();
    },
    /** Ends one turn after the other; answers whose they were. */
    drain: async () => {
      await host.settle();
      const from = Math.max(0, served.length - 1);
      while (turns.busy > 0) await bench.endTurn({ late: false });
      return served.slice(from);
    },
  };
  return bench;
}
