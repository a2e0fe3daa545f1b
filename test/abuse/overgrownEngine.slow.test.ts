/** An engine's process that has more memory than its config allows in all: it is ended, and with it only what ran there. */
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { configOf, gatewayOf, type TestGateway } from "../e2e/gateway.ts";
import { wires, type Wire } from "../ordinary/wires.ts";
import { engineProcesses, memoryBytes, running } from "./engineProcess.ts";

/** What each protocol says when the engine's process ended under a statement. */
const crashed: Readonly<Record<string, string>> = {
  "PostgreSQL simple": "57P02",
  "PostgreSQL prepared": "57P02",
  "MySQL text": "1296",
  "MySQL prepared": "1296",
  "Trino HTTP": "REMOTE_HOST_GONE",
};
/** A process may have 1 GiB more than its buffers; this has half as much again, which no buffer counts, while it is hashed. */
const overgrown =
  "select max(sha256(repeat(repeat(chr(97 + i::int), 1000000), 100))) from range(16) t(i)";
const endless = "select count(*) from range(100000000000) t(i) where i % 3 = 5";

let gateway: TestGateway;
let open: readonly Wire[];
let beside: Wire;

beforeAll(async () => {
  const local = { engine: "duckDb", memoryLimit: "64MB" };
  gateway = await gatewayOf(
    configOf({
      clusters: { local, other: { engine: "duckDb" } },
      clusterGroups: {
        default: { members: ["local"], maxRunningQueries: 5 },
        quiet: { members: ["other"], maxRunningQueries: 4 },
      },
      routers: [{ type: "userGroup", userToGroup: { bob: "quiet" } }],
    }),
  );
  open = await Promise.all(wires.map((wire) => wire(gateway)));
  const [first] = wires;
  if (first === undefined) throw new Error("no wires");
  beside = await first(gateway, "bob");
  await beside.ask("create table kept as select 7 as a");
});
afterAll(async () => {
  await Promise.all([...open, beside].map((wire) => wire.close()));
  await gateway[Symbol.asyncDispose]();
});

describe.skipIf(process.platform !== "linux")(
  "an engine's process over its limit of memory (only Linux says how much it has)",
  () => {
    it("is ended with all that runs there, typed over each wire, and the next statement is answered", async () => {
      const before = engineProcesses();
      const asked = open.map((wire, at) => wire.ask(at === 0 ? overgrown : endless));
      for (const [at, answer] of (await Promise.all(asked)).entries()) {
        expect(answer).toEqual({ kind: "refused", code: crashed[open[at]?.name ?? ""] });
      }
      for (const wire of open) {
        expect(await wire.ask("select 1")).toEqual({ kind: "rows", rows: [["1"]] });
      }
      expect(await beside.ask("select a from kept")).toEqual({ kind: "rows", rows: [["7"]] });
      await running(gateway, 0);
      const after = engineProcesses();
      expect(after.filter((pid) => before.includes(pid))).toHaveLength(1);
      for (const pid of after) expect(memoryBytes(pid, "VmRSS")).toBeLessThan(2 ** 30);
    }, 120_000);
  },
);
