import { gunzipSync } from "node:zlib";
import { etagOf } from "@gateway/contract/revision.ts";
import { revisionOfHead, snapshotSchema, type SnapshotHead } from "@gateway/contract/snapshot.ts";
import { spliceLineSchema } from "@gateway/contract/snapshotDelta.ts";
import { Secret } from "@gateway/core/secret.ts";
import { describe, expect, it } from "vitest";
import { headKeyOf, verifyHead } from "../../config/snapshot/head.ts";
import { currentSecret, previousSecret, testControl, type TestControl } from "../rig/control.ts";

const unknownHash = `sha256:${"0".repeat(64)}`;

describe("GET /worker/config", () => {
  it("answers 503 with Retry-After while there is no configuration", async () => {
    for (const path of ["/config", "/config/wait", "/config/stream"]) {
      const answer = await (await testControl()).call(path);
      expect(answer.status).toBe(503);
      expect(answer.headers.get("retry-after")).toMatch(/^\d+$/);
    }
  });

  it("serves the snapshot with its ETag, and keeps it out of caches", async () => {
    const control = await configured();
    const answer = await control.call("/config");
    expect(answer.status).toBe(200);
    expect(answer.headers.get("cache-control")).toBe("private, no-store");
    const { head, clusters } = snapshotSchema.parse(await answer.json());
    expect(Object.keys(clusters)).toEqual(["one"]);
    expect(answer.headers.get("etag")).toBe(etagOf(revisionOfHead(head)));
  });

  it("compresses for those who take it, and only for them", async () => {
    const control = await configured();
    const plain = await (await control.call("/config")).text();
    for (const coding of ["gzip", "br;q=1.0, GZIP;q=0.5", "*"]) {
      const answer = await control.call("/config", { headers: { "accept-encoding": coding } });
      expect(answer.headers.get("content-encoding")).toBe("gzip");
      expect(gunzipSync(await answer.arrayBuffer()).toString()).toBe(plain);
    }
    for (const coding of ["gzip;q=0", "identity", "br", "gzip; q=0.000"]) {
      const answer = await control.call("/config", { headers: { "accept-encoding": coding } });
      expect(answer.headers.get("content-encoding")).toBeNull();
    }
  });

  it("answers 304 to who has this revision already, and 200 to who has another", async () => {
    const control = await configured();
    const { headers } = await control.call("/config");
    const etag = headers.get("etag") ?? "";
    for (const tag of [etag, `W/${etag}`, `"x", ${etag}`, "*"]) {
      const answer = await control.call("/config", { headers: { "if-none-match": tag } });
      expect([answer.status, await answer.text()]).toEqual([304, ""]);
      expect(answer.headers.get("etag")).toBe(etag);
    }
    await control.commit("two");
    const moved = await control.call("/config", { headers: { "if-none-match": etag } });
    expect(moved.status).toBe(200);
  });

  it("answers who takes differences by one, to a revision that it served, and else by the whole", async () => {
    const control = await configured();
    for (const name of ["two", "three", "four"]) await control.commit(name);
    const before = await control.call("/config");
    const base = Buffer.from(await before.arrayBuffer());
    const etag = before.headers.get("etag") ?? "";
    await control.commit("five");
    const ask = (headers: Record<string, string>) => control.call("/config", { headers });
    const whole = Buffer.from(await (await ask({})).arrayBuffer());

    const answer = await ask({ "if-none-match": etag, "a-im": "vcdiff, Gateway-Splice" });
    expect(answer.status).toBe(226);
    expect(answer.headers.get("im")).toBe("gateway-splice");
    expect(answer.headers.get("delta-base")).toBe(etag);
    expect(answer.headers.get("cache-control")).toBe("private, no-store");
    const bytes = Buffer.from(await answer.arrayBuffer());
    expect(bytes.length).toBeLessThan(whole.length);
    const end = bytes.indexOf("\n");
    const line = spliceLineSchema.parse(JSON.parse(bytes.toString("utf8", 0, end)));
    const bodyOf = (served: Buffer) => `{${served.toString("utf8", served.indexOf("},") + 2)}`;
    const known = bodyOf(base);
    const joined = [
      known.slice(0, line.front),
      bytes.toString("utf8", end + 1),
      known.slice(known.length - line.back),
    ];
    expect(joined.join("")).toBe(bodyOf(whole));
    expect(verifyHead(line.head, headKeyOf(new Secret(currentSecret)))).toBe(true);

    for (const headers of [
      { "if-none-match": etag },
      { "a-im": "gateway-splice" },
      { "if-none-match": '"unknown"', "a-im": "gateway-splice" },
      { "if-none-match": etag, "a-im": "gateway-splicer" },
    ]) {
      expect([headers, (await ask(headers)).status]).toEqual([headers, 200]);
    }
    expect((await ask({ "if-none-match": "*", "a-im": "gateway-splice" })).status).toBe(304);
  });

  it("authenticates the head under the secret that the caller presented", async () => {
    const control = await configured();
    for (const secret of [currentSecret, previousSecret]) {
      const { head } = snapshotSchema.parse(
        await (await control.call("/config", { secret })).json(),
      );
      const keys = [currentSecret, previousSecret].map((text) => headKeyOf(new Secret(text)));
      expect(keys.map((key) => verifyHead(head, key))).toEqual([
        secret === currentSecret,
        secret === previousSecret,
      ]);
    }
  });

  it("goes on serving without the database, and says how old the copy is", async () => {
    const control = await configured();
    const before = await headOf(await control.call("/config"));
    control.cut(true);
    await control.host.advance(3_600_000);
    const after = await headOf(await control.call("/config"));
    expect(after).toEqual(before);
    expect(control.host.clock.unixMs() - after.confirmedAt).toBeGreaterThanOrEqual(3_600_000);
  });

  it("looks at the store first in a function, where nothing ran since the last call", async () => {
    const control = await testControl({ host: "function" });
    await control.commit("one");
    const first = await headOf(await control.call("/config"));
    await control.commit("two");
    const second = await headOf(await control.call("/config"));
    expect(second.sequence).toBe(first.sequence + 1);
  });
});

describe("GET /worker/config/wait", () => {
  it("answers at once when since is missing, unknown, or no revision at all", async () => {
    const control = await configured();
    for (const query of ["", `?since=${unknownHash}`, "?since=", "?since=x%00%22"]) {
      const answer = await control.call(`/config/wait${query}`);
      expect(answer.status).toBe(200);
      expect(await headOf(answer)).toMatchObject({ sequence: 1 });
    }
    expect(control.held()).toBe(0);
  });

  it("answers 304 without a body, but with the ETag, after the hold that was asked for", async () => {
    const control = await configured();
    const since = await hashOf(control);
    for (const [prefer, seconds] of [
      [undefined, 30],
      ["wait=10", 10],
      ['respond-async, wait="7"; foo', 7],
      ["wait=100000", 55],
      ["wait=x", 30],
    ] as const) {
      const waiting = waitOf(control, since, prefer);
      await control.host.advance(seconds * 1_000 - 1);
      expect([prefer, waiting.done()]).toEqual([prefer, false]);
      await control.host.advance(1);
      const answer = await waiting.answer;
      expect([answer.status, await answer.text()]).toEqual([304, ""]);
      expect(answer.headers.get("etag")).toContain(since);
      expect(answer.headers.get("preference-applied")).toBe(`wait=${seconds}`);
      expect(control.held()).toBe(0);
    }
  });

  it("does not hold who asks for no hold", async () => {
    const control = await configured();
    const answer = await waitOf(control, await hashOf(control), "wait=0").answer;
    expect(answer.status).toBe(304);
  });

  it("answers with the new head as soon as the configuration changes", async () => {
    const control = await configured();
    const since = await hashOf(control);
    const waiting = waitOf(control, since);
    await control.host.advance(5_000);
    expect(waiting.done()).toBe(false);
    await control.commit("two");
    const answer = await waiting.answer;
    expect(answer.status).toBe(200);
    expect(await headOf(answer)).toMatchObject({ sequence: 2 });
    expect(answer.headers.get("etag")).toContain('"1767225600.2.');
    expect(control.held()).toBe(0);
  });

  it("carries no configuration", async () => {
    const control = await configured();
    const answer: unknown = await (await control.call("/config/wait")).json();
    expect(Object.keys(answer as object)).toEqual(["head"]);
  });

  it("wakes a thousand waiters with one change", async () => {
    const control = await configured();
    const since = await hashOf(control);
    const waits = Array.from({ length: 1_000 }, () => waitOf(control, since));
    await control.host.settle();
    expect(control.held()).toBe(1_000);
    await control.commit("two");
    const answers = await Promise.all(waits.map(({ answer }) => answer));
    expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([200]));
    expect(control.held()).toBe(0);
  });

  it("frees a waiter that hangs up at once", async () => {
    const control = await configured();
    const since = await hashOf(control);
    const client = new AbortController();
    const waiting = waitOf(control, since, undefined, client.signal);
    await control.host.settle();
    expect(control.held()).toBe(1);
    client.abort();
    await control.host.settle();
    expect(waiting.done()).toBe(true);
    expect(control.held()).toBe(0);
  });

  it("answers everybody when the process stops, and holds nobody after that", async () => {
    const control = await configured();
    const since = await hashOf(control);
    const waiting = waitOf(control, since);
    await control.host.settle();
    control.stop();
    expect((await waiting.answer).status).toBe(304);
    expect((await control.call(`/config/wait?since=${since}`)).status).toBe(304);
    expect(control.held()).toBe(0);
  });

  it("holds at most 20 s in a function and looks at the head each second, once for all", async () => {
    const control = await testControl({ host: "function" });
    await control.commit("one");
    const since = await hashOf(control);
    const waits = [1, 2, 3].map(() => waitOf(control, since, "wait=55"));
    await settled(control);
    const before = control.looks();
    await control.host.advance(19_999);
    expect(waits.map((wait) => wait.done())).toEqual([false, false, false]);
    expect(control.looks() - before).toBe(19);
    await control.host.advance(1);
    const statuses = await Promise.all(waits.map(async ({ answer }) => (await answer).status));
    expect(statuses).toEqual([304, 304, 304]);
    await control.host.advance(10_000);
    expect(control.held()).toBe(0);
  });

  it("notices a change in a function within a second, and holds while the database is gone", async () => {
    const control = await testControl({ host: "function" });
    await control.commit("one");
    const since = await hashOf(control);
    const waiting = waitOf(control, since);
    await settled(control);
    control.cut(true);
    await control.host.advance(5_000);
    expect(waiting.done()).toBe(false);
    control.cut(false);
    await control.commit("two");
    await control.host.advance(1_000);
    const answer = await waiting.answer;
    expect(answer.status).toBe(200);
    expect(await headOf(answer)).toMatchObject({ sequence: 2 });
  });
});

describe("GET /worker/config/stream", () => {
  it("sends the head at once unless the reader has it, then each change", async () => {
    const control = await configured();
    const stream = await streamOf(control, "");
    expect(stream.answer.headers.get("content-type")).toBe("application/x-ndjson");
    expect(JSON.parse(await stream.line())).toMatchObject({ head: { sequence: 1 } });
    const next = stream.line();
    await control.commit("two");
    expect(JSON.parse(await next)).toMatchObject({ head: { sequence: 2 } });
    await stream.cancel();

    const known = await streamOf(control, `?since=${await hashOf(control)}`);
    expect(await known.line()).toBe("\n");
    await known.cancel();
    expect(control.held()).toBe(0);
  });

  it("holds one line for a reader that does not read, and goes on with the newest", async () => {
    const control = await configured();
    const stream = await streamOf(control, "");
    await settled(control);
    for (const name of ["two", "three", "four"]) await control.commit(name);
    expect(control.held()).toBe(0);
    expect(JSON.parse(await stream.line())).toMatchObject({ head: { sequence: 1 } });
    expect(JSON.parse(await stream.line())).toMatchObject({ head: { sequence: 4 } });
    await stream.cancel();
  });

  it("sends an empty line every 15 s of silence", async () => {
    const control = await configured();
    const stream = await streamOf(control, "");
    await stream.line();
    for (let count = 0; count < 3; count += 1) {
      const next = stream.line();
      await control.host.advance(15_000);
      expect(await next).toBe("\n");
    }
    await stream.cancel();
  });

  it("ends with the position to go on with when the process stops", async () => {
    const control = await configured();
    const stream = await streamOf(control, "");
    await stream.line();
    const rest = stream.rest();
    await control.host.settle();
    control.stop();
    const lines = (await rest).filter((line) => line !== "\n");
    expect(lines).toEqual([`${JSON.stringify({ resume: await hashOf(control) })}\n`]);
    expect(control.held()).toBe(0);
  });

  it("ends before the platform's limit in a function, with the position to go on with", async () => {
    const control = await testControl({ host: "function", streamSecsMax: 40 });
    await control.commit("one");
    const stream = await streamOf(control, "");
    await stream.line();
    const rest = stream.rest();
    await control.host.runUntil(() => control.host.clock.nowMs() >= 40_000);
    await settled(control);
    const lines = await rest;
    expect(lines.filter((line) => line === "\n").length).toBeGreaterThanOrEqual(2);
    expect(lines.at(-1)).toBe(`${JSON.stringify({ resume: await hashOf(control) })}\n`);
  });

  it("frees the waiter of a reader that hangs up", async () => {
    const control = await configured();
    const client = new AbortController();
    const stream = await streamOf(control, "", client.signal);
    await stream.line();
    const rest = stream.rest();
    await control.host.settle();
    expect(control.held()).toBe(1);
    client.abort();
    await rest;
    expect(control.held()).toBe(0);
  });
});

async function configured(): Promise<TestControl> {
  const control = await testControl();
  await control.commit("one");
  return control;
}

async function headOf(answer: Response): Promise<SnapshotHead> {
  const { head } = (await answer.json()) as { head: SnapshotHead };
  return head;
}

async function hashOf(control: TestControl): Promise<string> {
  return (await headOf(await control.call("/config/wait"))).revision;
}

function waitOf(control: TestControl, since: string, prefer?: string, signal?: AbortSignal) {
  let done = false;
  const headers = prefer === undefined ? {} : { prefer };
  const answer = control
    .call(`/config/wait?since=${since}`, { headers, ...(signal === undefined ? {} : { signal }) })
    .finally(() => {
      done = true;
    });
  return { answer, done: () => done };
}

/** Several turns of the event loop: what waits for a thread goes on as well. */
async function settled(control: TestControl): Promise<void> {
  for (let count = 0; count < 20; count += 1) await control.host.settle();
}

async function streamOf(control: TestControl, query: string, signal?: AbortSignal) {
  const answer = await control.call(
    `/config/stream${query}`,
    signal === undefined ? {} : { signal },
  );
  const reader = (answer.body ?? new ReadableStream<Uint8Array>()).getReader();
  const line = async () => {
    const { value } = await reader.read();
    return new TextDecoder().decode(value);
  };
  const rest = async () => {
    const lines: string[] = [];
    for (let next = await line(); next !== ""; next = await line()) lines.push(next);
    return lines;
  };
  return { answer, line, rest, cancel: () => reader.cancel() };
}
