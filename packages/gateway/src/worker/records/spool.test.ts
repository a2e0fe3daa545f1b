import { existsSync, mkdtempSync, readFileSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { currentSecret, testControl } from "@gateway/control/worker/rig/control.ts";
import { virtualHost } from "@gateway/core/rig/virtual.ts";
import { redact } from "@gateway/core/record/redact.ts";
import { err, ok } from "@gateway/core/result.ts";
import { Secret } from "@gateway/core/secret.ts";
import fc from "fast-check";
import { afterAll, describe, expect, it } from "vitest";
import { unseal } from "../state/sealing.ts";
import { openSpool } from "./spool.ts";
import { openSpoolDisk, type SpoolDisk } from "./spoolDisk.ts";
import { openStateDir } from "../state/stateDir.ts";
import { overApp, testLink } from "../rig/link.ts";
import { otherSecret, testSecret } from "../rig/snapshot.ts";
import {
  cellOf,
  partsOf,
  passes,
  recordOf,
  refuse,
  spoolOf,
  taken,
  type Answer,
} from "../rig/spool.ts";
import { historyUplink } from "./uplink.ts";

const root = mkdtempSync(join(tmpdir(), "worker-spool-"));
afterAll(() => rmSync(root, { recursive: true }));

describe("openSpool", () => {
  it("brings every record to a real control plane once, in batches of at most 200", async () => {
    const control = await testControl();
    await control.commit("one");
    const secrets = [new Secret(currentSecret)] as const;
    const link = testLink(overApp(control.app), { host: control.host, secrets });
    const uplink = historyUplink({
      host: control.host,
      transport: { send: overApp(control.app), [Symbol.asyncDispose]: () => Promise.resolve() },
      calls: link.link.calls,
      presence: link.link.presence,
      endpoint: () => undefined,
    });
    const spool = openSpool({ ...partsOf(control.host), uplink });
    for (let id = 0; id < 450; id += 1) spool.append(recordOf(`q${id}`));
    await passes(control.host, () => spool.status().sent === 450);
    expect(spool.status()).toEqual({ queued: 0, sent: 450, dropped: 0, lastError: undefined });
    expect(link.count("/worker/query-records")).toBeLessThan(10);
    await spool.close(AbortSignal.abort());
    control.stop();
    await link.stop();
  });

  it("never has two batches under way, and keeps the order", async () => {
    const test = spoolOf();
    for (let id = 0; id < 500; id += 1) test.spool.append(recordOf(`q${id}`));
    await test.until(() => test.spool.status().sent === 500);
    expect(test.openMax()).toBe(1);
    expect(Math.max(...test.batches.map((batch) => batch.length))).toBeLessThanOrEqual(200);
    expect(test.batches.flat()).toEqual(Array.from({ length: 500 }, (_, id) => `q${id}`));
  });

  it("drops the oldest when it is full, counts each, and says so once", async () => {
    const test = spoolOf({ recordsMax: 100 });
    test.answer = () => err({ code: "unreachable", detail: "ECONNREFUSED" });
    for (let id = 0; id < 150; id += 1) test.spool.append(recordOf(`q${id}`));
    expect(test.spool.status()).toMatchObject({ queued: 100, dropped: 50 });
    await test.until(() => test.batches.length > 5);
    const lines = test.host.log.lines.map(({ event }) => event);
    expect(lines.filter((event) => event === "history.dropped")).toHaveLength(1);
    expect(lines.filter((event) => event === "history.unavailable")).toHaveLength(1);
    test.answer = taken;
    await test.until(() => test.spool.status().queued === 0);
    expect(test.spool.status()).toMatchObject({ sent: 100, dropped: 50, lastError: undefined });
    expect(test.host.metrics.value("gateway_history_dropped_total", {})).toBe(50);
  });

  it("accounts for every record, whatever the other side answers", async () => {
    const answers = fc.constantFrom<Answer[]>(
      taken,
      taken,
      () => err({ code: "busy", status: 503, retryAfterMs: undefined }),
      () => err({ code: "refused", status: 413 }),
      () => err({ code: "refused", status: 422 }),
      () => err({ code: "refused", status: 409 }),
      () => err({ code: "unregistered" }),
      () => err({ code: "timeout" }),
      (ids) => ok({ accepted: ids.length - 1, duplicates: 0, rejected: [{ index: 0, error: "" }] }),
    );
    await fc.assert(
      fc.asyncProperty(
        fc.array(answers, { minLength: 1, maxLength: 12 }),
        fc.integer({ min: 1, max: 60 }),
        async (list, recordsMax) => {
          const test = spoolOf({ recordsMax });
          let turn = 0;
          test.answer = (ids) => (list[(turn += 1) % list.length] ?? taken)(ids);
          for (let id = 0; id < 80; id += 1) test.spool.append(recordOf(`q${id}`));
          await test.host.advance(5_000);
          const { queued, sent, dropped } = test.spool.status();
          expect(queued + sent + dropped).toBe(80);
          expect(queued).toBeLessThanOrEqual(recordsMax);
          await test.spool.close(AbortSignal.abort());
          const end = test.spool.status();
          expect(end.sent + end.dropped).toBe(80);
          expect(test.host.timerCount).toBe(0);
        },
      ),
      { numRuns: 40 },
    );
  });

  it("keeps what is of a format that the control plane does not know yet", async () => {
    const test = spoolOf();
    test.answer = () => err({ code: "refused", status: 409 });
    test.spool.append(recordOf("q1"));
    await test.until(() => test.spool.status().lastError !== undefined);
    await test.host.advance(3_600_000);
    expect(test.spool.status()).toMatchObject({ queued: 1, dropped: 0 });
    test.answer = taken;
    await test.until(() => test.spool.status().sent === 1);
  });

  it("sends fewer at once when a batch is too large, and loses only the record that is to blame", async () => {
    const test = spoolOf();
    test.answer = (ids) =>
      ids.includes("bad") ? err({ code: "refused", status: 413 }) : taken(ids);
    for (const id of ["a", "b", "c", "bad", "d", "e"]) test.spool.append(recordOf(id));
    await test.until(() => test.spool.status().queued === 0);
    expect(test.spool.status()).toMatchObject({ sent: 5, dropped: 1 });
    expect(new Set(test.taken)).toEqual(new Set(["a", "b", "c", "d", "e"]));
  });

  it("never lets an unredacted record out, also when redacting fails", async () => {
    const test = spoolOf({
      prepare: (record) => {
        if (record.proxyQueryId === "bad") throw new Error("bug");
        return redact(record, "maskLiterals");
      },
    });
    for (const id of ["good", "bad"]) {
      test.spool.append({ ...recordOf(id), sql: "SELECT 'canary-4711'" });
    }
    await test.until(() => test.spool.status().sent === 1);
    expect(test.spool.status().dropped).toBe(1);
    expect(test.texts.join("")).not.toContain("canary");
    expect(test.host.log.bugs).toHaveLength(1);
  });

  it("sends what is left at the end, and counts what did not make it by the deadline", async () => {
    const test = spoolOf();
    test.spool.append(recordOf("q1"));
    const closing = test.spool.close(new AbortController().signal);
    await test.until(() => test.spool.status().sent === 1);
    await closing;
    test.spool.append(recordOf("late"));
    expect(test.spool.status()).toMatchObject({ sent: 1, dropped: 1 });

    const slow = spoolOf();
    slow.answer = () => err({ code: "unreachable", detail: "ECONNREFUSED" });
    for (let id = 0; id < 10; id += 1) slow.spool.append(recordOf(`q${id}`));
    const deadline = new AbortController();
    const ended = slow.spool.close(deadline.signal);
    await slow.host.advance(30_000);
    deadline.abort();
    await ended;
    expect(slow.spool.status()).toMatchObject({ sent: 0, dropped: 10 });
    expect(slow.host.timerCount).toBe(0);
  });
});

describe("historyUplink", () => {
  it("never sends the fleet secret or the instance token to another endpoint", async () => {
    const control = await testControl();
    await control.commit("one");
    const link = testLink(overApp(control.app), {
      host: control.host,
      secrets: [new Secret(currentSecret)],
    });
    await passes(control.host, () => link.link.presence.headers() !== undefined);
    const seen: unknown[] = [];
    const uplink = historyUplink({
      host: control.host,
      transport: {
        send: (request) => {
          seen.push({ ...request, body: undefined });
          return Promise.resolve(ok({ status: 202, headers: {}, body: new Uint8Array() }));
        },
        [Symbol.asyncDispose]: () => Promise.resolve(),
      },
      calls: link.link.calls,
      presence: link.link.presence,
      endpoint: () => ({ url: "https://history.example/in", bearer: new Secret("own-token") }),
    });
    const spool = openSpool({ ...partsOf(control.host), uplink });
    spool.append(recordOf("q1"));
    await passes(control.host, () => spool.status().sent === 1);
    const [request] = seen;
    expect(request).toMatchObject({
      url: "https://history.example/in",
      headers: { authorization: "Bearer own-token", "content-encoding": "gzip" },
    });
    expect(JSON.stringify(seen)).not.toContain(currentSecret);
    expect(JSON.stringify(seen)).not.toContain("instance");
    await spool.close(AbortSignal.abort());
    control.stop();
    await link.stop();
  });
});

describe("openSpoolDisk", () => {
  it("continues after a restart with what was not sent, sealed and only once", async () => {
    await using state = await stateOf();
    const first = await state.open();
    first.answer = refuse;
    for (let id = 0; id < 450; id += 1) {
      first.spool.append({ ...recordOf(`q${id}`), user: "canary-user" });
    }
    await first.spool.close(AbortSignal.abort());
    expect(first.spool.status()).toMatchObject({ queued: 450, dropped: 0 });
    for (const name of readdirSync(state.path).filter((one) => one.startsWith("spool"))) {
      expect(readFileSync(join(state.path, name), "latin1")).not.toContain("canary");
    }

    const second = await state.open();
    second.spool.append(recordOf("q450"));
    await second.until(() => second.spool.status().queued === 0);
    expect(second.taken).toEqual(Array.from({ length: 451 }, (_, id) => `q${id}`));
    await second.spool.close(AbortSignal.abort());

    const third = await state.open();
    expect(third.spool.status()).toMatchObject({ queued: 0, dropped: 0 });
    await third.spool.close(AbortSignal.abort());
    expect(readdirSync(state.path).filter((one) => /^spool-\d/.test(one))).toEqual([]);
  });

  it("has after a kill what was written before, and nothing that was sent and noted", async () => {
    await using state = await stateOf();
    const killed = await state.open();
    for (let id = 0; id < 5; id += 1) killed.spool.append(recordOf(`sent${id}`));
    await killed.until(() => killed.spool.status().sent === 5);
    killed.answer = refuse;
    for (let id = 0; id < 5; id += 1) killed.spool.append(recordOf(`left${id}`));
    await killed.until(() => state.read("spool-0").includes("left4"));
    const next = await state.open();
    await next.until(() => next.spool.status().queued === 0);
    expect(next.taken).toEqual(["left0", "left1", "left2", "left3", "left4"]);
    await next.spool.close(AbortSignal.abort());
  });

  it("counts what can not be read, sends the rest, and is not stopped by anything in the files", async () => {
    await using state = await stateOf();
    const first = await state.open();
    first.answer = refuse;
    for (let id = 0; id < 450; id += 1) first.spool.append(recordOf(`q${id}`));
    await first.spool.close(AbortSignal.abort());
    const [one] = readdirSync(state.path)
      .filter((name) => /^spool-\d/.test(name))
      .toSorted();
    const path = join(state.path, one ?? "");
    const bytes = readFileSync(path);
    bytes[100] = (bytes[100] ?? 0) ^ 1;
    writeFileSync(path, bytes);
    const second = await state.open();
    await second.until(() => second.spool.status().queued === 0);
    expect(second.spool.status()).toMatchObject({ sent: 250, dropped: 200 });
    await second.spool.close(AbortSignal.abort());

    const stranger = await state.open({ secret: otherSecret });
    expect(stranger.spool.status().queued).toBe(0);
    await stranger.spool.close(AbortSignal.abort());
  });

  it("goes on sending when the disk is full, and says so once", async () => {
    const host = virtualHost(1);
    const disk = await openSpoolDisk({
      host,
      secrets: [testSecret],
      dir: {
        read: () => Promise.resolve(ok(undefined)),
        list: () => Promise.resolve(ok([])),
        cell: () => Promise.resolve(ok(cellOf())),
        remove: () => Promise.resolve(ok(undefined)),
        write: () => Promise.resolve(err("ENOSPC")),
      },
    });
    const test = spoolOf({ disk }, host);
    for (let id = 0; id < 50; id += 1) {
      test.spool.append(recordOf(`q${id}`));
      await host.advance(1_000);
    }
    await test.until(() => test.spool.status().sent === 50);
    expect(host.log.lines.filter(({ event }) => event === "history.spoolFailed")).toHaveLength(1);
    test.answer = refuse;
    test.spool.append(recordOf("last"));
    await test.spool.close(AbortSignal.abort());
    expect(test.spool.status().dropped).toBe(1);
  });
});

async function stateOf() {
  const path = mkdtempSync(join(root, "state-"));
  const held = await openStateDir(path);
  if (!held.ok) throw new Error(held.error);
  const dir = held.value;
  return {
    path,
    /** What a segment holds, opened. */
    read: (name: string) => {
      if (!existsSync(join(path, name))) return "";
      const as = { purpose: "history spool", context: name } as const;
      const opened = unseal(readFileSync(join(path, name)), [testSecret], as);
      return opened.ok ? Buffer.from(opened.value.bytes).toString("utf8") : "";
    },
    open: async ({ secret = testSecret }: { readonly secret?: Secret } = {}) => {
      const host = virtualHost(1);
      const disk: SpoolDisk = await openSpoolDisk({ host, dir, secrets: [secret] });
      return spoolOf({ disk }, host);
    },
    [Symbol.asyncDispose]: () => dir[Symbol.asyncDispose](),
  };
}
