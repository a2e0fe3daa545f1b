/** A Trino that stalls, breaks off, lies and leads elsewhere: one typed error each, the query ended, nothing sent twice. */
import type { Backend } from "@gateway/core/port/backend.ts";
import type { Host } from "@gateway/core/port/host.ts";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import {
  fakeTrino,
  type FakeTrino,
  type Fault,
  type Seen,
} from "../../../../../test/fake/trino.ts";
import { codeOf, hostOf, identifiedOf, never, ran, valueOf } from "../../rig/backend.ts";
import { open } from "../adapter.ts";
import { trinoConfig } from "../config.ts";

let fake: FakeTrino;
let backend: Backend;
beforeEach(async () => {
  fake = await fakeTrino();
  backend = await backendOf(fake.origin);
});
afterEach(async () => {
  await backend[Symbol.asyncDispose]();
  await fake[Symbol.asyncDispose]();
});

const isPost = ({ method }: Seen): boolean => method === "POST";
const isPoll = ({ method, path }: Seen): boolean =>
  method === "GET" && path.startsWith("/v1/statement/");

describe("a broken answer", () => {
  const faults: Readonly<Record<string, Fault>> = {
    "breaks off in the middle": { kind: "cut" },
    "is no JSON": { kind: "bytes", bytes: "<html>busy</html>" },
    "is JSON without an id": { kind: "bytes", bytes: '{"stats":{}}' },
    "is cut in its JSON": { kind: "bytes", bytes: '{"id":"q1","data":[[1],[2' },
    "nests without end": { kind: "bytes", bytes: `{"id":"q1","data":${"[".repeat(100_000)}` },
    "says that more bytes come": { kind: "longLength" },
    redirects: { kind: "redirect", to: "http://127.0.0.1:1/" },
    "is of another query": { kind: "replace", text: '"id":"q1"', by: '"id":"q2"' },
    "never comes": { kind: "stall" },
    "is of a server error": { kind: "status", status: 500 },
    "is gone": { kind: "status", status: 410 },
  };
  for (const [name, fault] of Object.entries(faults)) {
    it(`to a poll that ${name} is engine.broken, and nothing is submitted again`, async () => {
      fake.fault = (seen) => (isPoll(seen) ? fault : undefined);
      expect(codeOf(await ran(backend, "select 1"))).toBe("engine.broken");
      expect(fake.seen.filter(isPost)).toHaveLength(1);
    });

    it(`to a submission that ${name} is no cluster.connectFailed: the statement may run`, async () => {
      fake.fault = (seen) => (isPost(seen) ? fault : undefined);
      expect(codeOf(await ran(backend, "select 1"))).toBe("engine.broken");
      expect(fake.seen.filter(isPost)).toHaveLength(1);
    });
  }

  it("leads to no other server, and the query is ended", async () => {
    await using other = await fakeTrino();
    fake.fault = (seen) =>
      isPoll(seen) ? { kind: "replace", text: fake.origin, by: other.origin } : undefined;
    expect(codeOf(await ran(backend, "select * from flood"))).toBe("engine.broken");
    expect(other.seen).toEqual([]);
    expect(fake.running()).toBe(0);
  });

  it("leads to no other path of the server", async () => {
    fake.fault = (seen) =>
      isPost(seen) ? { kind: "replace", text: "/v1/statement/", by: "/v1/query/" } : undefined;
    expect(codeOf(await ran(backend, "select 1"))).toBe("engine.broken");
    expect(fake.seen.filter(({ path }) => path.startsWith("/v1/query"))).toEqual([]);
  });
});

describe("rows that lie", () => {
  const pages: Readonly<Record<string, string>> = {
    "a row with a cell too few": "[[1]]",
    "a row with a cell too many": '[[1,"x",2]]',
    "a number where there is none": '[["x","y"]]',
    "a number of ten million digits": `[[${"9".repeat(10_000_000)},"x"]]`,
    "an object instead of a row": '[{"i":1}]',
    "an escape that is none": '[[1,"\\q"]]',
    "half an escape": '[[1,"\\u12"]]',
    "a raw line feed in a string": '[[1,"a\nb"]]',
    "bytes between the rows": '[[1,"x"] [2,"y"]]',
    "a NULL instead of a row": "[null]",
    "bytes behind them": '[[1,"x"]]]',
  };
  for (const [name, page] of Object.entries(pages)) {
    it(`with ${name} are engine.broken`, async () => {
      fake.answers.set("select lie", () => ({
        columns: [
          ["i", "bigint"],
          ["label", "varchar"],
        ],
        pages: [page][Symbol.iterator](),
      }));
      expect(codeOf(await ran(backend, "select lie"))).toBe("engine.broken");
      // The error does not wait for the answer to the DELETE.
      await expect.poll(() => fake.running(), { timeout: 30_000 }).toBe(0);
    });
  }

  it("with lists deeper than any type are engine.broken", async () => {
    fake.answers.set("select lie", () => ({
      columns: [["i", "array(bigint)"]],
      pages: [`[[${"[".repeat(5_000)}${"]".repeat(5_000)}]]`][Symbol.iterator](),
    }));
    expect(codeOf(await ran(backend, "select lie"))).toBe("engine.broken");
  });

  it("are engine.broken for a client that takes them untouched, too", async () => {
    fake.answers.set("select lie", () => ({
      columns: [["i", "bigint"]],
      pages: ['[[1]],"stats":{"state":"RUNNING"},"more":[[2]]'][Symbol.iterator](),
    }));
    const query = { ...identifiedOf("select lie"), takes: ["trinoData"] as const };
    const kinds: string[] = [];
    for await (const event of backend.execute(query, never)) kinds.push(event.kind);
    expect(kinds).toEqual(["columns", "failed"]);
  });
});

describe("a server that can not answer now", () => {
  it("is asked again by polls, and the answer is whole", async () => {
    let left = 3;
    fake.fault = (seen) =>
      isPoll(seen) && (left -= 1) >= 0 ? { kind: "status", status: 503 } : undefined;
    expect((await ran(backend, "select 1")).rows).toEqual([[1n]]);
  });

  it("is given a refused submission again", async () => {
    let left = 1;
    const retry = { kind: "status", status: 429, headers: { "retry-after": "0" } } as const;
    fake.fault = (seen) => (isPost(seen) && (left -= 1) >= 0 ? retry : undefined);
    expect((await ran(backend, "select 1")).rows).toEqual([[1n]]);
    expect(fake.seen.filter(isPost)).toHaveLength(2);
  });

  it("that takes no submission at all is cluster.connectFailed, so that another is tried", async () => {
    fake.fault = (seen) => (isPost(seen) ? { kind: "status", status: 503 } : undefined);
    expect(codeOf(await ran(backend, "select 1"))).toBe("cluster.connectFailed");
  });

  it("is not given a submission again that a proxy may have passed on", async () => {
    fake.fault = (seen) => (isPost(seen) ? { kind: "status", status: 502 } : undefined);
    expect(codeOf(await ran(backend, "select 1"))).toBe("engine.broken");
    expect(fake.seen.filter(isPost)).toHaveLength(1);
  });

  it("is not given a submission again that nobody wants any more", async () => {
    const controller = new AbortController();
    const later = { kind: "status", status: 503, headers: { "retry-after": "1" } } as const;
    fake.fault = (seen) => {
      if (!isPost(seen)) return undefined;
      setImmediate(() => controller.abort());
      return later;
    };
    const { signal } = controller;
    expect(codeOf(await ran(backend, "select 1", { signal }))).toBe("query.cancelled");
    fake.fault = () => undefined;
    expect((await ran(backend, "select 1")).rows).toEqual([[1n]]);
    expect(fake.seen.filter(isPost)).toHaveLength(2);
  });

  it("that is not there is cluster.connectFailed", async () => {
    const gone = await fakeTrino();
    await gone[Symbol.asyncDispose]();
    await using other = await backendOf(gone.origin);
    expect(codeOf(await ran(other, "select 1"))).toBe("cluster.connectFailed");
    expect(await other.probe(never)).toBe("unhealthy");
    expect(await other.running(never)).toMatchObject({ error: { code: "cluster.connectFailed" } });
  });

  it("that refuses the service account is told apart", async () => {
    fake.fault = (seen) => (isPost(seen) ? { kind: "status", status: 401 } : undefined);
    expect(codeOf(await ran(backend, "select 1"))).toBe("auth.noBackendIdentity");
    expect(await backend.probe(never)).toBe("unhealthy");
  });
});

describe("a query that nobody wants any more", () => {
  it("is ended in the engine before its stream ends", async () => {
    const controller = new AbortController();
    const stream = backend.execute(identifiedOf("select * from endless"), controller.signal);
    fake.fault = (seen) => {
      if (isPoll(seen)) controller.abort();
      return undefined;
    };
    // How many events come before the end depends on how fast the machine polls.
    while ((await stream.next()).done !== true);
    expect(fake.seen.some(({ method }) => method === "DELETE")).toBe(true);
    expect(fake.running()).toBe(0);
  });

  it("is ended in the engine when it goes in the middle of its submission", async () => {
    const controller = new AbortController();
    fake.fault = (seen) => {
      if (isPost(seen)) controller.abort();
      return undefined;
    };
    const { signal } = controller;
    const ended = await ran(backend, "select * from endless", { signal });
    expect(codeOf(ended)).toBe("query.cancelled");
    expect(fake.seen.map(({ method }) => method)).toContain("DELETE");
    expect(fake.running()).toBe(0);
  });

  it("is ended in the engine when its reader leaves while polls are repeated", async () => {
    const stream = backend.execute(identifiedOf("select * from flood"), never);
    await stream.next();
    const busy = { kind: "status", status: 503, headers: { "retry-after": "1" } } as const;
    fake.fault = (seen) => (isPoll(seen) && seen.path.endsWith("/3") ? busy : undefined);
    await stream.next();
    await stream.next();
    fake.fault = () => undefined;
    await stream.return();
    expect(fake.seen.map(({ method }) => method)).toContain("DELETE");
    expect(fake.running()).toBe(0);
  });

  it("does not hold its slot for ever when the engine does not answer its end", async () => {
    const stream = backend.execute(identifiedOf("select * from flood"), never);
    await stream.next();
    fake.fault = () => ({ kind: "stall" });
    await stream.return();
    expect(fake.seen.some(({ method }) => method === "DELETE")).toBe(true);
  });
});

/** With a clock that runs two hundred times as fast, so that limits of seconds are reached at once. */
async function backendOf(endpoint: string): Promise<Backend> {
  const host: Host = hostOf();
  const { clock } = host;
  const fast = {
    nowMs: () => clock.nowMs(),
    unixMs: () => clock.unixMs(),
    timer: (delayMs: number, fire: () => void) => clock.timer(delayMs / 200, fire),
  };
  const config = trinoConfig.parse({ engine: "trino", endpoint });
  return valueOf(await open("faults", config, { ...host, clock: fast }));
}
