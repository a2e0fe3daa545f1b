import type { ScriptUse } from "@gateway/contract/config/script.ts";
import { describe, expect, it } from "vitest";
import { loadSandboxes } from "./sandbox.ts";

let now = 0;
/** Milliseconds that pass between two looks at the clock: a loop looks often, and how fast this machine is says nothing. */
let pace = 0;
const open = await loadSandboxes(() => (now += pace));

describe("Sandbox", () => {
  it("calls the function of its use with the arguments and answers JSON", () => {
    const source =
      "const big = 100;\nfunction route(query, beside) { return [query.user, beside, big]; }";
    expect(call(source, '[{"user":"alice"},7]')).toEqual({ ok: true, value: '["alice",7,100]' });
    expect(call("const route = () => undefined;")).toEqual({ ok: true, value: "null" });
    expect(call("function match() { return true }", "[]", "match")).toMatchObject({
      value: "true",
    });
  });

  it.each([
    ["function route(() {}", 1],
    ["let a = 1;\nlet b = ;\nfunction route() {}", 2],
    ["\n\nfoo();\nfunction route() {}", 3],
    ["function route() {}\nundeclared = 1;", 2],
    ["const a = 1;\nimport fs from 'fs';", 2],
  ])("names the line of what does not compile or run: %j", (source, line) => {
    expect(open(source, "route")).toMatchObject({ ok: false, error: { code: "threw", line } });
  });

  it("refuses a source without the function", () => {
    expect(open("function other() {}", "route")).toMatchObject({
      error: { code: "threw", detail: "TypeError: the source defines no function route" },
    });
  });

  it("names the line in which a call threw", () => {
    expect(call("function route(q) {\n  return q.a.b;\n}", "[{}]")).toMatchObject({
      error: { code: "threw", line: 2 },
    });
    expect(call("function route() { throw { a: 1 }; }")).toMatchObject({
      error: { code: "threw" },
    });
  });

  it.each([
    ["for (;;) {}", "time"],
    ["return /(a+)+$/.test('a'.repeat(40) + '!');", "time"],
    ["try { for (;;) {} } catch { return 1 } finally { for (;;) {} }", "time"],
    ["const all = ['x'.repeat(8e6)]; for (;;) all.push(all[0] + all.length);", "memory"],
    ["return 'x'.repeat(1e9);", "memory"],
    ["return (function deep() { return deep() + 1; })();", "memory"],
    ["return 'x'.repeat(3e6);", "answer"],
  ])("cuts %j and answers the next call all the same", (body, code) => {
    const source = `function route(bad) { if (!bad) return "fine"; ${body} }`;
    const opened = open(source, "route");
    if (!opened.ok) throw new Error(opened.error.detail);
    using sandbox = opened.value;
    pace = code === "time" ? 1 : 0;
    for (let times = 0; times < 2; times += 1) {
      expect(sandbox.call("[true]")).toMatchObject({ ok: false, error: { code } });
      expect(sandbox.call("[false]")).toEqual({ ok: true, value: '"fine"' });
    }
    pace = 0;
  });

  it("has no time, no chance, no host and nothing that waits", () => {
    const names =
      "Date performance process require fetch setTimeout Promise WeakRef console std os";
    const source = `function route() {
      const here = ${JSON.stringify(names.split(" "))}.filter((name) => name in globalThis);
      return [here, typeof Math.random, typeof Math.floor];
    }`;
    expect(call(source)).toEqual({ ok: true, value: '[[],"undefined","function"]' });
    // What a promise holds is never waited for.
    expect(call("async function route() { return 'a' }")).toEqual({ ok: true, value: "{}" });
    expect(call("function route() { return import('fs') }")).toEqual({ ok: true, value: "{}" });
  });

  it("keeps nothing from one call to the next", () => {
    const source = `let count = 0; const seen = new Map();
      function route(kind) {
        count += 1; seen.set(count, kind);
        const tries = [
          () => { globalThis.kept = 1; },
          () => { Object.prototype.kept = 1; },
          () => { Array.prototype.push = 1; },
          () => { Math.kept = 1; },
          () => { JSON.parse = () => "other"; },
          () => { (function* () {}).constructor.prototype.kept = 1; },
          () => { Object.getPrototypeOf([][Symbol.iterator]()).kept = 1; },
          () => { route.kept = (route.kept ?? 0) + 1; },
        ].map((attempt) => { try { attempt(); return "kept"; } catch { return "no"; } });
        return [count, seen.size, tries, route.kept];
      }`;
    const opened = open(source, "route");
    if (!opened.ok) throw new Error(opened.error.detail);
    using sandbox = opened.value;
    const first = sandbox.call('["a"]');
    expect(first).toMatchObject({
      value: '[1,1,["no","no","no","no","no","no","no","kept"],1]',
    });
    expect(sandbox.call('["b"]')).toEqual(first);
  });

  function call(source: string, args = "[]", use: ScriptUse = "route") {
    const opened = open(source, use);
    if (!opened.ok) return opened;
    using sandbox = opened.value;
    return sandbox.call(args);
  }
});
