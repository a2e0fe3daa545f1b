import type { Log } from "@gateway/core/port/log.ts";
import { describe, expect, it } from "vitest";
import { LocalWorkers } from "./localWorkers.ts";

function testedOf() {
  const lines: string[] = [];
  const log: Pick<Log, "write"> = {
    write: (level, event, fields) => void lines.push(`${level} ${event} ${JSON.stringify(fields)}`),
  };
  return { lines, workers: new LocalWorkers(log as Log) };
}

describe("LocalWorkers", () => {
  it("warns once while two or more workers count alone, and again when it comes back", () => {
    const { lines, workers } = testedOf();
    workers.heard("a", "local", 0);
    workers.heard("b", "controlPlane", 0);
    workers.heard("old", undefined, 0);
    expect(lines).toEqual([]);
    workers.heard("c", "local", 10_000);
    workers.heard("a", "local", 20_000);
    workers.heard("c", "local", 20_000);
    expect(lines).toEqual(['warn capacity.countedAlone {"workers":2}']);
    workers.heard("c", "controlPlane", 30_000);
    workers.heard("c", "local", 40_000);
    expect(lines).toHaveLength(2);
  });

  it("forgets those that are not heard any more", () => {
    const { lines, workers } = testedOf();
    workers.heard("a", "local", 0);
    workers.heard("b", "local", 61_000);
    expect(lines).toEqual([]);
  });
});
