import { describe, expect, it } from "vitest";
import { lineLog } from "./log.ts";

describe("lineLog", () => {
  it("writes one line of JSON for each event from the threshold on", () => {
    const lines: string[] = [];
    const log = lineLog("warn", (line) => lines.push(line));
    log.write("info", "config.active");
    log.write("warn", "config.misfit", { path: "clusters.a", faults: 2 });
    expect(lines).toEqual([
      '{"level":"warn","event":"config.misfit","path":"clusters.a","faults":2}',
    ]);
  });

  it("shows where a bug happened and none of its message", () => {
    const lines: string[] = [];
    lineLog("error", (line) => lines.push(line)).bug(new TypeError("password hunter2\nat once"));
    expect(lines).toHaveLength(1);
    expect(lines[0]).toContain("log.test.ts");
    expect(lines[0]).not.toContain("hunter2");
  });
});
