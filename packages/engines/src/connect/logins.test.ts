/** Who waits while a server is full, how often it is asked, and how the wait ends. */
import { gatewayError } from "@gateway/core/error.ts";
import { err, ok, type Result } from "@gateway/core/result.ts";
import { virtualHost } from "@gateway/core/rig/virtual.ts";
import { describe, expect, it } from "vitest";
import { Logins, type Refused } from "./logins.ts";

const waitMs = 10_000;
const none = () => undefined;
/** Each its own, as statements have. */
const neverOf = () => new AbortController().signal;

describe("make", () => {
  it("asks a server that has places at once, for everybody", async () => {
    const server = serverOf({ places: 8 });
    const made = await Promise.all(
      Array.from({ length: 8 }, () => server.logins.make(server.connect, none, neverOf())),
    );
    expect(made.every(({ ok: fine }) => fine)).toBe(true);
    expect(server.atOnceMax).toBe(8);
  });

  it("asks a full server one login at a time, less and less often", async () => {
    const server = serverOf({ places: 0 });
    const first = server.logins.make(server.connect, none, neverOf());
    await server.host.settle();
    server.atOnceMax = 0;
    const others = Array.from({ length: 20 }, () =>
      server.logins.make(server.connect, none, neverOf()),
    );
    await server.host.advance(waitMs + 1);
    expect(server.atOnceMax).toBe(1);
    // A login every 50 ms would be two hundred.
    expect(server.asked).toBeLessThan(20);
    for (const made of await Promise.all([first, ...others]))
      expect(made).toMatchObject({ ok: false, error: { code: "cluster.connectFailed" } });
    expect(server.host.timerCount).toBe(0);
  });

  it("hands on what comes to rest, without a login, to who waits longest", async () => {
    const server = serverOf({ places: 0 });
    const rests: string[] = [];
    const resting = () => rests.shift();
    const waiting = [1, 2].map(() => server.logins.make(server.connect, resting, neverOf()));
    await server.host.settle();
    const before = server.asked;
    rests.push("first");
    server.logins.freed();
    await server.host.settle();
    expect(await waiting[0]).toEqual(ok("first"));
    server.places = 1;
    await server.host.advance(waitMs / 2);
    expect(await waiting[1]).toMatchObject({ ok: true });
    // The second one was alone in line then, and got the place.
    expect(server.asked).toBeGreaterThan(before);
  });

  it("lets everybody in again once a login is taken", async () => {
    const server = serverOf({ places: 0 });
    const waiting = Array.from({ length: 5 }, () =>
      server.logins.make(server.connect, none, neverOf()),
    );
    await server.host.settle();
    server.places = 5;
    await server.host.advance(500);
    expect((await Promise.all(waiting)).every(({ ok: fine }) => fine)).toBe(true);
    expect(server.logins.full).toBe(false);
  });

  it("does not wait for a server that refuses for another reason", async () => {
    const server = serverOf({ places: 0, full: false });
    const made = await server.logins.make(server.connect, none, neverOf());
    expect(made).toMatchObject({ ok: false, error: { detail: "no" } });
    expect(server.asked).toBe(1);
    expect(server.logins.full).toBe(false);
  });

  it("ends with its signal, and with the pool", async () => {
    const server = serverOf({ places: 0 });
    const controller = new AbortController();
    const left = server.logins.make(server.connect, none, controller.signal);
    const closed = server.logins.make(server.connect, none, neverOf());
    await server.host.settle();
    controller.abort();
    expect(await left).toMatchObject({ error: { code: "query.cancelled" } });
    server.logins.close();
    expect(await closed).toMatchObject({ error: { code: "cluster.connectFailed" } });
    expect(server.host.timerCount).toBe(0);
  });
});

class Served {
  readonly host = virtualHost(7);
  readonly logins = new Logins(this.host, waitMs);
  asked = 0;
  atOnceMax = 0;
  #atOnce = 0;
  places: number;
  readonly #full: boolean;

  constructor(places: number, full: boolean) {
    this.places = places;
    this.#full = full;
  }

  readonly connect = async (): Promise<Result<string, Refused>> => {
    this.asked += 1;
    this.#atOnce += 1;
    this.atOnceMax = Math.max(this.atOnceMax, this.#atOnce);
    await Promise.resolve();
    this.#atOnce -= 1;
    if (this.places === 0) {
      const error = gatewayError("cluster.connectFailed", { detail: "no" });
      return err({ error, full: this.#full });
    }
    this.places -= 1;
    return ok("made");
  };
}

function serverOf({ places, full = true }: { places: number; full?: boolean }): Served {
  return new Served(places, full);
}
