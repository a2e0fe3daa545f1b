/** Administrators who sign on at a real provider of identities, as their browser goes from one to the other and back. */
import {
  connect,
  createServer as createForward,
  type AddressInfo,
  type Server as ForwardServer,
} from "node:net";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { startSignOnProvider } from "../fake/signOnProvider.mjs";
import { configOf, gatewayOf, type TestGateway } from "./gateway.ts";

const clientSecret = "a secret: of + the client";
let account = { sub: "olga", groups: ["ops"] };
/** What administrators call it by: its port has to be known before the gateway's is. */
let front: ForwardServer;
let idp: Awaited<ReturnType<typeof startSignOnProvider>>;
let gateway: TestGateway;
let url: string;

beforeAll(async () => {
  front = createForward(
    (socket) => void socket.pipe(connect(gateway.ports["adminApi"] ?? 0, "127.0.0.1")).pipe(socket),
  );
  url = `http://127.0.0.1:${await listening(front)}`;
  const redirectUri = `${url}/admin/sign-on/oidc/callback`;
  idp = await startSignOnProvider({ clientSecret, redirectUri, account: () => account });
  const { issuer } = idp;
  const roles = { admin: ["root"], operator: ["ops"] };
  const oidc = { issuer, clientId: "console", clientSecret, publicUrl: url, roles };
  const base = configOf() as { readonly gateway: object };
  const adminApi = { host: "127.0.0.1", port: 0, signOn: { oidc } };
  gateway = await gatewayOf({ ...base, gateway: { ...base.gateway, adminApi } });
});

afterAll(async () => {
  await gateway[Symbol.asyncDispose]();
  await idp.stop();
  front.close();
});

describe("signing on at a real provider", () => {
  it("makes the first admin of whom it proves, in the role of the group, and anybody else nobody", async () => {
    const early = await signedOn();
    expect(early.refresh).toBe("0; url=/studio/?signOn=noRole");
    account = { sub: "rita", groups: ["others", "root"] };
    const first = await signedOn("/studio/workers");
    expect(first.refresh).toBe("0; url=/studio/workers");
    expect(await meOf(first)).toEqual({ name: "rita", role: "admin", via: "session" });
    account = { sub: "olga", groups: ["ops"] };
    expect(await meOf(await signedOn())).toMatchObject({ name: "olga", role: "operator" });
    account = { sub: "olga", groups: [] };
    expect((await signedOn()).refresh).toBe("0; url=/studio/?signOn=noRole");
    const ways = await (await fetch(`${url}/admin/sign-on`)).json();
    expect(ways).toMatchObject({ setupNeeded: false, oidc: { title: "Company account" } });
  });

  it("takes no answer again, and none under a state, a nonce or a verifier that is not this browser's", async () => {
    account = { sub: "rita", groups: ["root"] };
    const browser = new Browser();
    const callback = await toCallback(browser);
    const other = new Browser();
    await toCallback(other);
    const foreign = await other.ask(callback);
    expect(foreign.headers.get("refresh")).toContain("signOn=expired");
    for (const at of [1, 2]) {
      const changed = new Browser();
      const answer = await toCallback(changed);
      changed.changeKept((kept) =>
        kept.map((part, index) => (index === at ? "x".repeat(43) : part)),
      );
      const refused = await changed.ask(answer);
      expect(refused.headers.get("refresh")).toContain("signOn=refused");
    }
    const right = await browser.ask(callback);
    expect(right.headers.get("refresh")).toBe("0; url=/studio/");
    const again = await browser.ask(callback);
    expect(again.headers.get("refresh")).toContain("signOn=expired");
    const denied = new Browser();
    const to = new URL(await toCallback(denied));
    const state = to.searchParams.get("state");
    const no = await denied.ask(`${to.origin}${to.pathname}?error=access_denied&state=${state}`);
    expect(no.headers.get("refresh")).toContain("signOn=cancelled");
  });
});

interface Arrived {
  readonly refresh: string | null;
  readonly browser: Browser;
}

async function signedOn(returnTo = "/studio/"): Promise<Arrived> {
  const browser = new Browser();
  const answer = await browser.ask(await toCallback(browser, returnTo));
  expect(answer.status).toBe(200);
  return { refresh: answer.headers.get("refresh"), browser };
}

/** From the console's button through the provider; answers the callback's address with the code. */
async function toCallback(browser: Browser, returnTo = "/studio/"): Promise<string> {
  let at = `${url}/admin/sign-on/oidc?returnTo=${encodeURIComponent(returnTo)}`;
  for (let hops = 0; hops < 10; hops += 1) {
    if (at.startsWith(`${url}/admin/sign-on/oidc/callback`)) return at;
    const response = await browser.ask(at);
    const location = response.headers.get("location");
    if (location === null) throw new Error(`${at}: ${response.status} ${await response.text()}`);
    at = new URL(location, at).href;
  }
  throw new Error("no end of redirects");
}

async function meOf({ browser }: Arrived): Promise<unknown> {
  return (await browser.ask(`${url}/admin/me`)).json();
}

/** Cookies of two servers on one host, which a browser does not tell apart by port. */
class Browser {
  readonly #cookies = new Map<string, string>();

  async ask(address: string): Promise<Response> {
    const cookie = [...this.#cookies].map(([name, value]) => `${name}=${value}`).join("; ");
    const response = await fetch(address, { redirect: "manual", headers: { cookie } });
    for (const set of response.headers.getSetCookie()) {
      const [name = "", value = ""] = (set.split(";")[0] ?? "").split(/=(.*)/s);
      if (value === "") this.#cookies.delete(name);
      else this.#cookies.set(name, value);
    }
    return response;
  }

  changeKept(change: (kept: readonly unknown[]) => readonly unknown[]): void {
    const value = this.#cookies.get("gateway-sign-on") ?? "";
    const cookie = JSON.parse(Buffer.from(value, "base64url").toString()) as { kept: string };
    const kept = JSON.stringify(change(JSON.parse(cookie.kept) as readonly unknown[]));
    const text = JSON.stringify({ ...cookie, kept });
    this.#cookies.set("gateway-sign-on", Buffer.from(text).toString("base64url"));
  }
}

async function listening(server: ForwardServer): Promise<number> {
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return (server.address() as AddressInfo).port;
}
