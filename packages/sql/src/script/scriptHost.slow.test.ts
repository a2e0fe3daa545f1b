import { readFileSync } from "node:fs";
import type { ScriptConfig } from "@gateway/contract/config/script.ts";
import type { ScriptQuery } from "@gateway/contract/script.ts";
import type { Scripts } from "@gateway/core/script/scripts.ts";
import { workerThreads } from "@gateway/gateway/host/process/threads.ts";
import { systemClock } from "@gateway/gateway/host/clock.ts";
import { describe, expect, it } from "vitest";
import { ScriptHost } from "./scriptHost.ts";

const bundle = new URL("../../../gateway/dist/", import.meta.url);

describe("ScriptHost", () => {
  it("answers queries, and ends its thread with the last of its scripts", async () => {
    const { host, started, running } = hostOf();
    const first = await opened(host, { a: route("return tags.team ?? null;") });
    const second = await opened(host, { a: route('return "second";') });
    expect(await ask(first, "alice", { team: "lab" })).toEqual({ ok: true, value: "lab" });
    expect(await ask(first, "alice")).toEqual({ ok: true, value: null });
    expect(await ask(second, "alice")).toEqual({ ok: true, value: "second" });
    await first[Symbol.asyncDispose]();
    expect(await ask(first, "alice")).toMatchObject({ error: { code: "lost" } });
    expect(await ask(second, "alice")).toEqual({ ok: true, value: "second" });
    expect(running()).toBe(1);
    await second[Symbol.asyncDispose]();
    expect([started(), running()]).toEqual([1, 0]);
  });

  it("answers each script that does not compile, with its line, and opens none", async () => {
    const { host, running } = hostOf();
    const faults = await host.open({
      good: route("return null;"),
      bad: { use: "route", source: "function route() {\n  return (;\n}" },
      other: { use: "judge", source: "function route() {}" },
    });
    if (faults.ok) throw new Error("it opened");
    const byName = new Map(faults.error.map(({ name, reason }) => [name, reason]));
    expect([...byName.keys()].toSorted()).toEqual(["bad", "other"]);
    expect(byName.get("bad")).toMatch(/^line 2: SyntaxError/);
    expect(byName.get("other")).toMatch(/defines no function judge/);
    expect(running()).toBe(0);
  });

  it("fails a call that never comes back, starts a new thread, and answers everybody else", async () => {
    const { host, started } = hostOf();
    // One call of a built-in function, in which QuickJS can not be interrupted.
    const stuck = 'if (user === "eve") return String(new Array(4e9).indexOf(1));';
    const scripts = await opened(host, { a: route(`${stuck} return user;`) });
    const asked = ["alice", "eve", "bob", "carol"].map((user) => ask(scripts, user));
    const [alice, eve, bob, carol] = await Promise.all(asked);
    expect([alice, bob, carol]).toEqual([
      { ok: true, value: "alice" },
      { ok: true, value: "bob" },
      { ok: true, value: "carol" },
    ]);
    expect(eve).toMatchObject({ error: { code: "time" } });
    expect(started()).toBe(2);
    await scripts[Symbol.asyncDispose]();
  });

  it("refuses a user whose calls were cut again and again for a while, and nobody else", async () => {
    const { host } = hostOf();
    const scripts = await opened(host, {
      a: route('if (user === "eve") for (;;) {} return user;'),
    });
    for (let times = 0; times < 3; times += 1) {
      expect(await ask(scripts, "eve")).toMatchObject({ error: { code: "time" } });
    }
    expect(await ask(scripts, "eve")).toMatchObject({ error: { code: "busy" } });
    expect(await ask(scripts, "alice")).toEqual({ ok: true, value: "alice" });
    await scripts[Symbol.asyncDispose]();
  });

  it("takes an answer of another shape for none", async () => {
    const { host } = hostOf();
    const scripts = await opened(host, { a: route("return { group: 7 };") });
    expect(await ask(scripts, "alice")).toEqual({
      ok: false,
      error: {
        code: "answer",
        detail: "it has to answer the name of a group, { deny: reason } or null",
      },
    });
    await scripts[Symbol.asyncDispose]();
  });

  it("has the engine in the thread's program and not in the gateway's", () => {
    const textOf = (file: string) => readFileSync(new URL(file, bundle), "utf8");
    expect(textOf("scriptThread.js")).toContain("QTS_NewRuntime");
    expect(textOf("gateway.js")).not.toContain("QTS_NewRuntime");
  });
});

function hostOf() {
  let started = 0;
  let running = 0;
  const real = workerThreads(bundle);
  const host = new ScriptHost({
    clock: systemClock,
    threads: {
      start: (name, data) => {
        const thread = real.start(name, data);
        started += 1;
        running += 1;
        return {
          ...thread,
          terminate: async () => {
            await thread.terminate();
            running -= 1;
          },
        };
      },
    },
  });
  return { host, started: () => started, running: () => running };
}

function route(body: string): ScriptConfig {
  return { use: "route", source: `function route({ user, tags }) { ${body} }` };
}

async function opened(
  host: ScriptHost,
  scripts: Readonly<Record<string, ScriptConfig>>,
): Promise<Scripts> {
  const made = await host.open(scripts);
  if (!made.ok) throw new Error(JSON.stringify(made.error));
  return made.value;
}

function ask(scripts: Scripts, user: string, tags: Readonly<Record<string, string>> = {}) {
  const query: ScriptQuery = {
    sql: "SELECT 1",
    sqlLength: 8,
    kind: "select",
    parameters: 0,
    user,
    groups: [],
    roles: [],
    tags,
    protocol: "trinoHttp",
    clientAddress: "127.0.0.1",
    headers: {},
    catalog: null,
    schema: null,
    dialect: "trino",
    group: null,
  };
  return scripts.ask("route", "a", { query });
}
