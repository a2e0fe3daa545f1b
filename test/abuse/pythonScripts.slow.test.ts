/**
 * Python scripts that attack what runs them. They reach around what Python itself hides from them, to the C library
 * and to any system call: what holds is the process they run in.
 */
import { execFile } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { arch, platform, tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { systemClock as clock } from "@gateway/gateway/host/clock.ts";
import { openPython } from "@gateway/gateway/host/python/openPython.ts";
import { PythonRewrites } from "@gateway/gateway/host/python/pythonRewrites.ts";
import type { ScriptQuery } from "@gateway/contract/script.ts";
import pg from "pg";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { configOf, gatewayOf, portOf } from "../e2e/gateway.ts";

const bundle = new URL("../../packages/gateway/src/host/python/", import.meta.url);
const python = "/usr/bin/python3";

/** To the modules that the allow list hides, and to the C library. */
const reach = `
import json
builtins = json.codecs.builtins
sys = json.codecs.sys
posix = builtins.__import__("posix")
def libc():
    found = [one for one in object.__subclasses__() if one.__name__ == "CDLL"]
    return (found[0] if found else builtins.__import__("ctypes").CDLL)(None, use_errno=True)
def what(attempt):
    try:
        return "did " + str(attempt())
    except BaseException as error:
        return type(error).__name__ + " " + str(getattr(error, "errno", ""))
`;

/** What each has to fail with, and the same without the sandbox does. */
const attacks: Readonly<Record<string, string>> = {
  "opens a file": `posix.open("/etc/passwd", 0)`,
  "opens a file by Python's own function": `builtins.open("/etc/passwd").read()`,
  "lists a folder": `posix.listdir("/")`,
  "looks at a file": `posix.stat("/etc/passwd")`,
  "makes a file": `posix.open("/tmp/made-by-a-script", 65)`,
  forks: `posix.fork() and "forked"`,
  "makes a pipe": `posix.pipe()`,
  "signals its parent": `posix.kill(posix.getppid(), 0)`,
  "asks who it is": `posix.uname().sysname`,
  "reads what stands in its input": `posix.read(0, 0)`,
  "copies a descriptor": `posix.dup(1)`,
  "changes its priority": `posix.nice(1)`,
  sleeps: `builtins.__import__("time").sleep(0.01)`,
};

const cut: Readonly<Record<string, readonly [body: string, code: string]>> = {
  loops: ["while True: pass", "time"],
  "loops in one regular expression": [`__import__("re").match("(a+)+$", "a" * 40 + "!")`, "time"],
  "loops where exceptions are caught": [
    "while True:\n        try:\n            while True: pass\n        except BaseException: pass",
    "time",
  ],
  "waits for what never comes": [
    `lock = builtins.__import__("_thread").allocate_lock(); lock.acquire(); lock.acquire()`,
    "time",
  ],
  "takes a gigabyte": [`return "x" * 10**9`, "memory"],
  "takes memory piece by piece": ["all = []\n    while True: all.append(bytes(10**6))", "memory"],
  "answers two million characters": [`return "x" * 2_000_000`, "answer"],
  "answers a number": ["return 7", "answer"],
  "answers an object that is a text": [`return type("T", (str,), {})("SELECT 1")`, "answer"],
  "writes without end": [`while True: posix.write(1, b"x" * 65536)`, "lost"],
  "ends at once": ["posix._exit(0)", "lost"],
  "ends as one that can not be limited": ["posix._exit(3)", "lost"],
  crashes: ["libc().memset(8, 0, 8)", "lost"],
  recurses: ["f = lambda: f()\n    f()", "threw"],
  "imports what it may not": ["import os", "threw"],
  leaves: ["raise SystemExit(0)", "threw"],
};

let folder: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), "gateway-python-"));
});
afterAll(() => rmSync(folder, { recursive: true }));

describe.skipIf(platform() !== "linux")("a Python script", () => {
  it("rewrites, and leaves what it does not know", async () => {
    await using scripts = await opened({
      "a.py": `import re\ndef rewrite(query, place):\n    return re.sub("a", place["engine"], query["sql"]) if query["kind"] == "select" else None`,
    });
    expect(await ask(scripts, "SELECT a")).toEqual({ ok: true, value: "SELECT duckDb" });
    expect(await ask(scripts, "a", { kind: "ddl" })).toEqual({ ok: true, value: null });
    expect(await ask(scripts, "SELECT a, 'ü€😀'")).toMatchObject({
      value: "SELECT duckDb, 'ü€😀'",
    });
  });

  it.each(Object.entries(attacks))("that %s is not let", async (_, attempt) => {
    await using scripts = await opened({ "a.py": attacking(`return what(lambda: ${attempt})`) });
    const answer = await ask(scripts, "SELECT 1");
    expect(answer).toMatchObject({ ok: true, value: expect.stringMatching(/^PermissionError 1$/) });
    // The same outside: the attack is one.
    const alone = `${reach}\nprint(what(lambda: ${attempt}))`;
    const { stdout } = await promisify(execFile)(python, ["-c", alone]);
    expect(stdout.split("\n")[0]).toMatch(/^did /);
  });

  it("that calls the system itself is let through to nothing but computing", async () => {
    const allowed = { x64: [1, 9, 10, 11, 12, 15, 25, 28, 60, 202, 228, 231] }[arch() as "x64"];
    if (allowed === undefined) return;
    // uretprobe and uprobe pass every filter, and end whoever did not come from a probe of the kernel's own.
    const passed = [...allowed, 335, 336];
    const body = `lib = libc()
    get = type(lib).__init__.__globals__["get_errno"]
    let = [n for base in (0, 0x40000000) for n in range(520) if (base or n not in ${JSON.stringify(passed)})
      and (lib.syscall(base + n, 0, 0, 0, 0, 0, 0) != -1 or get() != 1)]
    runnable = [lib.syscall(9, 0, 4096, 7, 34, -1, 0), lib.syscall(10, 4096, 4096, 5)]
    return json.dumps([let, runnable, lib.syscall(1, 2, b"x", 1), lib.syscall(9, 0, 4096, 3, 34, -1, 0) != -1])`;
    await using scripts = await opened({ "a.py": attacking(body) });
    const answer = await ask(scripts, "SELECT 1");
    expect(answer.ok ? undefined : answer.error).toBeUndefined();
    expect(JSON.parse(answer.ok ? (answer.value ?? "") : "")).toEqual([[], [-1, -1], -1, true]);
  });

  it.each(Object.entries(cut))(
    "that %s is cut, and the next statement is answered",
    async (_, [body, code]) => {
      await using scripts = await opened({
        "a.py": attacking(`if query["sql"] == "good": return "fine"\n    ${body}`),
      });
      expect(await ask(scripts, "bad")).toMatchObject({ ok: false, error: { code } });
      expect(await ask(scripts, "good")).toEqual({ ok: true, value: "fine" });
    },
  );

  it("finds nothing of another statement", async () => {
    const body = `kept = getattr(json, "kept", None), getattr(builtins, "kept", None), globals().get("kept")
    gc = builtins.__import__("gc")
    own = query["sql"]
    seen = [one for one in gc.get_objects() for one in (one.values() if type(one) is dict else [one])
      if type(one) is str and "secret" in one and one not in (own, ${JSON.stringify("secret")})]
    json.kept = builtins.kept = globals()["kept"] = own
    return json.dumps([kept, len([one for one in seen if "SELECT 'secret" in one])])`;
    await using scripts = await opened({ "a.py": attacking(body) });
    const first = await ask(scripts, "SELECT 'secret of ann'", { user: "ann" });
    const second = await ask(scripts, "SELECT 2", { user: "bob" });
    expect(first).toEqual(second);
    expect(second).toEqual({ ok: true, value: "[[null, null, null], 0]" });
  });

  it("can not answer for the next statement", async () => {
    const body = `if query["sql"] == "good": return "fine"
    forged = b'{"answer": "forged"}'
    frame = bytes(16) + len(forged).to_bytes(4, "little") + forged
    posix.write(1, frame * 3)
    return "own"`;
    await using scripts = await opened({ "a.py": attacking(body) });
    for (let times = 0; times < 3; times += 1) {
      expect(await ask(scripts, "bad")).toMatchObject({ ok: false });
      expect(await ask(scripts, "good")).toEqual({ ok: true, value: "fine" });
    }
  });

  it("throws with the line in its file", async () => {
    await using scripts = await opened({
      "a.py":
        "def inner(x):\n    return x.nothing\n\ndef rewrite(query, place):\n    return inner(query)\n",
    });
    expect(await ask(scripts, "SELECT 1")).toMatchObject({
      error: {
        code: "threw",
        line: 2,
        detail: "AttributeError: 'dict' object has no attribute 'nothing'",
      },
    });
  });

  it("has the same order of sets in every process", async () => {
    const source = `def rewrite(query, place):\n    return " ".join({str(n) for n in range(50)})`;
    const orders = await Promise.all(
      [0, 1].map(async () => {
        await using scripts = await opened({ "a.py": source });
        return await ask(scripts, "x");
      }),
    );
    expect(orders[0]).toEqual(orders[1]);
  });

  it("goes on after its interpreter is killed, between and in the middle of calls", async () => {
    await using scripts = await opened({
      "a.py": attacking(
        `if query["sql"] == "good": return "fine"\n    ${cut["waits for what never comes"]?.[0]}`,
      ),
    });
    const killed = () => process.kill(scripts.pid ?? Number.NaN, "SIGKILL");
    killed();
    expect(await ask(scripts, "good")).toEqual({ ok: true, value: "fine" });
    const waits = ask(scripts, "bad");
    killed();
    // It is made anew, and waits again.
    expect(await waits).toMatchObject({ error: { code: "time" } });
    expect(await ask(scripts, "good")).toEqual({ ok: true, value: "fine" });
  });

  it("runs without root, without privileges to gain and without the gateway's environment", async () => {
    await using scripts = await opened({ "a.py": "def rewrite(query, place): return None" });
    const of = (name: string) => readFileSync(`/proc/${scripts.pid}/${name}`, "utf8");
    expect(of("status")).toMatch(/^NoNewPrivs:\t1$/m);
    const uid = process.getuid?.() === 0 ? 65_534 : process.getuid?.();
    expect(of("status")).toMatch(new RegExp(`^Uid:\t${uid}\t${uid}\t${uid}\t${uid}$`, "m"));
    expect(of("status")).toMatch(/^CapEff:\t0+$/m);
  });

  it.each([
    ["def rewrite(query, place:\n    pass", /^line 1: SyntaxError: /],
    ["x = 1\n\ny = nothing\n", /^line 3: NameError: /],
    ["def other(query): pass", /^TypeError: the file defines no function rewrite$/],
    ["import socket\ndef rewrite(query, place): pass", /^line 1: ImportError: socket can not/],
    ["while True: pass", /^it took too long/],
    ["x = 'a' * 10**9\ndef rewrite(query, place): pass", /memory/],
    ["\0", /null bytes/],
  ])("is refused at the start where it is wrong: %j", async (source, reason) => {
    expect(await refusals({ "good.py": good, "a.py": source })).toEqual([
      { part: "translation.pythonScripts[1].file", reason: expect.stringMatching(reason) },
    ]);
  });

  it("is refused where it is not there or no text", async () => {
    expect(await refusals({ "a.py": undefined })).toEqual([
      { part: "translation.pythonScripts[0].file", reason: "can not be read (ENOENT)" },
    ]);
    expect(await refusals({ "a.py": new Uint8Array([0xff]) })).toEqual([
      { part: "translation.pythonScripts[0].file", reason: "can not be read (no UTF-8)" },
    ]);
  });

  it.each([
    [
      "no filter can be installed",
      "PR_SET_SECCOMP, PR_SET_NO_NEW_PRIVS, SECCOMP_MODE_FILTER = 1, 22",
      "PR_SET_SECCOMP, PR_SET_NO_NEW_PRIVS, SECCOMP_MODE_FILTER = 1, 9999",
    ],
    [
      "the filter holds nothing",
      "deny, kill = 0x7FFF0000, 0x00050001",
      "deny, kill = 0x7FFF0000, 0x7FFF0000",
    ],
    ["privileges can not be given up", "PR_SET_NO_NEW_PRIVS, 1", "9999, 1"],
    ["there is no filter for the machine", "os.uname().machine", '"riscv64"'],
    ["root can not be given up", "if 0 in os.getresuid()", "if True or 0 in os.getresuid()"],
  ])("never runs where %s", async (_, from, to) => {
    const launcher = readFileSync(new URL("pythonLauncher.py", bundle), "utf8");
    const broken = launcher.replace(from, to);
    expect(broken).not.toBe(launcher);
    const marker = join(folder, "ran");
    const source =
      attacking("return None") + `\nwhat(lambda: posix.open(${JSON.stringify(marker)}, 65))`;
    const rewrite = { name: "a.py", when: "before", source } as const;
    const tried = await PythonRewrites.open([rewrite], { python, launcher: broken, clock });
    expect(tried).toMatchObject({ ok: false });
    expect(() => readFileSync(marker)).toThrow(/ENOENT/);
  });
});

describe.skipIf(platform() !== "linux")("a gateway with Python scripts", () => {
  it("rewrites for its clients, refuses what fails, and serves on", async () => {
    const source = `def rewrite(query, place):
    sql = query["sql"]
    if "loop" in sql:
        while True: pass
    if "drop" in sql: return "DROP TABLE t"
    if "boom" in sql: raise ValueError(sql)
    return sql.replace("old_name", "new_name")`;
    const file = write("e2e.py", source);
    const pythonScripts = [{ file, when: "before" }];
    await using gateway = await gatewayOf(configOf({ translation: { pythonScripts } }));
    const client = new pg.Client({
      host: "127.0.0.1",
      port: portOf(gateway, "postgresWire"),
      user: "ann",
    });
    await client.connect();
    try {
      await client.query("CREATE TABLE new_name AS SELECT 7 AS a");
      const { rows } = await client.query("SELECT a FROM old_name WHERE a = $1::int", [7]);
      expect(rows).toEqual([{ a: 7 }]);
      for (const word of ["loop", "drop", "boom"]) {
        const refused = client.query(`SELECT '${word}'`);
        await expect(refused).rejects.toThrow(/^The script e2e\.py of the configuration /);
        expect((await client.query("SELECT 1 AS a")).rows).toEqual([{ a: 1 }]);
      }
    } finally {
      await client.end();
    }
    expect(await gateway.metrics()).toMatch(
      /gateway_script_failures_total\{use="rewrite",reason="time"\} 1/,
    );
  });

  it("does not start with one that does not compile", async () => {
    const pythonScripts = [{ file: write("broken.py", "def ("), when: "before" }];
    await expect(gatewayOf(configOf({ translation: { pythonScripts } }))).rejects.toThrow(
      /translation\.pythonScripts\[0\]\.file.*line 1: SyntaxError/,
    );
  });
});

const good = "def rewrite(query, place): return None";

function attacking(body: string): string {
  return `${reach}\ndef rewrite(query, place):\n    ${body}\n`;
}

function write(name: string, source: string | Uint8Array): string {
  const file = join(folder, name);
  writeFileSync(file, source);
  return file;
}

type Sources = Readonly<Record<string, string | Uint8Array | undefined>>;

function tryOpen(sources: Sources) {
  const scripts = Object.entries(sources).map(([name, source]) => ({
    file: source === undefined ? join(folder, "missing.py") : write(name, source),
    when: "before" as const,
  }));
  return openPython(scripts, { host: { clock }, bundle, path: undefined });
}

async function opened(sources: Sources): Promise<PythonRewrites> {
  const scripts = await tryOpen(sources);
  if (!scripts.ok) throw new Error(JSON.stringify(scripts.error));
  return scripts.value;
}

async function refusals(sources: Sources) {
  const scripts = await tryOpen(sources);
  if (!scripts.ok) return scripts.error;
  await scripts.value[Symbol.asyncDispose]();
  throw new Error("they were opened");
}

function ask(scripts: PythonRewrites, sql: string, more: Partial<ScriptQuery> = {}) {
  const query = { sql, kind: "select", user: "ann", ...more };
  const beside = { when: "before", cluster: "c", engine: "duckDb", dialect: "duckdb" };
  return scripts.ask("a.py", { query: query as ScriptQuery, beside });
}
