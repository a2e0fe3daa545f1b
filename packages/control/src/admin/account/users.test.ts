import { describe, expect, it } from "vitest";
import { tokenHashOf } from "../../http/secretCompare.ts";
import { people, testAdmin } from "../rig/admin.ts";

const creating = { "if-none-match": "*" };
const bob = { role: "viewer", password: "password-of-bob" };
const { admin: anna } = people;

describe("users of the admin API", () => {
  it("are created, changed and deleted by version, each with an audit row and no password anywhere", async () => {
    const { json, ask } = await testAdmin();
    const made = await json("PUT", "/admin/users/bob", { headers: creating, json: bob });
    expect([made.status, made.headers.get("etag")]).toEqual([201, '"1"']);
    expect(Object.keys(made.body).toSorted()).toEqual(
      ["createdAt", "disabled", "name", "role", "updatedAt", "version"].toSorted(),
    );
    const second = await json("PUT", "/admin/users/bob", { headers: creating, json: bob });
    expect([second.status, second.body["current"]]).toEqual([412, 1]);
    const match = { "if-match": '"1"' };
    const put = await json("PUT", "/admin/users/bob", {
      headers: match,
      json: { role: "operator" },
    });
    expect([put.status, put.body["role"], put.body["version"]]).toEqual([200, "operator", 2]);
    expect((await json("DELETE", "/admin/users/bob", { headers: match })).status).toBe(412);
    const gone = await ask("DELETE", "/admin/users/bob", { headers: { "if-match": '"2"' } });
    expect(gone.status).toBe(204);
    expect((await ask("GET", "/admin/users/bob")).status).toBe(404);

    const { items } = (await json("GET", "/admin/audit?target=user/bob")).body as { items: Row[] };
    expect(items.map(({ by, action }) => `${by} ${action}`)).toEqual([
      "anna delete",
      "anna put",
      "anna create",
    ]);
    expect(JSON.stringify(items)).not.toContain(bob.password);
  });

  it("keep their password when none is sent, and need one when they are new", async () => {
    const { json, ask } = await testAdmin();
    const without = await json("PUT", "/admin/users/bob", {
      headers: creating,
      json: { role: "viewer" },
    });
    expect([without.status, without.body["faults"]]).toEqual([
      422,
      [{ path: "password", reason: "required for a new user" }],
    ]);
    const change = { headers: { "if-match": '"1"' }, json: { role: "operator" } };
    await ask("PUT", "/admin/users/vera", change);
    expect((await json("GET", "/admin/me", { as: "viewer" })).body["role"]).toBe("operator");
  });

  it("refuse passwords that are short or that bcrypt would cut, and names of nobody", async () => {
    const { json } = await testAdmin();
    for (const password of ["short", "x".repeat(73), "ä".repeat(40)]) {
      const answer = await json("PUT", "/admin/users/bob", {
        headers: creating,
        json: { ...bob, password },
      });
      expect(answer.status).toBe(422);
      expect(JSON.stringify(answer.body)).not.toContain(password);
    }
    for (const name of ["host", "file", "a:b", "%20", "%00"]) {
      const answer = await json("PUT", `/admin/users/${name}`, { headers: creating, json: bob });
      expect(answer.status).toBe(400);
    }
  });

  it("never lose the last admin who can log in", async () => {
    const { json, ask } = await testAdmin();
    const match = { "if-match": '"1"' };
    expect((await json("DELETE", "/admin/users/anna", { headers: match })).status).toBe(409);
    for (const change of [{ role: "viewer" }, { role: "admin", disabled: true }]) {
      const answer = await json("PUT", "/admin/users/anna", { headers: match, json: change });
      expect([answer.status, answer.body["code"]]).toEqual([409, "lastAdmin"]);
    }
    const other = { role: "admin", password: "password-of-bob" };
    await ask("PUT", "/admin/users/bob", { headers: creating, json: other });
    expect((await ask("DELETE", "/admin/users/anna", { headers: match })).status).toBe(204);
    expect((await ask("GET", "/admin/me")).status).toBe(401);
  });
});

describe("sessions", () => {
  it("are listed without anything that opens them, and end when an admin says so", async () => {
    const { json, ask } = await testAdmin();
    const login = await ask("POST", "/admin/login", { as: null, json: people.viewer });
    const { items } = (await json("GET", "/admin/sessions")).body as { items: { id: string }[] };
    expect(items).toEqual([expect.objectContaining({ user: "vera", own: false })]);
    const cookie = (login.headers.get("set-cookie") ?? "").split(";")[0] ?? "";
    expect(JSON.stringify(items)).not.toContain(cookie.split("=")[1]);
    expect((await ask("DELETE", `/admin/sessions/${items[0]?.id}`)).status).toBe(204);
    expect((await ask("DELETE", `/admin/sessions/${items[0]?.id}`)).status).toBe(404);
    expect((await ask("GET", "/admin/me", { as: null, headers: { cookie } })).status).toBe(401);
  });
});

describe("the set-up", () => {
  const token = "one-time-token-of-the-host";

  it("makes one admin for the token of the host, and never a second", async () => {
    const { json, store } = await testAdmin({ empty: true });
    await store.users.offerSetup(tokenHashOf(token), 0);
    expect((await json("GET", "/admin/setup", { as: null })).body).toEqual({ needed: true });
    const setup = (given: string) =>
      json("POST", "/admin/setup", { as: null, json: { token: given, ...anna } });
    expect((await setup("a wrong token")).status).toBe(403);
    const made = await setup(token);
    expect([made.status, made.body["role"]]).toEqual([201, "admin"]);
    expect((await setup(token)).status).toBe(403);
    expect((await json("GET", "/admin/setup", { as: null })).body).toEqual({ needed: false });
    expect((await json("GET", "/admin/me")).body).toMatchObject({ name: "anna", role: "admin" });
    const audit = (await json("GET", "/admin/audit?action=setup")).body;
    expect(JSON.stringify(audit)).not.toContain(token);
    expect(audit["items"]).toHaveLength(1);
  });

  it("has no default password, and slows down who guesses the token", async () => {
    const { json, host } = await testAdmin({ empty: true });
    for (const password of ["admin", "password", "gateway"]) {
      const login = { as: null, json: { name: "admin", password } };
      expect((await json("POST", "/admin/login", login)).status).toBe(401);
    }
    const guess = { as: null, json: { token: "guess", ...anna } };
    for (let count = 0; count < 7; count += 1) {
      expect((await json("POST", "/admin/setup", guess)).status).toBe(403);
    }
    const late = json("POST", "/admin/setup", guess);
    await host.advance(2_000);
    expect((await late).status).toBe(429);
  });
});

interface Row {
  readonly by: string;
  readonly action: string;
}
