import { execFileSync } from "node:child_process";
import {
  closeSync,
  constants,
  mkdtempSync,
  openSync,
  readFileSync,
  readSync,
  rmSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { descriptorTarget } from "./lineTarget.ts";

describe("descriptorTarget", () => {
  it("writes to a file in large pieces", async () => {
    using folder = folderOf();
    const path = join(folder.path, "log");
    const target = descriptorTarget(folder.open(path, "a"));
    expect(target.pieceBytesMax).toBe(65_536);
    expect(target.writeNow(Buffer.from("now\n"))).toBe(4);
    expect(await written(target, "later\n")).toEqual([6, undefined]);
    expect(readFileSync(path, "utf8")).toBe("now\nlater\n");
  });

  // Another system may have no way to open a pipe again; then another thread writes.
  it.runIf(process.platform === "linux")(
    "never waits for the reader of a pipe, and leaves the descriptor of others as it was",
    async () => {
      using folder = folderOf();
      const path = join(folder.path, "pipe");
      execFileSync("mkfifo", [path]);
      const reader = folder.open(path, constants.O_RDONLY | constants.O_NONBLOCK);
      const descriptor = folder.open(path, constants.O_WRONLY);
      const target = descriptorTarget(descriptor);
      expect(target.pieceBytesMax).toBe(4_096);
      const piece = "x".repeat(4_096);
      let last = await written(target, piece);
      for (let n = 0; n < 1_000 && last[1] === undefined; n += 1)
        last = await written(target, piece);
      expect(last).toEqual([0, "EAGAIN"]);
      expect(target.writeNow(Buffer.from(piece))).toBe("EAGAIN");
      const flags = readFileSync(`/proc/self/fdinfo/${descriptor}`, "utf8");
      const [, octal = ""] = /flags:\s*(\d+)/.exec(flags) ?? [];
      expect(Number.parseInt(octal, 8) & constants.O_NONBLOCK).toBe(0);
      readSync(reader, Buffer.alloc(4_096));
      expect(await written(target, piece)).toEqual([4_096, undefined]);
    },
  );

  it("answers the code of a failure where nobody reads", async () => {
    const target = descriptorTarget(1_000_000);
    expect(target.pieceBytesMax).toBe(4_096);
    expect(target.writeNow(Buffer.from("x"))).toBe("EBADF");
    expect((await written(target, "x"))[1]).toBe("EBADF");
  });
});

function written(
  target: ReturnType<typeof descriptorTarget>,
  text: string,
): Promise<readonly [taken: number, failure: string | undefined]> {
  return new Promise((resolve) => {
    target.write(Buffer.from(text), (taken, failure) => resolve([taken, failure]));
  });
}

/** A folder that goes with what was opened in it. */
function folderOf() {
  const path = mkdtempSync(join(tmpdir(), "lines-"));
  const opened: number[] = [];
  return {
    path,
    open: (file: string, flags: string | number): number => {
      const descriptor = openSync(file, flags);
      opened.push(descriptor);
      return descriptor;
    },
    [Symbol.dispose]: () => {
      for (const descriptor of opened) closeSync(descriptor);
      rmSync(path, { recursive: true });
    },
  };
}
