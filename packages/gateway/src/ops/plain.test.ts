import { createServer, type Server } from "node:http";
import { connect, type AddressInfo } from "node:net";
import { virtualHost } from "@gateway/core/rig/virtual.ts";
import { afterEach, describe, expect, it } from "vitest";
import { rootSchema } from "../config/schema.ts";
import { opsApp, type App } from "./app.ts";
import { appListener } from "./appListener.ts";
import { callersBehind } from "./callers.ts";
import { listenOps, type OpenOps } from "./listen.ts";
import { plainPaths, type PlainParts } from "./plain.ts";
import { answerFront, opsTopic, type OpsAnswer, type OpsQuestion } from "./siblingRequests.ts";

const open: (() => Promise<unknown>)[] = [];

afterEach(async () => {
  for (const close of open.splice(0)) await close();
});

/** What follows the request line, and the line's path where it is another one. */
const plainRequests: Readonly<Record<string, (path: string) => string>> = {
  "an address": (path) => `GET ${path} HTTP/1.1\r\nHost: 127.0.0.1:9000`,
  "a port of five digits": (path) => `GET ${path} HTTP/1.1\r\nHost: 10.0.0.1:61234`,
  "an address of IPv6": (path) => `GET ${path} HTTP/1.1\r\nHost: [::1]:9000`,
  "an allowed name": (path) => `GET ${path} HTTP/1.1\r\nHost: gateway.internal`,
  "HTTP/1.0": (path) => `GET ${path} HTTP/1.0\r\nHost: localhost`,
  "conditions and credentials": (path) =>
    `GET ${path} HTTP/1.1\r\nHost: localhost\r\nIf-None-Match: *\r\nAuthorization: Basic eDp4\r\nAccept: text/html`,
  "a connection that stays": (path) =>
    `GET ${path} HTTP/1.1\r\nHost: localhost\r\n\r\nGET ${path} HTTP/1.1\r\nHost: localhost`,
  "a body": (path) => `GET ${path} HTTP/1.1\r\nHost: localhost\r\nContent-Length: 0`,
};

const otherRequests: Readonly<Record<string, (path: string) => string>> = {
  "a foreign host": (path) => `GET ${path} HTTP/1.1\r\nHost: evil.example`,
  "a foreign page": (path) =>
    `GET ${path} HTTP/1.1\r\nHost: localhost\r\nOrigin: https://evil.example`,
  "an own page": (path) =>
    `GET ${path} HTTP/1.1\r\nHost: localhost:9000\r\nOrigin: http://localhost:9000`,
  "a host that no URL writes so": (path) => `GET ${path} HTTP/1.1\r\nHost: 127.0.0.1.:80`,
  "a port that is none": (path) => `GET ${path} HTTP/1.1\r\nHost: 127.0.0.1:70000`,
  "no host": (path) => `GET ${path} HTTP/1.0`,
  "no host where one is due": (path) => `GET ${path} HTTP/1.1`,
  "two hosts": (path) => `GET ${path} HTTP/1.1\r\nHost: localhost\r\nHost: evil.example`,
  "the head alone": (path) => `HEAD ${path} HTTP/1.1\r\nHost: localhost`,
  "another method": (path) => `POST ${path} HTTP/1.1\r\nHost: localhost\r\nContent-Length: 0`,
  "a question": (path) => `GET ${path}?verbose HTTP/1.1\r\nHost: localhost`,
  "a slash more": (path) => `GET ${path}/ HTTP/1.1\r\nHost: localhost`,
  "a whole address": (path) => `GET http://localhost${path} HTTP/1.1\r\nHost: localhost`,
  "an encoded path": (path) =>
    `GET /%${path.charCodeAt(1).toString(16)}${path.slice(2)} HTTP/1.1\r\nHost: localhost`,
  "a path with dots": (path) => `GET /./x/..${path} HTTP/1.1\r\nHost: localhost`,
  "a path in capitals": (path) => `GET ${path.toUpperCase()} HTTP/1.1\r\nHost: localhost`,
};

describe("plain answers", () => {
  it.each(Object.keys(plainRequests))("are those of the app, without it: %s", async (what) => {
    for (const reason of [undefined, "draining"]) {
      const { lazy, app, loaded } = await bothWays(partsOf({ notReady: () => reason }));
      for (const path of plainPaths) {
        const text = plainRequests[what]?.(path) ?? "";
        const answer = await said(lazy, text);
        expect(answer).toMatch(/^HTTP\/1\.1 (200|503) /);
        expect(answer).toBe(await said(app, text));
      }
      expect(loaded()).toBe(0);
    }
  });

  it.each(Object.keys(otherRequests))("are left to the app: %s", async (what) => {
    const { lazy, app } = await bothWays(partsOf({}));
    for (const path of plainPaths) {
      const text = otherRequests[what]?.(path) ?? "";
      expect(await said(lazy, text)).toBe(await said(app, text));
    }
  });

  it("say as the app does that one failed", async () => {
    const fails = async () => {
      throw new Error("no metrics");
    };
    const { lazy, app } = await bothWays(partsOf({ metrics: fails, notReady: fails }), quiet);
    for (const path of ["/readyz", "/metrics"]) {
      const text = `GET ${path} HTTP/1.1\r\nHost: localhost`;
      const answer = await said(lazy, text);
      expect(answer).toMatch(/^HTTP\/1\.1 500 /);
      expect(answer).toBe(await said(app, text));
    }
  });

  it("load the app once, and again after it could not be loaded", async () => {
    let failing = true;
    const host = virtualHost(1);
    const { lazy, loaded } = await bothWays(partsOf({}), (app) => app, {
      host,
      load: () => {
        if (failing) throw new Error("the part is not there");
      },
    });
    const text = "GET /nowhere HTTP/1.1\r\nHost: localhost";
    expect(await said(lazy, text)).toMatch(/^HTTP\/1\.1 500 /);
    expect(host.log.bugs).toHaveLength(1);
    failing = false;
    const both = await Promise.all([said(lazy, text), said(lazy, text)]);
    expect(both).toEqual([expect.stringMatching(/ 404 /), expect.stringMatching(/ 404 /)]);
    expect(loaded()).toBe(2);
  });

  it("are what one of several processes tells the first", async () => {
    const parts = partsOf({});
    const [quick, slow] = [frontOf(parts, true), frontOf(parts, false)];
    for (const path of plainPaths) expect(await quick(path)).toEqual(await slow(path));
  });
});

const quiet = (app: ReturnType<typeof opsApp>) => app.onError((_, c) => c.text("failed", 500));

/** A listener whose app is loaded when it is asked, and one that has nothing but the app. */
async function bothWays(
  parts: PlainParts,
  change: (app: ReturnType<typeof opsApp>) => App = (app) => app,
  { host = virtualHost(1), load = (): void => undefined } = {},
) {
  const allowedHosts = ["gateway.internal"];
  const app = change(opsApp({ ...parts, allowedHosts, control: undefined }));
  const callers = callersBehind([]);
  let count = 0;
  const adminApi = { host: "127.0.0.1", port: 0, allowedHosts };
  const config = rootSchema.parse({ gateway: { adminApi } }).gateway.adminApi;
  const make = async () => {
    count += 1;
    load();
    return app;
  };
  const opened = await listenOps(config, { plain: parts, app: make, callers }, host);
  const ops: OpenOps = opened.ok ? opened.value : neither();
  const server = createServer(appListener(app, callers));
  await listening(server);
  open.push(
    () => ops.close(),
    () => new Promise((resolve) => server.close(resolve)),
  );
  return { lazy: ops.port, app: (server.address() as AddressInfo).port, loaded: () => count };
}

function listening(server: Server): Promise<void> {
  return new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));
}

/** Everything that is answered until the connection ends, without the time. */
function said(port: number, text: string): Promise<string> {
  return new Promise((resolve, reject) => {
    const socket = connect(port, "127.0.0.1");
    let answer = "";
    socket.setEncoding("utf8").on("data", (chunk) => (answer += chunk));
    socket.once("error", reject);
    socket.once("close", () => resolve(answer.replaceAll(/^Date: .*\r\n/gm, "")));
    socket.write(`${text}\r\nConnection: close\r\n\r\n`);
  });
}

/** Asks over the topic; `quick`: paths as they are, else with something about them that the app alone reads. */
function frontOf(plain: PlainParts, quick: boolean): (path: string) => Promise<OpsAnswer> {
  const app = async () => opsApp({ ...plain, allowedHosts: [], control: undefined });
  let how: ((question: OpsQuestion) => OpsAnswer | Promise<OpsAnswer>) | undefined;
  const siblings = {
    index: 0,
    count: 1,
    ask: async () => [],
    answer: (topic: { readonly name: string }, given: unknown) => {
      if (topic.name === opsTopic.name) how = given as typeof how;
    },
  };
  answerFront(siblings, { plain, app, callers: callersBehind([]) });
  return async (path) => {
    const question = { path: quick ? path : `${path}?`, headers: [], address: "127.0.0.1" };
    return (await how?.(question)) ?? neither();
  };
}

function partsOf(more: Partial<PlainParts>): PlainParts {
  return {
    notReady: () => undefined,
    metrics: async () => 'gateway_bugs_total{part="ü"} 0\n',
    metricsType: "text/plain; version=0.0.4; charset=utf-8",
    ...more,
  };
}

function neither(): never {
  throw new Error("nothing answers");
}
