import { spawn } from "node:child_process";
import { chmod, mkdtemp, readdir, rm, writeFile } from "node:fs/promises";
import { once } from "node:events";
import { tmpdir } from "node:os";
import { join } from "node:path";
import fc from "fast-check";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { err } from "@gateway/core/result.ts";
import { findHolder, holdFolder, type FolderHold } from "./folderLock.ts";

describe("holdFolder", () => {
  let root: string;

  beforeEach(async () => {
    root = await mkdtemp(join(tmpdir(), "lock-test-"));
  });

  afterEach(async () => {
    await rm(root, { recursive: true });
  });

  it("lets one in and tells the others that the folder is in use", async () => {
    await using _hold = await held(root);
    expect(await holdFolder(root)).toEqual(err({ code: "inUse", path: root }));
  });

  it("can be held again after it was given back", async () => {
    const first = await held(root);
    await first[Symbol.asyncDispose]();
    expect(await findHolder(root)).toBeUndefined();
    await using _second = await held(root);
    expect(await readdir(root)).toEqual(["socket.2"]);
  });

  it("takes over from a process that was killed", async () => {
    await leftByKilledProcess(root, 7);
    expect(await readdir(root)).toEqual(["socket.7"]);
    await using _hold = await held(root);
    expect(await readdir(root)).toEqual(["socket.8"]);
  });

  it("lets exactly one of many in that start at once, whatever was left behind", async () => {
    const race = async (rivals: number, leftovers: readonly number[]): Promise<void> => {
      const folder = await mkdtemp(join(root, "race-"));
      // A file that is no socket refuses a connection like a dead one.
      for (const number of leftovers) await writeFile(join(folder, `socket.${number}`), "");
      const outcomes = await Promise.all(Array.from({ length: rivals }, () => holdFolder(folder)));
      const winners = outcomes.flatMap((outcome) => (outcome.ok ? [outcome.value] : []));
      expect(winners.length).toBe(1);
      expect((await holdFolder(folder)).ok).toBe(false);
      const left = await readdir(folder);
      expect(left).toEqual([`socket.${Math.max(0, ...leftovers) + 1}`]);
      await Promise.all(winners.map((winner) => winner[Symbol.asyncDispose]()));
    };
    const leftovers = fc.uniqueArray(fc.integer({ min: 1, max: 30 }), { maxLength: 4 });
    const oneWins = fc.asyncProperty(fc.integer({ min: 2, max: 12 }), leftovers, race);
    await fc.assert(oneWins, { numRuns: 40 });
  });

  it("never has two holders, however often they come and go", async () => {
    let holders = 0;
    let turns = 0;
    const comeAndGo = async (): Promise<void> => {
      while (turns < 60) {
        const outcome = await holdFolder(root);
        if (!outcome.ok) continue;
        holders += 1;
        turns += 1;
        expect(holders).toBe(1);
        await readdir(root);
        holders -= 1;
        await outcome.value[Symbol.asyncDispose]();
      }
    };
    await Promise.all(Array.from({ length: 4 }, comeAndGo));
  }, 30_000);

  it("refuses what is no folder", async () => {
    const path = join(root, "file");
    await writeFile(path, "");
    expect(await holdFolder(path)).toEqual(err({ code: "folderUnusable", path, detail: "EEXIST" }));
  });

  it("holds a folder whose path is longer than the address of a socket", async () => {
    const deep = join(root, "deep".repeat(40));
    await using _hold = await held(deep);
    expect(await holdFolder(deep)).toEqual(err({ code: "inUse", path: deep }));
    await using road = await findHolder(deep);
    expect(road?.address.length).toBeLessThan(100);
    await chmod(deep, 0o700);
  });
});

async function held(folder: string): Promise<FolderHold> {
  const outcome = await holdFolder(folder);
  if (!outcome.ok) throw new Error(outcome.error.code);
  return outcome.value;
}

/** A process that listened on the socket and ended without a word. */
async function leftByKilledProcess(folder: string, number: number): Promise<void> {
  const program = `require("net").createServer().listen(${JSON.stringify(join(folder, `socket.${number}`))}, () => console.log("listening"))`;
  const child = spawn(process.execPath, ["-e", program], { stdio: ["ignore", "pipe", "ignore"] });
  await once(child.stdout, "data");
  child.kill("SIGKILL");
  await once(child, "exit");
}
