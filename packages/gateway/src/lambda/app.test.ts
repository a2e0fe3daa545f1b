import { recordedLog } from "@gateway/core/rig/recorder.ts";
import { err, ok } from "@gateway/core/result.ts";
import { describe, expect, it } from "vitest";
import { functionApp, unsetApp, type FunctionParts } from "./app.ts";
import { platformCallers } from "./callers.ts";
import type { OpenRefusal } from "./opening.ts";

describe("functionApp", () => {
  it("tells the control plane who asks", async () => {
    const callers = platformCallers();
    const control = { fetch: (request: Request) => Response.json(callers.of(request)) };
    const app = functionApp(partsOf({ callers, control }));
    const answer = await app.request(
      "/worker/config",
      {},
      { requestContext: { http: { sourceIp: "203.0.113.7" } } },
    );
    expect(await answer.json()).toEqual({ address: "203.0.113.7", secure: true });
  });

  it("lets what was counted be written once it has its answer", async () => {
    const order: string[] = [];
    const app = functionApp(
      partsOf({
        answered: () => void order.push("answered"),
        control: { fetch: () => (order.push("served"), new Response()) },
      }),
    );
    await app.request("/worker/config", {}, {});
    expect(order).toEqual(["served", "answered"]);
  });

  it("judges and looks for what others wrote before the admin API answers", async () => {
    const order: string[] = [];
    const app = functionApp(
      partsOf({
        judged: async () => void order.push("judged"),
        refresh: async () => void order.push("refresh"),
        control: { fetch: ({ url }) => (order.push(new URL(url).pathname), new Response()) },
      }),
    );
    await app.request("/admin/clusters", {}, {});
    await app.request("/worker/config", {}, {});
    expect(order).toEqual(["judged", "refresh", "/admin/clusters", "/worker/config"]);
  });

  it.each([
    { code: "databaseVersion", detail: "The database is newer (V021) than this program (V020)." },
    { code: "unavailable", detail: "ECONNREFUSED" },
    { code: "sealed", detail: "keys 0123456789abcdef are not configured" },
  ] as const)(
    "refuses with 503 and the code while the database does not serve: $code",
    async (refusal) => {
      const log = recordedLog();
      const answer = await functionApp(partsOf({ refusal, log })).request(
        "/admin/clusters",
        {},
        {},
      );
      const problem: unknown = await answer.json();
      expect([answer.status, answer.headers.get("retry-after")]).toEqual([503, "5"]);
      expect(problem).toMatchObject({ status: 503, code: refusal.code });
      // Only versions are for everybody; the rest is for the log.
      expect(JSON.stringify(problem).includes(refusal.detail)).toBe(
        refusal.code === "databaseVersion",
      );
      expect(JSON.stringify(log.lines)).toContain(refusal.detail);
    },
  );

  it("stays alive without a database, and is not ready", async () => {
    const app = functionApp(partsOf({ refusal: { code: "unavailable", detail: "ECONNREFUSED" } }));
    const statuses = await Promise.all(
      ["/health", "/readyz"].map(async (path) => (await app.request(path, {}, {})).status),
    );
    expect(statuses).toEqual([200, 503]);
  });

  it("answers only for the hosts that are allowed, where some are named", async () => {
    const app = functionApp(partsOf({ allowedHosts: ["admin.example"] }));
    const ask = async (host: string) =>
      (await app.request(`https://${host}/readyz`, {}, {})).status;
    expect([await ask("admin.example"), await ask("evil.example")]).toEqual([200, 403]);
  });
});

describe("unsetApp", () => {
  it("names the settings in the log and nowhere else", async () => {
    const log = recordedLog();
    const answer = await unsetApp(["DatabaseUrl"], log).request("/admin/clusters", {}, {});
    const text = await answer.text();
    expect([answer.status, text.includes("DatabaseUrl")]).toEqual([503, false]);
    expect(JSON.stringify(log.lines)).toContain("DatabaseUrl");
  });
});

interface Given extends Partial<
  Pick<FunctionParts, "answered" | "callers" | "log" | "allowedHosts">
> {
  readonly refusal?: OpenRefusal;
  readonly refresh?: () => Promise<void>;
  readonly judged?: () => Promise<void>;
  readonly control?: { fetch(request: Request): Response };
}

function partsOf(given: Given): FunctionParts {
  const { refusal, refresh, judged, control, ...parts } = given;
  const nothing = async (): Promise<void> => undefined;
  const opened = {
    config: { refresh: refresh ?? nothing, judged: judged ?? nothing },
    control: control ?? { fetch: () => new Response() },
  };
  return {
    callers: platformCallers(),
    log: recordedLog(),
    answered: () => undefined,
    allowedHosts: [],
    open: async () => (refusal === undefined ? ok(opened) : err(refusal)),
    ...parts,
  };
}
