import { revisionOfHead } from "@gateway/contract/snapshot.ts";
import { virtualHost, virtualStartUnixMs } from "@gateway/core/rig/virtual.ts";
import { err, ok } from "@gateway/core/result.ts";
import type { Secret } from "@gateway/core/secret.ts";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { servedBytes } from "./lastGood.ts";
import { peerFreshMs, peerMsMax } from "../limits.ts";
import { askPeers, resolveAll, type PeerParts } from "./peer.ts";
import { servePeers, type ServePeersParts } from "./servePeers.ts";
import { peerNonceHeader, peerSealedType, proveTo } from "./peerProof.ts";
import { seal } from "../state/sealing.ts";
import { otherSecret, signed, snapshotOf, testSecret } from "../rig/snapshot.ts";
import { overApp, silence, status, type Answering } from "../rig/link.ts";

const { signal } = new AbortController();

describe("askPeers", () => {
  it("gets the configuration of a peer without ever sending the secret", async () => {
    const fleet = fleetOf({ "10.0.0.1": peerOf() });
    const event = await askPeers(fleet.parts, signal);
    expect(event).toMatchObject({
      kind: "offer",
      offer: { source: "peer", confirmedAtMs: virtualStartUnixMs },
      body: { body: { clusterGroups: {} } },
    });
    expect(JSON.stringify(fleet.requests)).not.toContain(testSecret.reveal());
    expect(JSON.stringify(fleet.requests)).not.toContain("earer");
  });

  it("asks every address in turn, also those of version 6, until one helps", async () => {
    const fleet = fleetOf({
      "10.0.0.1": () => Promise.resolve(err({ code: "unreachable", detail: "ECONNREFUSED" })),
      "fd00::2": peerOf({ active: () => undefined }),
      "10.0.0.3": (_request, stop) => silence(stop),
      "10.0.0.4": peerOf(),
    });
    const asked = askPeers(fleet.parts, signal);
    await fleet.host.advance(4 * peerMsMax);
    expect((await asked).kind).toBe("offer");
    const broken = fleetOf({
      "10.0.0.1": () => Promise.resolve(status(500)),
      "fd00::2": peerOf({ active: () => undefined }),
    });
    expect((await askPeers(broken.parts, signal)).kind).toBe("unreachable");
    expect(broken.requests.map(({ url }) => url).toSorted()).toEqual([
      "http://10.0.0.1:9000/worker/peer-config",
      "http://[fd00::2]:9000/worker/peer-config",
    ]);
  });

  it("says what was wrong when nobody could help, and when nobody is listed", async () => {
    const { parts } = fleetOf({});
    expect(await askPeers(parts, signal)).toMatchObject({ reason: "no peer is listed" });
  });

  it("keeps the age of a copy through a chain of peers", async () => {
    const confirmedAt = virtualStartUnixMs - 3_600_000;
    const first = fleetOf({ "10.0.0.1": peerOf({ active: () => activeOf(confirmedAt) }) });
    const got = await askPeers(first.parts, signal);
    if (got.kind !== "offer" || got.body === undefined) throw new Error("no copy");
    const { head, bytes } = got.body;
    const { confirmedAtMs } = got.offer;
    const second = fleetOf({
      "10.0.0.2": peerOf({ active: () => ({ head, bytes, confirmedAtMs }) }),
    });
    expect(await askPeers(second.parts, signal)).toMatchObject({
      offer: { confirmedAtMs: confirmedAt },
    });
  });

  it("takes the head's time where somebody says a later one", async () => {
    const copy = { ...activeOf(virtualStartUnixMs - 9_000), confirmedAtMs: virtualStartUnixMs };
    const fleet = fleetOf({ "10.0.0.1": peerOf({ active: () => copy }) });
    expect(await askPeers(fleet.parts, signal)).toMatchObject({
      offer: { confirmedAtMs: virtualStartUnixMs - 9_000 },
    });
  });

  it("refuses a copy that is too old or from the future", async () => {
    const day = 86_400_000;
    const copies = [activeOf(virtualStartUnixMs - day - 1), activeOf(virtualStartUnixMs + 120_000)];
    for (const copy of copies) {
      const fleet = fleetOf({ "10.0.0.1": peerOf({ active: () => copy }) });
      expect((await askPeers(fleet.parts, signal)).kind).toBe("unreachable");
    }
  });

  it("works while the secret is changed, whichever of the two the peer knows", async () => {
    for (const secrets of [[testSecret], [otherSecret], [otherSecret, testSecret]] as const) {
      const copy = () => activeOf(virtualStartUnixMs, secrets[0]);
      const fleet = fleetOf(
        { "10.0.0.1": peerOf({ secrets, active: copy }) },
        { secrets: [testSecret, otherSecret] },
      );
      expect((await askPeers(fleet.parts, signal)).kind).toBe("offer");
    }
  });

  it("takes nothing from a rogue peer: no other secret, no replayed answer, no arbitrary bytes", async () => {
    const recorded: Awaited<ReturnType<Answering>>[] = [];
    const honest = peerOf();
    const fleet = fleetOf({
      "10.0.0.1": async (request, stop) => {
        recorded.push(await honest(request, stop));
        return recorded[0] ?? status(500);
      },
    });
    expect((await askPeers(fleet.parts, signal)).kind).toBe("offer");
    // The same bytes again: they were sealed for the nonce of the first request.
    expect((await askPeers(fleet.parts, signal)).kind).toBe("unreachable");

    const rogue = fleetOf({ "10.0.0.1": peerOf({ secrets: [otherSecret] }) });
    expect((await askPeers(rogue.parts, signal)).kind).toBe("unreachable");
  });

  it("refuses an answer that makes its copy younger than the head says", async () => {
    const { head, bytes } = activeOf(virtualStartUnixMs - 9_000);
    const fleet = fleetOf({
      "10.0.0.1": (request) => {
        const text = `{"confirmedAt":${virtualStartUnixMs},"snapshot":`;
        const document = [Buffer.from(text), servedBytes(head, bytes), Buffer.from("}")];
        const context = request.headers[peerNonceHeader] ?? "";
        const as = { purpose: "peer answer", context } as const;
        const body = seal(Buffer.concat(document), testSecret, as, virtualHost(3));
        return Promise.resolve(ok({ status: 200, headers: {}, body }));
      },
    });
    expect(await askPeers(fleet.parts, signal)).toMatchObject({
      reason: "no peer could help: a copy that makes itself younger",
    });
  });

  it("never takes or throws on a damaged answer", async () => {
    const honest = peerOf();
    await fc.assert(
      fc.asyncProperty(fc.nat(10_000), fc.integer({ min: 1, max: 255 }), async (place, mask) => {
        const fleet = fleetOf({
          "10.0.0.1": async (request, stop) => {
            const answer = await honest(request, stop);
            if (!answer.ok) return answer;
            const body = Uint8Array.from(answer.value.body);
            const at = place % body.length;
            body[at] = (body[at] ?? 0) ^ mask;
            return { ok: true, value: { ...answer.value, body } };
          },
        });
        expect((await askPeers(fleet.parts, signal)).kind).toBe("unreachable");
      }),
    );
  });
});

describe("servePeers", () => {
  it("gives an operator with the secret the document in clear, and nobody else", async () => {
    const answer = answersOf();
    const with_ = (bearer: string) => answer(requestWith({ authorization: `Bearer ${bearer}` }));
    const clear = with_(testSecret.reveal());
    expect(clear.status).toBe(200);
    expect(await clear.json()).toMatchObject({
      confirmedAt: virtualStartUnixMs,
      snapshot: { head: { sequence: 1 }, clusters: {} },
    });
    expect(with_("wrong").status).toBe(401);
    expect(answer(requestWith({})).status).toBe(401);
  });

  it("answers a proof once: the same nonce again is refused", () => {
    const host = virtualHost(1);
    const answer = answersOf({ host });
    const { headers } = proveTo(testSecret, host);
    const first = answer(requestWith(headers));
    expect([first.status, first.headers.get("content-type")]).toEqual([200, peerSealedType]);
    expect(answer(requestWith(headers)).status).toBe(401);
  });

  it("refuses a proof that is too old or too new, and one whose nonce was exchanged", async () => {
    const host = virtualHost(1);
    const answer = answersOf({ host });
    const { headers } = proveTo(testSecret, host);
    const other = proveTo(testSecret, host);
    const mixed = { ...headers, [peerNonceHeader]: other.nonce };
    expect(answer(requestWith(mixed)).status).toBe(401);
    const ahead = { unixMs: () => virtualStartUnixMs + peerFreshMs + 1 };
    const early = proveTo(testSecret, { clock: ahead, randomBytes: (n) => host.randomBytes(n) });
    expect(answer(requestWith(early.headers)).status).toBe(401);
    await host.advance(peerFreshMs + 1);
    expect(answer(requestWith(headers)).status).toBe(401);
  });

  it("remembers a nonce for as long as its time would be taken", async () => {
    const host = virtualHost(1);
    const answer = answersOf({ host });
    const ahead = { unixMs: () => virtualStartUnixMs + peerFreshMs };
    const { headers } = proveTo(testSecret, {
      clock: ahead,
      randomBytes: (n) => host.randomBytes(n),
    });
    expect(answer(requestWith(headers)).status).toBe(200);
    for (let second = 0; second < 130; second += 10) {
      await host.advance(10_000);
      answer(requestWith(proveTo(testSecret, host).headers));
      expect([401, 429]).toContain(answer(requestWith(headers)).status);
    }
  });

  it("says 503 while it has no configuration, but only to who may know", () => {
    const host = virtualHost(1);
    const answer = answersOf({ host, active: () => undefined });
    expect(answer(requestWith(proveTo(testSecret, host).headers)).status).toBe(503);
    expect(answer(requestWith(proveTo(otherSecret, host).headers)).status).toBe(401);
  });

  it("slows down who guesses, and never the one who knows", () => {
    const host = virtualHost(1);
    const answer = answersOf({ host });
    const guesses = Array.from(
      { length: 50 },
      () => answer(requestWith({ authorization: "Bearer guess" })).status,
    );
    expect(guesses).toContain(429);
    expect(answer(requestWith(proveTo(testSecret, host).headers)).status).toBe(200);
    expect(JSON.stringify(host.log.lines)).not.toContain("guess");
  });
});

describe("resolveAll", () => {
  it("answers an address as itself, and nothing for what can not be a name", async () => {
    expect(await resolveAll("127.0.0.1")).toEqual(["127.0.0.1"]);
    expect(await resolveAll("::1")).toEqual(["::1"]);
    expect(await resolveAll("no such name")).toEqual([]);
  });
});

function activeOf(confirmedAt = virtualStartUnixMs, secret: Secret = testSecret) {
  const { head, bodyText } = snapshotOf({ confirmedAt });
  const { mac: _mac, ...unsigned } = head;
  const signedHead = signed(unsigned, secret);
  expect(revisionOfHead(signedHead).sequence).toBe(1);
  return { head: signedHead, bytes: Buffer.from(bodyText, "utf8"), confirmedAtMs: confirmedAt };
}

function answersOf(more: Partial<ServePeersParts> = {}) {
  return servePeers({
    host: virtualHost(2),
    secrets: [testSecret],
    active: () => activeOf(),
    callerAddress: () => "192.0.2.1",
    ...more,
  });
}

function peerOf(more: Partial<ServePeersParts> = {}): Answering {
  const answer = answersOf(more);
  return overApp({ fetch: (request) => answer(request) });
}

function requestWith(headers: Readonly<Record<string, string>>): Request {
  return new Request("http://worker/worker/peer-config", { headers });
}

/** A fleet whose peers answer as given, by address. */
function fleetOf(peers: Readonly<Record<string, Answering>>, more: Partial<PeerParts> = {}) {
  const host = virtualHost(1);
  const requests: { readonly url: string }[] = [];
  const parts: PeerParts = {
    host,
    address: "peers.svc:9000",
    scheme: "http",
    secrets: [testSecret],
    limits: { copyAgeMsMax: 86_400_000, clockSkewMsMax: 60_000 },
    resolve: () => Promise.resolve(Object.keys(peers)),
    transport: {
      send: (request, stop) => {
        requests.push(request);
        const address = new URL(request.url).hostname.replace(/^\[|\]$/g, "");
        return peers[address]?.(request, stop) ?? Promise.resolve(status(404));
      },
      [Symbol.asyncDispose]: () => Promise.resolve(),
    },
    ...more,
  };
  return { host, parts, requests };
}
