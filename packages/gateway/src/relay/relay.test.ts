/** Two gateways with the relay between them, over real sockets; the frontend at the owner is a few lines. */
import { createServer, get, request as httpRequest, type IncomingMessage } from "node:http";
import type { AddressInfo } from "node:net";
import type { Readable } from "node:stream";
import { Secret } from "@gateway/core/secret.ts";
import { suiteHost } from "@gateway/frontends/rig/host.ts";
import {
  markLengthMax,
  type CarriedCall,
  type PolledFrontend,
  type RelayedClient,
  type RelayedRequest,
} from "@gateway/frontends/listener/elsewhere.ts";
import { afterEach, describe, expect, it } from "vitest";
import { relaySchema } from "../config/control.ts";
import { rootSchema } from "../config/schema.ts";
import { marksOf } from "./marks.ts";
import { openRelay, type OpenRelay } from "./open.ts";

const fleet = "a secret of the whole fleet, long enough";
const other = "a secret of another fleet, as long as it";
const client: RelayedClient = {
  address: "203.0.113.9",
  mayTakeCredentials: true,
  certificateNames: ["CN=alice"],
  baseUrl: "https://gateway.example",
};

describe("the mark of a gateway", () => {
  const marks = (...secrets: string[]) =>
    marksOf(secrets.map((one) => new Secret(one)) as [Secret, ...Secret[]], suiteHost());
  const mark = marks(fleet).make("a1", "[2001:db8::1]:9001");

  it("leads to its address for whoever has the secret, also the one before it", () => {
    expect(marks(fleet).addressIn(mark)).toBe("[2001:db8::1]:9001");
    expect(marks(other, fleet).addressIn(mark)).toBe("[2001:db8::1]:9001");
    expect(mark).toMatch(/^[\w-]+$/);
  });

  it("leads nowhere when it was made by another fleet, changed, or moved to another instance", () => {
    const own = marks(fleet);
    const [, sealed = ""] = /^a1-(.*)$/.exec(mark) ?? [];
    const forged = [`b2-${sealed}`, `a1-${sealed.slice(4)}`, `a1-${sealed}AAAA`, "a1", "a1-", "-"];
    expect(marks(other).addressIn(mark)).toBeUndefined();
    expect(forged.map((one) => own.addressIn(one))).toEqual(forged.map(() => undefined));
  });

  it("has room for the longest address that the config takes", () => {
    const longest = `${"h".repeat(90)}:65535`;
    expect(relaySchema.safeParse({ advertise: "h".repeat(90) }).success).toBe(true);
    expect(marks(fleet).make("a".repeat(12), longest).length).toBeLessThanOrEqual(markLengthMax);
  });
});

describe("a request about a query of another gateway", () => {
  it("is answered by it, with the client's own headers and what is known of the client", async () => {
    const seen: RelayedRequest[] = [];
    const { ask } = await twoGateways((asked) => {
      seen.push(asked);
      asked.response.writeHead(203, { "x-own": "kept", "set-cookie": ["a", "b"] });
      asked.response.end("found");
    });
    const answer = await ask("/v1/thing?x=1", {
      authorization: "Basic abc",
      "gateway-relay-client": "forged",
      "Gateway-Relay-Frontend": "forged",
    });
    expect([answer.status, answer.text]).toEqual([203, "found"]);
    expect(answer.headers).toMatchObject({ "x-own": "kept", "set-cookie": ["a", "b"] });
    const [asked] = seen;
    expect(asked?.client).toEqual(client);
    expect(asked?.request.url).toBe("/v1/thing?x=1");
    expect(asked?.request.headers.authorization).toBe("Basic abc");
  });

  it("takes a body along, and answers as it comes", async () => {
    const { ask } = await twoGateways(({ request, response }) => {
      response.writeHead(200);
      request.pipe(response);
    });
    const body = "x".repeat(3_000_000);
    expect((await ask("/", {}, body)).text).toBe(body);
  });

  it("ends at its owner when its client leaves", async () => {
    let left: ((finished: boolean) => void) | undefined;
    const finished = new Promise<boolean>((resolve) => {
      left = resolve;
    });
    const { port } = await twoGateways(({ response }) => {
      response.on("close", () => left?.(response.writableFinished));
      response.writeHead(200);
      response.write("first");
    });
    const asked = get({ port, host: "127.0.0.1" }, (answer) => {
      answer.once("data", () => asked.destroy());
    });
    asked.on("error", () => undefined);
    expect(await finished).toBe(false);
  });

  it("breaks off where its owner does", async () => {
    const { ask } = await twoGateways(({ response }) => {
      response.writeHead(200, { "content-length": "100" });
      response.write("half", () => response.destroy());
    });
    await expect(ask("/")).rejects.toThrow(/aborted|hang up|reset/);
  });

  it("is answered here when its owner is gone", async () => {
    const gateways = await twoGateways(({ response }) => void response.end("here"));
    expect((await gateways.ask("/")).status).toBe(200);
    await gateways.owner.close();
    expect((await gateways.ask("/")).status).toBe(503);
  });

  it("is answered here when its owner has another secret, which is counted there", async () => {
    const { ask, ownerHost } = await twoGateways(({ response }) => void response.end("no"), {
      owner: other,
      marks: fleet,
    });
    expect((await ask("/")).status).toBe(503);
    expect(ownerHost.metrics.value("gateway_relay_refused_total", {})).toBeGreaterThan(0);
  });

  it("finds an owner that has not changed its secret yet", async () => {
    const { ask } = await twoGateways(({ response }) => void response.end("old"), {
      owner: fleet,
      marks: fleet,
      asker: [other, fleet],
    });
    expect((await ask("/")).text).toBe("old");
  });

  it("is told to come again while the owner's frontend is not open", async () => {
    const { ask } = await twoGateways(undefined);
    expect((await ask("/")).status).toBe(503);
  });
});

describe("a carried call", () => {
  const call = { path: "/DoGet", headers: ["x-mine", "yes"], client };

  it("comes as one request with its client, and its answer comes as it is made", async () => {
    let seen: RelayedRequest | undefined;
    const { carry } = await twoGateways((asked) => {
      seen = asked;
      asked.request.pipe(asked.response.writeHead(200));
    });
    const answer = await carry({ ...call, body: Buffer.from("bytes"), signal: never });
    expect(await textOf(answer)).toBe("bytes");
    expect(seen?.client).toEqual(client);
    expect(seen?.request.url).toBe("/DoGet");
    expect(seen?.request.headers["x-mine"]).toBe("yes");
  });

  it("streams its request, and reads nothing of it for an owner with another key", async () => {
    let read = 0;
    const body = async function* () {
      for (const piece of ["a", "b", "c"]) {
        read += 1;
        yield Buffer.from(piece);
      }
    };
    const gateways = await twoGateways(
      ({ request, response }) => request.pipe(response.writeHead(200)),
      { owner: fleet, marks: fleet, asker: [other, fleet] },
    );
    const answer = await gateways.carry({ ...call, body: body(), signal: never });
    expect(await textOf(answer)).toBe("abc");
    expect(read).toBe(3);
    await gateways.owner.close();
    expect(await gateways.carry({ ...call, body: body(), signal: never })).toBeUndefined();
    expect(read).toBe(3);
  });

  it("ends at its owner with its signal", async () => {
    let left: (() => void) | undefined;
    const ended = new Promise<void>((resolve) => {
      left = resolve;
    });
    const { carry } = await twoGateways(({ response }) => {
      response.on("close", () => left?.());
      response.writeHead(200).write("first");
    });
    const leaving = new AbortController();
    const answer = await carry({ ...call, body: new Uint8Array(0), signal: leaving.signal });
    answer?.once("data", () => leaving.abort());
    const broken = new Promise<Error>((resolve) => answer?.once("error", resolve));
    await ended;
    expect(await broken).toBeInstanceOf(Error);
  });

  it("has no answer where the owner's frontend is not open", async () => {
    const { carry } = await twoGateways(undefined);
    expect(await carry({ ...call, body: new Uint8Array(0), signal: never })).toBeUndefined();
  });
});

const never = new AbortController().signal;

async function textOf(answer: Readable | undefined): Promise<string> {
  if (answer === undefined) throw new Error("no answer");
  let text = "";
  for await (const chunk of answer) text += String(chunk);
  return text;
}

const ends: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  await Promise.all(ends.splice(0).map((end) => end()));
});

interface Secrets {
  readonly owner: string;
  /** Under which the address stands in the link. */
  readonly marks: string;
  readonly asker?: readonly string[];
}

/** An owner, and a gateway whose every request is for that owner. */
async function twoGateways(
  answer: ((asked: RelayedRequest) => void) | undefined,
  secrets: Secrets = { owner: fleet, marks: fleet },
) {
  const ownerHost = suiteHost();
  const owner = await relayWith([secrets.owner], ownerHost);
  owner.serve([frontendOf(answer)]);
  const asker = await relayWith(secrets.asker ?? [secrets.marks], suiteHost());
  const address = `127.0.0.1:${owner.listener.port}`;
  const mark = marksOf([new Secret(secrets.marks)], suiteHost()).make("a1", address);
  const server = createServer((request, response) => {
    void (async () => {
      const sent = await asker.elsewhere.relay(mark, "trinoHttp", { request, response, client });
      if (!sent) response.writeHead(503).end();
    })();
  });
  await new Promise<void>((resolve) => {
    server.listen(0, "127.0.0.1", resolve);
  });
  ends.push(
    () => owner.close(),
    () => asker.close(),
    () =>
      new Promise((resolve) => {
        server.close(resolve);
        server.closeAllConnections();
      }),
  );
  const { port } = server.address() as AddressInfo;
  const carry = (call: CarriedCall) => asker.elsewhere.carry(mark, "trinoHttp", call);
  return { owner, ownerHost, port, ask: askAt(port), carry };
}

async function relayWith(
  sharedSecret: readonly string[],
  host: ReturnType<typeof suiteHost>,
): Promise<OpenRelay> {
  const { gateway } = rootSchema.parse({
    gateway: {
      role: "controlPlane",
      workerApi: { sharedSecret: [...sharedSecret] },
      relay: { host: "127.0.0.1", port: 0 },
      persistence: { type: "inMemory" },
    },
  });
  const opened = await openRelay(gateway, host);
  if (!opened.ok || opened.value === undefined) throw new Error("not open");
  return opened.value;
}

function frontendOf(answer: ((asked: RelayedRequest) => void) | undefined): PolledFrontend {
  return {
    kind: "trinoHttp",
    host: "127.0.0.1",
    port: 0,
    tls: false,
    drain: async () => undefined,
    ...(answer === undefined ? {} : { relayed: answer }),
  };
}

function askAt(port: number) {
  return (path: string, headers: Record<string, string> = {}, body?: string) =>
    new Promise<{ status: number; text: string; headers: IncomingMessage["headers"] }>(
      (resolve, reject) => {
        const options = { host: "127.0.0.1", port, path, headers };
        const asked = httpRequest({ ...options, method: body === undefined ? "GET" : "POST" });
        asked.on("error", reject);
        asked.on("response", (answer) => {
          let text = "";
          answer.setEncoding("utf8").on("data", (chunk: string) => {
            text += chunk;
          });
          answer.on("error", reject);
          answer.on("end", () =>
            resolve({ status: answer.statusCode ?? 0, text, headers: answer.headers }),
          );
        });
        asked.end(body);
      },
    );
}
