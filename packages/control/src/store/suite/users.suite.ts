/** Users of the admin API: no lost update, an admin always remains, one set-up. */
import { expect } from "vitest";
import type { Check } from "../store.suite.ts";
import { setupFreshMs } from "../store.ts";
import { allPages, answered, firstPage, startMs, userOf } from "../rig/samples.ts";

export function userSuite(check: Check): void {
  check("writes a user only over the version that was read", async ({ users }) => {
    expect(await answered(users.put(userOf("ann"), 1))).toBe("moved");
    expect(await answered(users.put(userOf("ann"), undefined))).toBe("written");
    expect(await answered(users.put(userOf("ann"), undefined))).toBe("moved");
    const second = userOf("ann", { version: 2, passwordHash: "new", updatedAt: startMs + 1 });
    expect(await answered(users.put(second, 1))).toBe("written");
    expect(await answered(users.put({ ...second, passwordHash: "late" }, 1))).toBe("moved");
    expect(await answered(users.get("ann"))).toEqual(second);
    expect(await answered(users.get("bob"))).toBeUndefined();
    expect(await answered(users.count())).toBe(1);
  });

  check("lets one of several writers of a user win", async ({ users }) => {
    const first = ["a", "b", "c"].map((passwordHash) =>
      answered(users.put(userOf("ann", { passwordHash }), undefined)),
    );
    expect((await Promise.all(first)).toSorted()).toEqual(["moved", "moved", "written"]);
    const next = ["a", "b", "c"].map((passwordHash) =>
      answered(users.put(userOf("ann", { passwordHash, version: 2 }), 1)),
    );
    expect((await Promise.all(next)).toSorted()).toEqual(["moved", "moved", "written"]);
  });

  check("never removes, demotes or disables the last enabled admin", async ({ users }) => {
    await answered(users.put(userOf("ann"), undefined));
    await answered(users.put(userOf("off", { disabled: true }), undefined));
    await answered(users.put(userOf("op", { role: "operator" }), undefined));
    const ann = userOf("ann", { version: 2 });
    expect(await answered(users.put({ ...ann, role: "operator" }, 1))).toBe("lastAdmin");
    expect(await answered(users.put({ ...ann, disabled: true }, 1))).toBe("lastAdmin");
    expect(await answered(users.remove("ann", 1))).toBe("lastAdmin");
    expect(await answered(users.put({ ...ann, disabled: true }, 9))).toBe("moved");
    expect(await answered(users.put(ann, 1))).toBe("written");
    expect(await answered(users.put(userOf("op", { role: "viewer", version: 2 }), 1))).toBe(
      "written",
    );
    expect(await answered(users.remove("off", 1))).toBe("removed");
    expect(await answered(users.put(userOf("bob"), undefined))).toBe("written");
    expect(await answered(users.remove("ann", 2))).toBe("removed");
  });

  check("keeps an admin when all of them leave at once", async ({ users }) => {
    const names = ["ann", "bob", "cid", "dan"];
    for (const name of names) await answered(users.put(userOf(name), undefined));
    const answers = await Promise.all(
      names.map((name, index) =>
        index % 2 === 0
          ? answered(users.remove(name, 1))
          : answered(users.put(userOf(name, { role: "viewer", version: 2 }), 1)),
      ),
    );
    expect(answers.filter((answer) => answer === "lastAdmin")).toHaveLength(1);
    const left = (await answered(users.list(firstPage))).items;
    expect(left.filter(({ role, disabled }) => role === "admin" && !disabled)).toHaveLength(1);
  });

  check("lets admins change themselves and each other at the same moment", async ({ users }) => {
    const names = ["ann", "bob", "cid", "dan"];
    for (const name of names) await answered(users.put(userOf(name), undefined));
    const next = { version: 2, passwordHash: "new" };
    const writes = [
      users.put(userOf("dan", next), 1),
      users.put(userOf("ann", { ...next, role: "viewer" }), 1),
      users.put(userOf("cid", next), 1),
      users.put(userOf("bob", { ...next, disabled: true }), 1),
    ];
    const answers = await Promise.all(writes.map((write) => answered(write)));
    expect(new Set(answers)).toEqual(new Set(["written"]));
  });

  check("tells a missing user from one that moved", async ({ users }) => {
    await answered(users.put(userOf("ann"), undefined));
    await answered(users.put(userOf("bob"), undefined));
    expect(await answered(users.remove("bob", 2))).toBe("moved");
    expect(await answered(users.remove("bob", 1))).toBe("removed");
    expect(await answered(users.remove("bob", 1))).toBe("missing");
  });

  check("lists users by name, in pages", async ({ users }) => {
    for (const name of ["c", "a", "e", "b", "d"])
      await answered(users.put(userOf(name), undefined));
    const rows = await allPages((page) => users.list(page), 2);
    expect(rows.map(({ name }) => name)).toEqual(["a", "b", "c", "d", "e"]);
  });

  check(
    "keeps one set-up token, a newer one after a while, and none once there are users",
    async ({ users }) => {
      const offers = await Promise.all(
        ["t1", "t2", "t3"].map((token) => answered(users.offerSetup(token, startMs))),
      );
      expect(offers.filter(Boolean)).toHaveLength(1);
      expect(await answered(users.offerSetup("t4", startMs + setupFreshMs - 1))).toBe(false);
      expect(await answered(users.offerSetup("t4", startMs + setupFreshMs))).toBe(true);
      for (const token of ["t1", "t2", "t3"]) {
        expect(await answered(users.redeemSetup(token, userOf("eve")))).toBe(false);
      }
      await answered(users.put(userOf("ann"), undefined));
      expect(await answered(users.redeemSetup("t4", userOf("eve")))).toBe(false);
      expect(await answered(users.get("eve"))).toBeUndefined();
    },
  );

  check("redeems the set-up token once, however many try at the same moment", async ({ users }) => {
    expect(await answered(users.redeemSetup("t1", userOf("eve")))).toBe(false);
    await answered(users.offerSetup("t1", startMs));
    expect(await answered(users.redeemSetup("t2", userOf("eve")))).toBe(false);
    const names = ["ann", "bob", "cid", "dan"];
    const answers = await Promise.all(
      names.map((name) => answered(users.redeemSetup("t1", userOf(name)))),
    );
    expect(answers.filter(Boolean)).toHaveLength(1);
    const winner = names[answers.indexOf(true)] ?? "";
    expect((await answered(users.list(firstPage))).items).toEqual([userOf(winner)]);
    expect(await answered(users.offerSetup("t3", startMs))).toBe(false);
  });
}
