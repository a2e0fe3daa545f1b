import { describe, expect, it } from "vitest";
import type { Script } from "../scriptedDoor.ts";
import { opened, rowsOf, sendRaw } from "./server.suite.ts";
import { numbers, resultOf } from "./trino.suite.ts";
import { describe, expect, it } from "vitest";
import type { Script } from "../scriptedDoor.ts";
import { opened, rowsOf, sendRaw } from "./server.suite.ts";
import { numbers, resultOf } from "./trino.suite.ts";

describe("identity", () => {
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
