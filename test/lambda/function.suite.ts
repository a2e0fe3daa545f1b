/**
 * The function as it is deployed: the bundle in processes of its own, driven by the platform's events
 * over its response stream, against Neon's protocol. In front of PGlite in every run, and in front of
 * a PostgreSQL server in `npm run test:real`.
 */
import { gunzipSync, gzipSync } from "node:zlib";
import { snapshotSchema, type SnapshotHead } from "@gateway/contract/snapshot.ts";
import { headKeyOf, verifyHead } from "@gateway/control/config/snapshot/head.ts";
import type { Migration } from "@gateway/control/store/migrate/migration.ts";
import { Secret } from "@gateway/core/secret.ts";
import { judgeSchema } from "@gateway/gateway/lambda/schema.ts";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { deploy, type Deployment, type Server, type Step } from "./deployment.ts";
import type { Answer, Call, Instance } from "./instance.ts";

export interface FunctionUnderTest {
  readonly server: string;
  /** An empty database. */
  readonly open: () => Promise<Server & AsyncDisposable>;
  readonly step: Step;
}

export function functionSuite({ server: kind, open, step }: FunctionUnderTest): void {
  describe(`the control plane as a function (${kind})`, () => {
    let server: Server & AsyncDisposable;
    let deployment: Deployment;
    let one: Instance;
    let other: Instance;

    beforeAll(async () => {
      server = await open();
      deployment = await deploy(server, step);
      [one, other] = await Promise.all([deployment.start(), deployment.start()]);
      await other.ask(adminCall("PUT", "/admin/clusters/first", cluster));
    }, 120_000);
    afterAll(async () => {
      await deployment[Symbol.asyncDispose]();
      await server[Symbol.asyncDispose]();
    });

    it("serves nothing from a database that the deploy step has not migrated", () => {
      const { status, problem } = deployment.before;
      expect([status, problem["code"]]).toEqual([503, "databaseVersion"]);
      expect(problem["detail"]).toMatch(/older \(none\) than this program \(V\d+\)/);
    });

    it("migrates in the deploy step, and once", () => {
      const version = deployment.migrations.at(-1)?.version;
      const applied = deployment.migrations.map(({ name }) => name);
      expect(deployment.steps).toEqual([
        { version, applied },
        { version, applied: [] },
      ]);
    });

    it("refuses a database that is older or newer than the program, with both versions", async () => {
      const { database, migrations } = deployment;
      const last = migrations.at(-1)?.version;
      const next = {
        ...migrations[0],
        name: "V999__next",
        version: "V999",
        when: 9e15,
        hash: "next",
      };
      const judge = (files: readonly Migration[]) => judgeSchema(database, files);
      const fits = await judge(migrations);
      const older = await judge([...migrations, next as Migration]);
      const newer = await judge(migrations.slice(0, -1));
      expect(fits.ok).toBe(true);
      expect(!older.ok && older.error.detail).toContain(`older (${last}) than this program (V999)`);
      expect(!newer.ok && newer.error.detail).toContain(`newer (${last}) than this program`);
    });

    it("makes the first admin with the token that the deploy step logged, and never again", async () => {
      const body = { token: deployment.setupToken, name: "eve", password: "an other password" };
      const again = await one.ask(jsonCall("POST", "/admin/setup", body));
      expect([deployment.setupStatus, again.status]).toEqual([201, 403]);
    });

    it("serves the snapshot compressed, its head authenticated under the secret that was presented", async () => {
      const answer = await one.ask(fleetCall("/worker/config", { "accept-encoding": "gzip" }));
      expect(answer.headers["content-encoding"]).toBe("gzip");
      const text = gunzipSync(answer.bytes()).toString();
      const { head, clusters } = snapshotSchema.parse(JSON.parse(text));
      expect(verifyHead(head, headKeyOf(new Secret(deployment.fleetSecret)))).toBe(true);
      expect(Object.keys(clusters)).toContain("first");
    });

    it("says with 304 and no byte that a snapshot is the one that is known", async () => {
      const { headers } = await one.ask(fleetCall("/worker/config"));
      const again = await one.ask(
        fleetCall("/worker/config", { "if-none-match": headers["etag"] ?? "" }),
      );
      expect([again.status, again.bytes().length]).toEqual([304, 0]);
    });

    it("holds a wait and says with 304, ETag and no byte that nothing changed", async () => {
      const { revision, etag } = await newest(one);
      const wait = fleetCall("/worker/config/wait", { prefer: "wait=1" }, `since=${revision}`);
      const held = await one.ask(wait);
      expect([held.status, held.headers["etag"], held.bytes().length]).toEqual([304, etag, 0]);
      expect(held.headers["preference-applied"]).toBe("wait=1");
    });

    it("ends a wait when another instance writes", async () => {
      const { revision } = await newest(one);
      const wait = fleetCall("/worker/config/wait", { prefer: "wait=20" }, `since=${revision}`);
      const held = one.ask(wait);
      const put = await other.ask(adminCall("PUT", "/admin/clusters/woken", cluster));
      const answer = await held;
      expect([put.status, answer.status]).toEqual([201, 200]);
      expect(headOf(answer).revision).not.toBe(revision);
      expect(headOf(answer)).toEqual({ ...headOf(answer), revision: (await newest(one)).revision });
    });

    it("streams a line for each change, as it happens", async () => {
      await using streaming = await deployment.start();
      const { revision } = await newest(one);
      const stream = await streaming.invoke(fleetCall("/worker/config/stream"));
      const [before] = await stream.lines(1);
      await other.ask(adminCall("PUT", "/admin/clusters/streamed", cluster));
      const [, after] = await stream.lines(2);
      expect(stream.headers["content-type"]).toBe("application/x-ndjson");
      expect(revisionIn(before)).toBe(revision);
      expect(revisionIn(after)).toBe((await newest(one)).revision);
    });

    it("takes a registration, heartbeats and records, and refuses another instance's token", async () => {
      const worker = await registered(one, "worker-a");
      const heartbeat = {
        name: "worker-a",
        instanceId: worker.id,
        status: "active",
        stale: false,
        queries: [],
      };
      const beat = await other.ask(workerCall(worker, "/worker/heartbeat", heartbeat));
      const forged = await other.ask(
        workerCall({ ...worker, token: "x".repeat(43) }, "/worker/heartbeat", heartbeat),
      );
      expect([beat.status, forged.status]).toEqual([200, 403]);

      const records = [recordOf("query-1"), recordOf("query-2"), { proxyQueryId: "query-3" }];
      const batch = { schemaVersion: 1, worker: "worker-a", records };
      const sent = await one.ask(workerCall(worker, "/worker/query-records", batch));
      const repeated = await other.ask(workerCall(worker, "/worker/query-records", batch));
      expect(JSON.parse(sent.text())).toMatchObject({
        accepted: 2,
        duplicates: 0,
        rejected: [{ index: 2 }],
      });
      expect(JSON.parse(repeated.text())).toMatchObject({ accepted: 0, duplicates: 2 });
      const listed = await other.ask(adminCall("GET", "/admin/queries?worker=worker-a"));
      expect(listed.text()).toContain("query-1");
    });

    it("logs in with a cookie that only TLS carries", async () => {
      const body = { name: deployment.admin.name, password: deployment.admin.password };
      const login = await one.ask(jsonCall("POST", "/admin/login", body));
      const [cookie = ""] = login.cookies;
      expect(cookie).toMatch(/; Secure/i);
      const headers = { cookie: cookie.split(";")[0] ?? "" };
      const me = await other.ask({ path: "/admin/me", headers });
      expect(JSON.parse(me.text())).toMatchObject({ name: deployment.admin.name, via: "session" });
    });

    it("knows the client by the platform's event and not by what it claims", async () => {
      const headers = { "x-forwarded-for": "198.51.100.99", forwarded: "for=198.51.100.99" };
      const call = jsonCall("POST", "/admin/login", { ...deployment.admin });
      await one.ask({ ...call, headers: { ...call.headers, ...headers }, address: "203.0.113.99" });
      const audit = await one.ask(adminCall("GET", "/admin/audit?action=login"));
      expect(audit.text()).toContain("203.0.113.99");
      expect(audit.text()).not.toContain("198.51.100.99");
    });

    it("lets no object name a file of a worker's host", async () => {
      const body = { engine: "duckDb", databasePath: "/etc/shadow" };
      const put = await one.ask(adminCall("PUT", "/admin/clusters/nosy", body));
      expect([put.status, put.text().includes("files.allow")]).toEqual([422, true]);
    });

    it("can not test a cluster, and says why", async () => {
      const answer = await one.ask(adminCall("POST", "/admin/clusters/first/test", {}));
      expect([answer.status, answer.text().includes("detail")]).toEqual([501, true]);
    });

    it("refuses the worker API without the fleet secret", async () => {
      const answer = await one.ask({
        path: "/worker/config",
        headers: { authorization: "Bearer no" },
      });
      expect(answer.status).toBe(401);
    });

    it("answers in one piece where a gateway can not stream", async () => {
      const { revision } = await newest(one);
      const wait = fleetCall("/worker/config/wait", { prefer: "wait=1" }, `since=${revision}`);
      const [alive, held] = [
        await one.askBuffered({ path: "/health" }),
        await one.askBuffered(wait),
      ];
      expect([alive.statusCode, JSON.parse(alive.body)]).toEqual([200, { status: "ok" }]);
      expect([held.statusCode, held.body]).toEqual([304, ""]);
    });

    it("never logs a secret", async () => {
      await one.ask({ path: "/worker/config", headers: { authorization: "Bearer no" } });
      const secrets = [deployment.fleetSecret, deployment.encryptionKey, deployment.admin.password];
      expect(one.log()).not.toBe("");
      for (const secret of secrets) expect(one.log() + other.log()).not.toContain(secret);
    });

    const cluster = { engine: "duckDb" };

    function adminCall(method: string, target: string, body?: unknown): Call {
      const { name, password } = deployment.admin;
      const basic = Buffer.from(`${name}:${password}`).toString("base64");
      const call = jsonCall(method, target, body);
      const creating = method === "PUT" ? { "if-none-match": "*" } : {};
      return {
        ...call,
        headers: { ...call.headers, ...creating, authorization: `Basic ${basic}` },
      };
    }

    function fleetCall(
      path: string,
      headers: Readonly<Record<string, string>> = {},
      query = "",
    ): Call {
      const authorization = `Bearer ${deployment.fleetSecret}`;
      return { path, query, headers: { authorization, ...headers } };
    }

    function workerCall({ id, token }: Registered, path: string, body: unknown): Call {
      return {
        method: "POST",
        path,
        body: gzipSync(JSON.stringify(body)),
        headers: {
          authorization: `Bearer ${deployment.fleetSecret}`,
          "content-type": "application/json",
          "gateway-instance-id": id,
          "gateway-instance-token": token,
          ...(path.endsWith("records") ? { "content-encoding": "gzip" } : {}),
        },
        ...(path.endsWith("records") ? {} : { body: JSON.stringify(body) }),
      };
    }

    async function registered(instance: Instance, name: string): Promise<Registered> {
      const id = `${name}-instance-0001`;
      const registration = {
        name,
        instanceId: id,
        labels: {},
        version: "1",
        schemaVersions: [1],
        heartbeatIntervalSecs: 10,
      };
      const call = jsonCall("POST", "/worker/register", registration);
      const headers = { ...call.headers, authorization: `Bearer ${deployment.fleetSecret}` };
      const answer = await instance.ask({ ...call, headers });
      const { instanceToken } = JSON.parse(answer.text()) as { readonly instanceToken: string };
      return { id, token: instanceToken };
    }

    async function newest(
      instance: Instance,
    ): Promise<{ readonly revision: string; readonly etag: string }> {
      const answer = await instance.ask(fleetCall("/worker/config/wait"));
      return { revision: headOf(answer).revision, etag: answer.headers["etag"] ?? "" };
    }
  });
}

interface Registered {
  readonly id: string;
  readonly token: string;
}

function jsonCall(method: string, target: string, body?: unknown): Call {
  const [path = "", query = ""] = target.split("?");
  const headers = { "content-type": "application/json" };
  return body === undefined
    ? { method, path, query }
    : { method, path, query, headers, body: JSON.stringify(body) };
}

function headOf(answer: Answer): SnapshotHead {
  return (JSON.parse(answer.text()) as { readonly head: SnapshotHead }).head;
}

function revisionIn(line = "{}"): string | undefined {
  return (JSON.parse(line) as { readonly head?: SnapshotHead }).head?.revision;
}

function recordOf(proxyQueryId: string) {
  return {
    proxyQueryId,
    createdAt: 1_800_000_000_000,
    finishedAt: 1_800_000_000_100,
    worker: "worker-a",
    frontend: "postgresWire",
    user: "ann",
    clientAddress: "203.0.113.1",
    tags: {},
    sourceDialect: "postgres",
    status: "finished",
    rowsReturned: 1,
    bytesReturned: 8,
    queueMs: 0,
    executionMs: 100,
    routingTrace: [],
    policyActions: [],
    engineStats: {},
    revision: "1.1.sha256:0",
  };
}
