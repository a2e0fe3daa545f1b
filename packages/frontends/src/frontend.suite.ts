/**
 * The contract of a frontend, stated once: what a client of any protocol may rely on. Each frontend
 * runs it with a client that somebody else wrote.
 *
 * It says nothing about a protocol's own messages; those have tests in the frontend's folder.
 */
import { describe, expect, it } from "vitest";
import { answers, endless, gateOf, waitForAbort } from "./rig/answers.ts";
import { sampleColumns, sampleNames } from "./rig/samples.ts";
import { OpenSuite, type ConnectClient, type FrontendSubject } from "./rig/subject.ts";
import {
  closeOf,
  ended,
  failureOf,
  garbage,
  heldBytes,
  ranOf,
  rawOf,
  retried,
  runs,
} from "./rig/wait.ts";

type State = (title: string, check: (suite: OpenSuite) => Promise<void>) => void;
type Subject = Omit<FrontendSubject<never>, "listen" | "config">;

const testTimeoutMs = 30_000;
const clientsAtOnce = 200;
/** Much less than the gigabyte that a lying client announces, much more than a test takes otherwise. */
const memoryBytesMax = 128 << 20;

/** States the contract of a frontend over `connect`. */
export function frontendSuite<Config>(
  name: string,
  connect: ConnectClient,
  subject: FrontendSubject<Config>,
): void {
  const skips = subject.skip ?? [];
  const reasons = new Map(
    skips.flatMap(({ reason, tests }) => tests.map((test) => [test, reason])),
  );
  const stated = new Set<string>();
  const state: State = (title, check) => {
    stated.add(title);
    // oxlint-disable-next-line vitest/valid-title -- every caller passes a literal
    it(title, { timeout: testTimeoutMs }, async (context) => {
      // Not `it.skipIf`: the reason is read by test/compat/reporter.ts.
      context.skip(reasons.has(title), reasons.get(title));
      await using suite = new OpenSuite(connect, (more, door, host) =>
        subject.listen(subject.config(more), door, host),
      );
      await check(suite);
      expect(suite.bugs).toEqual([]);
    });
  };

  describe(`${name} as a frontend`, () => {
    stateAnswers(state, subject);
    stateIdentity(state);
    stateLeaving(state);
    stateHostility(state, subject);
    // Inside, because vitest calls this function only after the file was read.
    const unknown = [...reasons.keys()].filter((title) => !stated.has(title));
    if (unknown.length > 0) throw new Error(`no such guarantee to skip: ${unknown.join(" · ")}`);
  });
}

function stateAnswers(state: State, subject: Subject): void {
  state("gives a client every neutral type as its table says, and NULL of each", async (suite) => {
    const { port } = await suite.listen({ answers });
    const client = await suite.client(port);
    const answer = await client.query("SELECT samples");
    expect(answer.columns).toEqual(sampleColumns.map((column) => column.name));
    const [values = [], nulls] = answer.rows;
    const byName = Object.fromEntries(sampleNames.map((name, index) => [name, values[index]]));
    expect(byName).toEqual(subject.texts);
    expect(values.at(-1)).toBeNull();
    expect(nulls).toEqual(sampleColumns.map(() => null));
  });

  state("gives a client the columns of an empty result", async (suite) => {
    const { port } = await suite.listen({ answers });
    const client = await suite.client(port);
    expect(await client.query("SELECT nothing")).toMatchObject({ columns: ["n"], rows: [] });
  });

  state("gives a client all rows of all batches in their order", async (suite) => {
    const { port } = await suite.listen({ answers });
    const { rows } = await (await suite.client(port)).query("SELECT batches");
    expect(rows.map(([cell]) => cell)).toEqual(
      Array.from({ length: 10_000 }, (_, row) => String(row)),
    );
  });

  state("gives a client the count of changed rows", async (suite) => {
    const { port } = await suite.listen({ answers });
    const answer = await (await suite.client(port)).query("INSERT INTO t VALUES (1)");
    expect(answer).toMatchObject({ rows: [], updateCount: 3 });
  });

  state("gives a client the engine's message and its place, and goes on", async (suite) => {
    const { port } = await suite.listen({ answers });
    const client = await suite.client(port);
    const position = subject.positions ? 10 : undefined;
    await expect(client.query("SELECT * FORM t")).rejects.toMatchObject({
      message: expect.stringContaining('syntax error at "FORM"') as unknown,
      ...(position === undefined ? {} : { position }),
    });
    expect((await client.query("SELECT 1")).rows).toEqual([["1"]]);
  });

  state("never lets a result that broke off look complete", async (suite) => {
    const { port } = await suite.listen({ answers });
    const client = await suite.client(port);
    await expect(client.query("SELECT broken")).rejects.toThrow("broke off");
  });

  state("answers two hundred clients at once", async (suite) => {
    const { door, port } = await suite.listen({ answers });
    const all = Array.from({ length: clientsAtOnce }, async () => {
      const client = await suite.client(port);
      const { rows } = await client.query("SELECT 1");
      await client.close();
      return rows;
    });
    expect(await Promise.all(all)).toEqual(Array.from(all, () => [["1"]]));
    expect(ranOf(door.queries, "SELECT 1")).toBe(clientsAtOnce);
  });
}

function stateIdentity(state: State): void {
  const passwords = { ann: "right horse", bob: "battery" };

  state("passes the verified name on, and nothing of the password in the query", async (suite) => {
    const { door, port } = await suite.listen({ answers, passwords });
    const client = await suite.client(port, { user: "ann", password: "right horse" });
    expect((await client.query("SELECT 1")).rows).toEqual([["1"]]);
    const session = door.queries.at(-1)?.session;
    expect(session?.identity.user).toBe("ann");
    expect(session?.clientAddress).toBe("127.0.0.1");
    expect(JSON.stringify(session)).not.toContain("right horse");
  });

  state("refuses a wrong password and an unknown user in the same words", async (suite) => {
    const { door, port } = await suite.listen({ answers, passwords });
    const refused = async (user: string) => {
      const failure = await failureOf(async () => {
        const client = await suite.client(port, { user, password: "wrong" });
        await client.query("SELECT 1");
      });
      return failure.message.replaceAll(user, "USER");
    };
    expect(await refused("ann")).toBe(await refused("eve"));
    expect(door.queries).toEqual([]);
  });

  state("takes a password over TLS", async (suite) => {
    const { tls, ca } = await suite.tls();
    const { frontend, port } = await suite.listen({ answers, passwords }, { tls });
    expect(frontend.tls).toBe(true);
    const client = await suite.client(port, { user: "bob", password: "battery", ca });
    expect((await client.query("SELECT 1")).rows).toEqual([["1"]]);
  });

  state("takes no password without TLS on a listener that others reach", async (suite) => {
    const { tls } = await suite.tls();
    const { door, port } = await suite.listen({ answers, passwords }, { tls, host: "0.0.0.0" });
    const failure = await failureOf(async () => {
      const client = await suite.client(port, { user: "ann", password: "right horse" });
      await client.query("SELECT 1");
    });
    expect(failure).toBeInstanceOf(Error);
    expect(door.presented).toEqual([]);
  });
}

function stateLeaving(state: State): void {
  state("ends the query of a client that leaves", async (suite) => {
    const { door, port } = await suite.listen({
      answers: { ...answers, "SELECT wait": waitForAbort },
    });
    const client = await suite.client(port);
    client.query("SELECT wait").catch(ignore);
    await runs(door, "SELECT wait");
    client.destroy();
    await ended(door, "SELECT wait");
    expect((await (await suite.client(port)).query("SELECT 1")).rows).toEqual([["1"]]);
  });

  state("ends the query of a client that leaves in the middle of its rows", async (suite) => {
    const { door, port } = await suite.listen({
      answers: { ...answers, "SELECT endless": endless },
    });
    const client = await suite.client(port);
    client.query("SELECT endless").catch(ignore);
    await runs(door, "SELECT endless");
    client.destroy();
    await ended(door, "SELECT endless");
    expect((await (await suite.client(port)).query("SELECT 1")).rows).toEqual([["1"]]);
  });

  state("tells a client over the cap so, and takes one again when one has left", async (suite) => {
    const gate = gateOf();
    const script = { answers: { ...answers, "SELECT wait": gate.answer } };
    const { door, port } = await suite.listen(script, { maxConnections: 1 });
    const first = await suite.client(port);
    const waiting = first.query("SELECT wait");
    await runs(door, "SELECT wait");
    const refused = await failureOf(async () => {
      await (await suite.client(port)).query("SELECT 1");
    });
    expect(refused).toBeInstanceOf(Error);
    gate.open();
    expect((await waiting).rows).toEqual([["1"]]);
    first.destroy();
    expect(await retried(async () => (await suite.client(port)).query("SELECT 1"))).toMatchObject({
      rows: [["1"]],
    });
  });

  state("lets a running query finish in a drain and refuses new ones", async (suite) => {
    const gate = gateOf();
    const { door, frontend, port } = await suite.listen({
      answers: { ...answers, "SELECT wait": gate.answer },
    });
    const busy = await suite.client(port);
    const running = busy.query("SELECT wait");
    await runs(door, "SELECT wait");
    const drained = frontend.drain(new AbortController().signal);
    const refused = await failureOf(async () => {
      await (await suite.client(port)).query("SELECT 1");
    });
    expect(refused).toBeInstanceOf(Error);
    expect(ranOf(door.queries, "SELECT 1")).toBe(0);
    gate.open();
    expect((await running).rows).toEqual([["1"]]);
    await drained;
  });

  state("cuts off at the deadline of a drain what does not finish", async (suite) => {
    const { door, frontend, port } = await suite.listen({
      answers: { ...answers, "SELECT wait": waitForAbort },
    });
    const client = await suite.client(port);
    const cut = failureOf(() => client.query("SELECT wait"));
    await runs(door, "SELECT wait");
    await frontend.drain(AbortSignal.abort());
    await ended(door, "SELECT wait");
    expect(await cut).toBeInstanceOf(Error);
  });
}

function stateHostility(state: State, subject: Subject): void {
  state("refuses a message over the limit and serves the next client", async (suite) => {
    const { door, port } = await suite.listen({ answers }, { maxMessageBytes: 65_536 });
    const client = await suite.client(port);
    const failure = await failureOf(() => client.query(`SELECT '${"x".repeat(1 << 20)}'`));
    expect(failure).toBeInstanceOf(Error);
    expect(door.queries.filter((query) => query.sql.length > 65_536)).toEqual([]);
    expect((await (await suite.client(port)).query("SELECT 1")).rows).toEqual([["1"]]);
  });

  state(
    "refuses a statement over its limit, says so, and serves the same client",
    async (suite) => {
      const limits = { maxMessageBytes: 1 << 20, maxStatementBytes: 65_536 };
      const { door, port } = await suite.listen({ answers }, limits);
      const client = await suite.client(port);
      for (const length of [65_536, 900_000]) {
        const failure = await failureOf(() => client.query(`SELECT '${"x".repeat(length)}'`));
        expect(failure.message).toMatch(/text of the statement is larger than the limit/);
      }
      expect(door.queries.filter((query) => query.sql.length > 65_536)).toEqual([]);
      expect((await client.query("SELECT 1")).rows).toEqual([["1"]]);
    },
  );

  state("takes no memory for a message that is only announced", async (suite) => {
    const { port } = await suite.listen({ answers }, { maxConnections: 100 });
    const before = heldBytes();
    const sockets = await Promise.all(Array.from({ length: 20 }, () => rawOf(port)));
    for (const socket of sockets) socket.write(subject.lyingLength);
    expect((await (await suite.client(port)).query("SELECT 1")).rows).toEqual([["1"]]);
    expect(heldBytes() - before).toBeLessThan(memoryBytesMax);
    for (const socket of sockets) socket.destroy();
  });

  state("lives on whatever bytes come", async (suite) => {
    const { port } = await suite.listen({ answers });
    for (const bytes of garbage()) {
      const socket = await rawOf(port);
      socket.end(bytes);
      await closeOf(socket);
    }
    expect((await (await suite.client(port)).query("SELECT 1")).rows).toEqual([["1"]]);
  });
}

/** For a query whose client is made to leave: whether it ever settles is the client's affair. */
function ignore(): void {}
