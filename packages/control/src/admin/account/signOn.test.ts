import { err, ok } from "@gateway/core/result.ts";
import { virtualHost } from "@gateway/core/rig/virtual.ts";
import { describe, expect, it } from "vitest";
import type { ProvenAdmin, SignOnProvider } from "../../deps.ts";
import { signOnLinks } from "../auth/links.ts";
import { basic, cookieOf, ourPage, people, testAdmin, type TestAdmin } from "../rig/admin.ts";

const here = { as: null, address: "127.0.0.1", headers: { "x-test-clear": "1" } } as const;

describe("a one-time link", () => {
  it("signs on once, with a cookie that no script and no other site gets", async () => {
    const { admin, make } = await linked({});
    const { path } = make(people.admin.name);
    const first = await admin.ask("GET", path, here);
    expect(first.status).toBe(200);
    expect(first.headers.get("refresh")).toBe("0; url=/studio/");
    const cookie = first.headers.get("set-cookie") ?? "";
    expect(cookie).toContain("HttpOnly");
    expect(cookie).toContain("SameSite=Strict");
    expect(cookie).not.toContain("Secure");
    const headers = { ...cookieOf(first), "x-test-clear": "1" };
    const me = await admin.json("GET", "/admin/me", { as: null, headers });
    expect(me.body).toEqual({ name: people.admin.name, role: "admin", via: "session" });
    const again = await admin.ask("GET", path, here);
    expect(again.headers.get("refresh")).toBe("0; url=/studio/?signOn=linkUsed");
    expect(again.headers.get("set-cookie")).toBeNull();
    const audit = await admin.json("GET", "/admin/audit?action=login");
    expect(audit.body).toMatchObject({ items: [{ by: "anna", detail: { how: "link" } }] });
  });

  it("is too old after ten minutes, and no use from another machine or from another site's page", async () => {
    const { admin, make } = await linked({});
    const { path } = make(people.admin.name);
    expect((await admin.ask("GET", path, { as: null })).status).toBe(403);
    const foreign = { ...here, headers: { ...here.headers, "sec-fetch-site": "cross-site" } };
    expect((await admin.ask("GET", path, foreign)).status).toBe(403);
    await admin.host.advance(10 * 60_000);
    const late = await admin.ask("GET", path, here);
    expect(late.headers.get("refresh")).toContain("linkUsed");
    const guess = await admin.ask("GET", "/admin/sign-on/link?token=guess", here);
    expect(guess.headers.get("set-cookie")).toBeNull();
  });

  it("makes the first admin where there is nobody, who has no password, and nobody afterwards", async () => {
    const { admin, make } = await linked({ empty: true });
    const links = [make("admin"), make("another")];
    const first = await admin.ask("GET", links[0]?.path ?? "", here);
    expect(cookieOf(first).cookie).toContain("gateway-session=");
    const second = await admin.ask("GET", links[1]?.path ?? "", here);
    expect(second.headers.get("refresh")).toContain("signOn=refused");
    for (const password of ["!local", "admin", ""]) {
      const headers = basic("admin", password);
      expect((await admin.ask("GET", "/admin/me", { as: null, headers })).status).toBe(401);
    }
    const ways = await admin.json("GET", "/admin/sign-on", { as: null });
    expect(ways.body).toEqual({ setupNeeded: false, password: true });
  });

  it("is of no use to a user who is no admin any more, and made by admins on loopback alone", async () => {
    const { admin, make } = await linked({});
    const gone = await admin.ask("GET", make(people.operator.name).path, here);
    expect(gone.headers.get("refresh")).toContain("signOn=refused");
    const made = await admin.json("POST", "/admin/sign-on/links");
    expect(made.status).toBe(201);
    const used = await admin.ask("GET", String(made.body["path"]), here);
    expect(used.headers.get("refresh")).toBe("0; url=/studio/");
    expect((await admin.ask("POST", "/admin/sign-on/links", { as: "operator" })).status).toBe(403);
    const far = await testAdmin();
    expect((await far.ask("POST", "/admin/sign-on/links")).status).toBe(501);
    expect((await far.ask("GET", "/admin/sign-on/link?token=x", here)).status).toBe(403);
  });
});

describe("signing on at a provider", () => {
  const proven = { name: "olga", role: "operator", subject: "https://id\n1" } as const;

  it("brings the browser back to the page it came from, as the user that the provider proved", async () => {
    const admin = await testAdmin({ deps: { signOn: providerOf(proven) } });
    const back = await roundTrip(admin, "/studio/queries/q1?tab=sql");
    expect(back.headers.get("refresh")).toBe("0; url=/studio/queries/q1?tab=sql");
    const headers = sessionOf(back);
    const me = await admin.json("GET", "/admin/me", { as: null, headers });
    expect(me.body).toEqual({ name: "olga", role: "operator", via: "session" });
    const write = { as: null, headers: { ...headers, ...ourPage }, json: {} } as const;
    expect((await admin.ask("POST", "/admin/logout", write)).status).toBe(204);
  });

  it("leads to no page that is not ours", async () => {
    const admin = await testAdmin({ deps: { signOn: providerOf(proven) } });
    for (const page of ["https://evil.example/", "//evil.example", '/studio/"><b>', "/admin/me"]) {
      const back = await roundTrip(admin, page);
      expect(back.headers.get("refresh")).toBe("0; url=/studio/");
    }
  });

  it("takes no answer twice, none that another browser asked for, and none that was refused", async () => {
    const admin = await testAdmin({ deps: { signOn: providerOf(proven) } });
    const callback = "/admin/sign-on/oidc/callback?code=c";
    const foreign = await admin.ask("GET", callback, { as: null });
    expect(foreign.headers.get("refresh")).toContain("signOn=expired");
    const back = await roundTrip(admin, "/studio/");
    const cookies = back.headers.getSetCookie();
    expect(cookies.some((one) => /^__Host-gateway-sign-on=;.*Max-Age=0/.test(one))).toBe(true);
    const refusing = await testAdmin({
      deps: { signOn: { ...providerOf(proven), finish: async () => err("noRole") } },
    });
    const refused = await roundTrip(refusing, "/studio/");
    expect(refused.headers.get("refresh")).toBe("0; url=/studio/?signOn=noRole");
    expect(sessionOf(refused).cookie).toBe("");
  });

  it("gives nobody another's name, no one a role that was taken, and no first user but an admin", async () => {
    const current: { value: ProvenAdmin } = { value: { ...proven, name: people.admin.name } };
    const signOn = { ...providerOf(proven), finish: async () => ok(current.value) };
    const admin = await testAdmin({ deps: { signOn } });
    const refresh = async () => (await roundTrip(admin, "/studio/")).headers.get("refresh");
    expect(await refresh()).toContain("nameTaken");
    current.value = proven;
    expect(await refresh()).toBe("0; url=/studio/");
    current.value = { ...proven, subject: "https://id\n2" };
    expect(await refresh()).toContain("nameTaken");
    current.value = { ...proven, role: "viewer" };
    const back = await roundTrip(admin, "/studio/");
    const me = await admin.json("GET", "/admin/me", { as: null, headers: sessionOf(back) });
    expect(me.body["role"]).toBe("viewer");
    current.value = { ...proven, name: "host" };
    expect(await refresh()).toContain("refused");
    const empty = await testAdmin({ empty: true, deps: { signOn: providerOf(proven) } });
    const first = await roundTrip(empty, "/studio/");
    expect(first.headers.get("refresh")).toContain("noRole");
  });
});

async function linked(options: { readonly empty?: boolean }) {
  const host = virtualHost(7);
  // The clock of the app itself, which moves with it.
  const clock = { ...host.clock };
  const links = signOnLinks(clock, (length) => host.randomBytes(length));
  const admin = await testAdmin({ ...options, deps: { links } });
  clock.nowMs = () => admin.host.clock.nowMs();
  return { admin, make: (user: string) => links.make(user) };
}

function providerOf(proven: ProvenAdmin): SignOnProvider {
  return {
    title: "Company",
    begin: async () => ok({ url: "https://id.example/authorize?state=s", kept: "kept" }),
    finish: async (kept, answer) =>
      kept === "kept" && answer.get("code") === "c" ? ok(proven) : err("expired"),
  };
}

/** From the console's button to the provider and back. */
async function roundTrip(admin: TestAdmin, page: string): Promise<Response> {
  const path = `/admin/sign-on/oidc?returnTo=${encodeURIComponent(page)}`;
  const begun = await admin.ask("GET", path, { as: null });
  expect(begun.status).toBe(303);
  expect(begun.headers.get("location")).toBe("https://id.example/authorize?state=s");
  const cookie = begun.headers.get("set-cookie") ?? "";
  expect(cookie).toMatch(/^__Host-gateway-sign-on=.*HttpOnly; Secure; SameSite=Lax$/);
  const headers = cookieOf(begun);
  return admin.ask("GET", "/admin/sign-on/oidc/callback?code=c&state=s", { as: null, headers });
}

function sessionOf(response: Response): { readonly cookie: string } {
  const set = response.headers.getSetCookie().find((one) => one.includes("gateway-session="));
  return { cookie: set?.split(";")[0] ?? "" };
}
