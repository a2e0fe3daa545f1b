/** A series of executions of one statement: they are sent to the server before the answers to those before them. */
import {
  bindOf,
  executeOf,
  letters,
  parseOf,
  RawClient,
  sync,
} from "@gateway/frontends/postgres/rig/rawClient.ts";
import {
  message,
  ScriptedPostgres,
  type SeenMessage,
} from "@gateway/engines/postgresql/rig/scripted.ts";
import { afterAll, beforeAll, expect, it } from "vitest";
import { configOf, gatewayOf, portOf, type TestGateway } from "./gateway.ts";

/** The server answers none of so many before all of them are there. */
const together = 32;
const count = 3 * together + 1;
/** So many may wait at most: a server that answers nothing is not sent the whole series. */
const aheadMax = 64;
const insert = "insert into t values ($1)";

/** Answers the first execution at once, and later ones when `together` of them wait, or all have come. */
class HoldingServer {
  /** Executions of the client's statement. */
  executed = 0;
  /** The most that waited at a time. */
  most = 0;
  #waiting = 0;
  #held: Uint8Array[] = [];
  #status = 0x49;

  answer({ letter, text }: SeenMessage): readonly Uint8Array[] {
    if (letter === "Q") return this.#asked(text);
    this.#held.push(...(answers[letter] ?? []));
    if (letter !== "S") return [];
    this.#held.push(message("Z", [this.#status]));
    this.executed += 1;
    this.#waiting += 1;
    this.most = Math.max(this.most, this.#waiting);
    const goesOn = this.executed === 1 || this.#waiting >= together || this.executed === count;
    if (!goesOn) return [];
    this.#waiting = 0;
    return this.#held.splice(0);
  }

  #asked(text: string): readonly Uint8Array[] {
    if (text.includes("BEGIN")) this.#status = 0x54;
    if (text.includes("COMMIT")) this.#status = 0x49;
    return [complete(text.includes("BEGIN") ? "BEGIN" : text), message("Z", [this.#status])];
  }
}

const held = new HoldingServer();
let server: ScriptedPostgres;
let gateway: TestGateway;

beforeAll(async () => {
  server = await ScriptedPostgres.start((seen) => held.answer(seen));
  gateway = await gatewayOf(configOf({ clusters: { local: clusterAt(server.port) } }));
});
afterAll(async () => {
  await gateway[Symbol.asyncDispose]();
  await server[Symbol.asyncDispose]();
});

it("is sent ahead of its answers, each execution judged and recorded by itself, and no more than there is room for", async () => {
  await using client = await RawClient.start(portOf(gateway, "postgresWire"), { database: "d" });
  const one = [bindOf({ statement: "s", values: ["1"] }), executeOf()];
  client.send(parseOf("s", insert), ...Array.from({ length: count }, () => one).flat(), sync);
  expect(letters(await client.until("Z")).replaceAll("S", "")).toBe(`1${"2C".repeat(count)}Z`);
  expect(held.executed).toBe(count);
  expect(held.most).toBeGreaterThanOrEqual(together);
  expect(held.most).toBeLessThanOrEqual(aheadMax);
  const finished = /^gateway_queries_total\{[^}]*status="finished"[^}]*\} (\d+)$/m;
  // With the BEGIN and the COMMIT around them.
  expect(Number(finished.exec(await gateway.metrics())?.[1])).toBe(count + 2);
});

const answers: Readonly<Record<string, readonly Uint8Array[]>> = {
  P: [message("1")],
  B: [message("2")],
  D: [message("n")],
  E: [complete("INSERT 0 1")],
};

function complete(tag: string): Uint8Array {
  return message("C", [...Buffer.from(`${tag}\0`)]);
}

function clusterAt(port: number): object {
  const auth = { type: "basic", username: "gateway", password: "none" };
  return { engine: "postgresql", hosts: [`127.0.0.1:${port}`], database: "d", auth, poolSize: 2 };
}
