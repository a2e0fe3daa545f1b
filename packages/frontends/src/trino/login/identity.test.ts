import type { AuthContext } from "@gateway/core/query/identity.ts";
import { describe, expect, it } from "vitest";
import type { Script } from "../../rig/scriptedDoor.ts";
import { checkHeaders, claimsAnother, presentedBy } from "./identity.ts";
import { opened, rowsOf, sendRaw } from "../rig/server.ts";
import { numbers, resultOf } from "../rig/trino.ts";

describe("checkHeaders", () => {
  it("passes what clients send", () => {
    const sent = ["Host", "h", "X-Trino-User", "alice", "X-Trino-Session", "a=1"];
    expect(checkHeaders([...sent, "X-Trino-Session", "b=2", "Connection", "keep-alive"]).ok).toBe(
      true,
    );
  });

  const refused: readonly (readonly [string, readonly string[]])[] = [
    ["a user twice", ["X-Trino-User", "alice", "x-trino-user", "root"]],
    ["a credential twice", ["Authorization", "Basic YQ==", "AUTHORIZATION", "Bearer x"]],
    ["two hosts", ["Host", "a", "Host", "b"]],
    ["two lengths", ["Content-Length", "3", "Content-Length", "4"]],
    ["a name with underscores", ["X_Trino_User", "root"]],
    ["a name with one underscore", ["X-Trino_User", "root"]],
    ["the older prefix", ["X-Presto-User", "root"]],
    ["a Connection header that drops a name", ["Connection", "close, X-Trino-User"]],
  ];
  it.each(refused)("refuses %s", (_case, rawHeaders) => {
    expect(checkHeaders(rawHeaders)).toMatchObject({
      ok: false,
      error: { code: "protocol.violation" },
    });
  });
});

describe("presentedBy", () => {
  it("claims the name in the header when there is no credential", () => {
    expect(presentedBy({ "x-trino-user": "alice" })).toEqual({
      ok: true,
      value: { kind: "nothing", user: "alice", asked: false },
    });
    expect(presentedBy({ "x-trino-user": "  " })).toEqual({
      ok: true,
      value: { kind: "nothing", user: undefined, asked: false },
    });
  });

  it("never takes a name from X-Trino-Original-User", () => {
    expect(presentedBy({ "x-trino-original-user": "root" })).toEqual({
      ok: true,
      value: { kind: "nothing", user: undefined, asked: false },
    });
  });

  it("splits a Basic credential at its first colon", () => {
    const basic = Buffer.from("älice:pa:ss wörd").toString("base64");
    const presented = presentedBy({ authorization: `basic ${basic}` });
    if (!presented.ok || presented.value.kind !== "password") throw new Error("no password");
    expect([presented.value.user, presented.value.password.reveal()]).toEqual([
      "älice",
      "pa:ss wörd",
    ]);
  });

  it("carries a Bearer token with the claimed name beside it", () => {
    const presented = presentedBy({ authorization: "Bearer a.b.c", "x-trino-user": "alice" });
    if (!presented.ok || presented.value.kind !== "bearer") throw new Error("no token");
    expect([presented.value.token.reveal(), presented.value.claimedUser]).toEqual([
      "a.b.c",
      "alice",
    ]);
  });

  it("takes the names of a certificate where nothing else is shown", () => {
    const names = ["alice", "alice@example"];
    expect(presentedBy({ "x-trino-user": "alice" }, names)).toEqual({
      ok: true,
      value: { kind: "certificate", user: "alice", names },
    });
    const basic = `Basic ${Buffer.from("bob:x").toString("base64")}`;
    expect(presentedBy({ authorization: basic }, names)).toMatchObject({
      value: { kind: "password", user: "bob" },
    });
    expect(presentedBy({ authorization: "Basic" }, names).ok).toBe(false);
  });

  it("refuses a malformed or unknown credential like a wrong one", () => {
    for (const authorization of [
      "",
      "Basic",
      "Basic !!!",
      "Basic YWxpY2U=",
      "Basic OnB3",
      "Negotiate x",
    ]) {
      expect(presentedBy({ authorization })).toMatchObject({
        ok: false,
        error: { code: "auth.refused" },
      });
    }
  });
});

describe("claimsAnother", () => {
  const identity: AuthContext = { user: "alice", groups: [], roles: [], method: "static" };
  const password = presentedBy({
    authorization: `Basic ${Buffer.from("alice:x").toString("base64")}`,
  });

  it("finds a name beside a credential that is not the verified one", () => {
    if (!password.ok) throw new Error("no password");
    expect(claimsAnother({ "x-trino-user": "root" }, password.value, identity)).toBe(true);
    expect(claimsAnother({ "x-trino-user": "alice" }, password.value, identity)).toBe(false);
    expect(claimsAnother({}, password.value, identity)).toBe(false);
  });

  it("leaves a name without a credential to the authenticator", () => {
    const nothing = { kind: "nothing", user: "root", asked: false } as const;
    const anonymous: AuthContext = { ...identity, user: "anonymous", method: "anonymous" };
    expect(claimsAnother({ "x-trino-user": "root" }, nothing, anonymous)).toBe(false);
  });
});

describe("the identity of a request", () => {
  const script: Script = {
    answers: { "SELECT 1": resultOf(numbers, [[1n]]) },
    passwords: { alice: "secret" },
  };
  const basic = (user: string, password: string) => ({
    authorization: `Basic ${Buffer.from(`${user}:${password}`).toString("base64")}`,
  });

  it("is proved anew with every request", async () => {
    const server = await opened(script);
    const answers = await server.follow("SELECT 1", basic("alice", "secret"));
    expect(rowsOf(answers)).toEqual([[1]]);
    const { nextUri = "" } = answers[0]?.results ?? {};
    expect((await fetch(nextUri)).status).toBe(401);
    expect((await server.ask(nextUri, { headers: basic("alice", "wrong") })).status).toBe(401);
  });

  it("that is wrong or missing is refused with a challenge and before the statement is read", async () => {
    const server = await opened(script);
    for (const headers of [basic("alice", "wrong"), basic("bob", "secret"), {}]) {
      const response = await server.ask("/v1/statement", { sql: "SELECT 1", headers });
      expect(response.status).toBe(401);
      expect(response.headers.get("www-authenticate")).toBe('Basic realm="Trino"');
    }
    expect(server.door.queries).toEqual([]);
  });

  it("that can not be judged is refused by itself and told to the door", async () => {
    const server = await opened(script);
    const malformed = [{ authorization: "Basic" }, { authorization: "Digest x" }];
    for (const headers of malformed) {
      const sent = { ...headers, "x-trino-user": "mallory" };
      const response = await server.ask("/v1/statement", { sql: "SELECT 1", headers: sent });
      expect(response.status).toBe(401);
    }
    const another = { ...basic("alice", "secret"), "x-trino-user": "root" };
    await server.ask("/v1/statement", { sql: "SELECT 1", headers: another });
    expect(server.door.refusals).toEqual([
      "auth.refused nothing mallory",
      "auth.refused nothing mallory",
      "query.permission password root",
    ]);
  });

  it("may be proved by a token where the challenge says so", async () => {
    const server = await opened({ ...script, takesTokens: true });
    const response = await server.ask("/v1/statement", { sql: "SELECT 1" });
    expect(response.status).toBe(401);
    const challenges = 'Basic realm="Trino", Bearer realm="Trino", token_type="JWT"';
    expect(response.headers.get("www-authenticate")).toBe(challenges);
  });

  it("can not be another one than the credential proves", async () => {
    const server = await opened(script);
    const headers = { ...basic("alice", "secret"), "x-trino-user": "root" };
    const response = await server.ask("/v1/statement", { sql: "SELECT 1", headers });
    expect(response.status).toBe(403);
    expect(await response.text()).toMatch(/^Access Denied/);
  });

  it("that can be read in two ways is refused", async () => {
    const server = await opened({ answers: script.answers });
    const post = (headers: string) =>
      sendRaw(
        server.port,
        `POST /v1/statement HTTP/1.1\r\nHost: localhost\r\n${headers}Connection: close\r\nContent-Length: 8\r\n\r\nSELECT 1`,
      );
    for (const headers of [
      "X-Trino-User: alice\r\nX-Trino-User: root\r\n",
      "X-Trino-User: alice\r\nX_Trino_User: root\r\n",
      "X-Presto-User: alice\r\n",
      "X-Trino-User: alice\r\nConnection: X-Trino-User\r\n",
      "X-Trino-User: alice\r\nTransfer-Encoding: chunked\r\n",
    ]) {
      expect(await post(headers)).toMatch(/^HTTP\/1.1 400 /);
    }
    expect(await post("X-Trino-User: alice\r\nX-Trino-Original-User: root\r\n")).toMatch(
      /^HTTP\/1.1 200 /,
    );
    expect(server.door.queries.map(({ session }) => session.identity.user)).toEqual(["alice"]);
  });

  it("is not taken in clear text from beyond this machine unless the config says so", async () => {
    const headers = basic("alice", "secret");
    const strict = await opened(script, { host: "0.0.0.0" });
    const refused = await strict.ask("/v1/statement", { sql: "SELECT 1", headers });
    expect(refused.status).toBe(403);
    expect(strict.door.presented).toEqual([]);
    const lenient = await opened(script, { host: "0.0.0.0", allowCleartext: true });
    expect(rowsOf(await lenient.follow("SELECT 1", headers))).toEqual([[1]]);
  });
});
