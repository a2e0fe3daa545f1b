import { describe, expect, it } from "vitest";
import { shellHooks } from "./hook.ts";

const environment = { PATH: "/usr/bin:/bin", DRILL_ADMIN_PASSWORD: "hunter2", STAGE: "blue" };
const limitMs = 60_000;

describe("shellHooks", () => {
  it("runs the operator's command and answers what it printed, without the passwords of the drill", async () => {
    const hooks = shellHooks(environment, limitMs);
    const ran = await hooks.run('echo "$STAGE/$DRILL_ADMIN_PASSWORD"');
    expect(ran).toEqual({ ok: true, value: "blue/\n" });
  });

  it("says how a command ended that failed", async () => {
    const ran = await shellHooks(environment, limitMs).run("exit 3");
    expect(ran).toEqual({ ok: false, error: "ended with 3" });
  });

  it("kills a command and what it started when it is to stop", async () => {
    const stop = new AbortController();
    const running = shellHooks(environment, limitMs).run("sleep 600 & wait", stop.signal);
    stop.abort();
    expect(await running).toEqual({ ok: false, error: "was ended before its end" });
  });
});
