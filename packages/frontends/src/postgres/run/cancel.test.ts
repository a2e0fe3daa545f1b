import { virtualHost } from "@gateway/core/rig/virtual.ts";
import { describe, expect, it } from "vitest";
import { crewOf } from "../../rig/crew.ts";
import { CancelKeys, type KeyOwner } from "./cancel.ts";

describe("CancelKeys", () => {
  it("cancels by the right key and by no other", () => {
    const keys = new CancelKeys(virtualHost(1));
    let cancelled = 0;
    const { key } = keys.register(
      4,
      ownerOf(() => {
        cancelled += 1;
      }),
    );
    const wrong = Uint8Array.from(key.secret, (byte) => byte ^ 1);
    keys.present({ process: key.process, secret: wrong });
    keys.present({ process: key.process, secret: key.secret.subarray(0, 3) });
    keys.present({ process: key.process, secret: new Uint8Array(0) });
    keys.present({ process: key.process ^ 1, secret: key.secret });
    expect(cancelled).toBe(0);
    keys.present(key);
    expect(cancelled).toBe(1);
  });

  it("forgets a key that was given back", () => {
    const keys = new CancelKeys(virtualHost(1));
    let cancelled = 0;
    const registered = keys.register(
      32,
      ownerOf(() => {
        cancelled += 1;
      }),
    );
    registered[Symbol.dispose]();
    keys.present(registered.key);
    expect([cancelled, keys.size]).toEqual([0, 0]);
  });

  it("gives each connection its own positive process number and secret", () => {
    const keys = new CancelKeys(virtualHost(1));
    const made = Array.from({ length: 200 }, () => keys.register(4, ownerOf()).key);
    expect(new Set(made.map(({ process }) => process)).size).toBe(200);
    expect(made.every(({ process }) => process > 0)).toBe(true);
    expect(new Set(made.map(({ secret }) => secret.join())).size).toBe(200);
  });

  it("signals a connection for its own user alone", () => {
    const keys = new CancelKeys(virtualHost(1));
    const told: string[] = [];
    const { key, ...registered } = keys.register(
      4,
      ownerOf((what) => told.push(what)),
    );
    expect(keys.signal({ user: "bob", process: key.process, name: "pg_terminate_backend" })).toBe(
      false,
    );
    expect(
      keys.signal({ user: "ada", process: key.process ^ 1, name: "pg_terminate_backend" }),
    ).toBe(false);
    expect(told).toEqual([]);
    expect(keys.signal({ user: "ada", process: key.process, name: "pg_cancel_backend" })).toBe(
      true,
    );
    expect(keys.signal({ user: "ada", process: key.process, name: "pg_terminate_backend" })).toBe(
      true,
    );
    expect(told).toEqual(["cancel", "terminate"]);
    expect(registered).toBeDefined();
  });

  it("finds a user's session by the process of its server, where the number tells which one", () => {
    const keys = new CancelKeys(virtualHost(1));
    const told: string[] = [];
    const sessions = [
      { user: "ada", cluster: "one", process: 7 },
      { user: "ada", cluster: "two", process: 7 },
      { user: "ada", cluster: "one", process: 8 },
      { user: "bob", cluster: "one", process: 8 },
      { user: "bob", cluster: "one", process: 9 },
    ];
    for (const { user, ...behind } of sessions) {
      const owner = ownerOf((what) => told.push(`${user} ${behind.cluster} ${what}`));
      keys.register(4, { ...owner, user, behind });
    }
    keys.register(4, ownerOf());
    const sent = (process: number, cluster?: string) =>
      keys.signal({ user: "ada", process, name: "pg_terminate_backend", cluster });
    expect([sent(7), sent(9), sent(8, "two"), told]).toEqual([false, false, false, []]);
    expect([sent(7, "two"), sent(8), told]).toEqual([
      true,
      true,
      ["ada two terminate", "ada one terminate"],
    ]);
  });

  it("knows whose statement a process of a server runs now, and obeys that one's user alone", () => {
    const running = new Map<number, number>();
    const keys = new CancelKeys(virtualHost(1), {
      sessionAt: (process, cluster) => (cluster === "two" ? undefined : running.get(process)),
    });
    const told: string[] = [];
    const one = keys.register(
      4,
      ownerOf((what) => told.push(what)),
    );
    running.set(7, one.key.process);
    const sent = (user: string, process: number, cluster: string) =>
      keys.signal({ user, process, name: "pg_cancel_backend", cluster });
    const refused = [sent("bob", 7, "one"), sent("ada", 7, "two"), sent("ada", 8, "one")];
    expect([refused, told]).toEqual([[false, false, false], []]);
    expect([sent("ada", 7, "one"), told]).toEqual([true, ["cancel"]]);
    one[Symbol.dispose]();
    expect(sent("ada", 7, "one")).toBe(false);
  });

  it("finds it so in whichever process lives with it", async () => {
    const crew = crewOf(2);
    const all = crew.map((siblings) => new CancelKeys({ ...virtualHost(1), siblings }));
    const told: string[] = [];
    const owner = ownerOf((what) => told.push(what));
    all[1]?.register(4, { ...owner, behind: { cluster: "one", process: 8 } });
    const name = "pg_terminate_backend";
    expect(await all[0]?.signal({ user: "bob", process: 8, name })).toBe(false);
    expect(await all[0]?.signal({ user: "ada", process: 8, name })).toBe(true);
    expect(told).toEqual(["terminate"]);
  });

  it("finds the connection in whichever process lives with it, and obeys its user there", async () => {
    const crew = crewOf(3);
    const all = crew.map((siblings) => new CancelKeys({ ...virtualHost(1), siblings }));
    const told: string[] = [];
    const made = all.map((keys, at) =>
      keys.register(
        4,
        ownerOf((what) => told.push(`${at} ${what}`)),
      ),
    );
    for (const keys of all)
      for (const { key } of made) {
        expect(
          await keys.signal({ user: "bob", process: key.process, name: "pg_terminate_backend" }),
        ).toBe(false);
        expect(
          await keys.signal({ user: "ada", process: key.process, name: "pg_cancel_backend" }),
        ).toBe(true);
      }
    expect(told.toSorted()).toEqual(
      [0, 1, 2].flatMap((at) => Array.from({ length: 3 }, () => `${at} cancel`)),
    );
    made[1]?.[Symbol.dispose]();
    const gone = made[1]?.key.process ?? 0;
    expect(await all[0]?.signal({ user: "ada", process: gone, name: "pg_terminate_backend" })).toBe(
      false,
    );
  });
});

function ownerOf(tell: (what: string) => void = () => undefined): KeyOwner {
  return { user: "ada", cancel: () => tell("cancel"), terminate: () => tell("terminate") };
}
