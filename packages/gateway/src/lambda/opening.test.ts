import { err, ok } from "@gateway/core/result.ts";
import { describe, expect, it } from "vitest";
import { openOnce, type Opened } from "./opening.ts";

describe("openOnce", () => {
  it("opens once, also for requests that arrive together", async () => {
    let count = 0;
    const open = openOnce(async () => {
      count += 1;
      return ok(opened);
    });
    await Promise.all([open(), open()]);
    await open();
    expect(count).toBe(1);
  });

  it("tries again after a refusal, and stays open after that", async () => {
    const outcomes = [err({ code: "unavailable", detail: "57P01" } as const), ok(opened)];
    const open = openOnce(async () => outcomes.shift() ?? err({ code: "sealed", detail: "" }));
    expect([(await open()).ok, (await open()).ok, (await open()).ok]).toEqual([false, true, true]);
  });
});

const opened: Opened = {
  config: { refresh: async () => undefined, judged: async () => undefined },
  control: { fetch: () => new Response() },
};
