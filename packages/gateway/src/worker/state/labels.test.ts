import { mkdirSync, mkdtempSync, renameSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { virtualHost } from "@gateway/core/rig/virtual.ts";
import { afterAll, describe, expect, it } from "vitest";
import { labelsPollMs } from "../limits.ts";
import { parseLabels, watchLabels } from "./labels.ts";

const folder = mkdtempSync(join(tmpdir(), "worker-labels-"));
afterAll(() => rmSync(folder, { recursive: true }));

describe("parseLabels", () => {
  it("reads what Kubernetes writes", () => {
    const text = 'app="shop"\nzone="a \\"b\\" \\n"\n\n# note\nplain=yes=no\n';
    expect(parseLabels(text)).toEqual({
      ok: true,
      value: { app: "shop", zone: 'a "b" \n', plain: "yes=no" },
    });
  });

  it.each(["no sign", '="x"', 'a="open', `a="${"x".repeat(1_025)}"`, `${"k".repeat(257)}=1`])(
    "refuses the line %j and says its number",
    (line) => {
      const parsed = parseLabels(`ok=1\n${line}`);
      expect(parsed.ok ? "" : parsed.error).toMatch(/^line 2 /);
    },
  );
});

describe("watchLabels", () => {
  it("has the labels of the config where there is no file", () => {
    using labels = watchLabels(partsOf(undefined).parts);
    expect(labels.current()).toEqual({ zone: "config", team: "a" });
  });

  it("merges the file over them, and reads it again when it changes", async () => {
    const file = join(folder, "labels");
    writeFileSync(file, 'zone="file"\n');
    const { parts, host, changes } = partsOf(file);
    using labels = watchLabels(parts);
    await labels.ready;
    expect(labels.current()).toEqual({ zone: "file", team: "a" });
    writeFileSync(file, 'zone="next"\n');
    await passes(host, () => changes() === 2);
    expect(labels.current()).toEqual({ zone: "next", team: "a" });
  });

  it("follows a link that is switched, as Kubernetes does it", async () => {
    const root = mkdtempSync(join(folder, "pod-"));
    for (const name of ["one", "two"]) {
      mkdirSync(join(root, name));
      writeFileSync(join(root, name, "labels"), `zone="${name}"\n`);
    }
    symlinkSync("one", join(root, "current"));
    const { parts, host, changes } = partsOf(join(root, "current", "labels"));
    using labels = watchLabels(parts);
    await labels.ready;
    symlinkSync("two", join(root, "next"));
    renameSync(join(root, "next"), join(root, "current"));
    await passes(host, () => changes() === 2);
    expect(labels.current()["zone"]).toBe("two");
  });

  it("keeps what it had when the file is gone or broken, and says each once", async () => {
    const file = join(folder, "broken");
    writeFileSync(file, 'zone="file"\n');
    const { parts, host } = partsOf(file);
    using labels = watchLabels(parts);
    await labels.ready;
    const warnings = () =>
      host.log.lines.filter(({ event }) => event === "worker.labelsIgnored").length;
    writeFileSync(file, "nonsense");
    await passes(host, () => warnings() === 1);
    rmSync(file);
    await passes(host, () => warnings() === 2);
    await passes(host, () => host.timerCount === 1);
    expect(warnings()).toBe(2);
    expect(labels.current()["zone"]).toBe("file");
  });

  it("leaves no timer behind", async () => {
    const { parts, host } = partsOf(join(folder, "none"));
    const labels = watchLabels(parts);
    await labels.ready;
    labels[Symbol.dispose]();
    expect(host.timerCount).toBe(0);
  });
});

function partsOf(file: string | undefined) {
  const host = virtualHost(1);
  let count = 0;
  const changed = (): void => {
    count += 1;
  };
  const parts = { host, base: { zone: "config", team: "a" }, file, changed };
  return { host, parts, changes: () => count };
}

/** Moves the clock on; reading a file takes real turns of the event loop. */
async function passes(host: ReturnType<typeof virtualHost>, done: () => boolean): Promise<void> {
  for (let turn = 0; turn < 10_000; turn += 1) {
    if (host.timerCount > 0) await host.advance(labelsPollMs);
    await host.settle();
    if (done()) return;
  }
  throw new Error("it did not happen");
}
