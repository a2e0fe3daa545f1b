import { once } from "node:events";
import { describe, expect, it } from "vitest";
import { opened, rawClient, type TestServer } from "./rig/server.ts";
import { numbers, resultOf } from "./rig/trino.ts";

const single = resultOf(numbers, [[1n]]);

describe("statements over one connection", () => {
  it("keeps the connection behind a statement that it read and refused", async () => {
    const server = await opened({ answers: {} });
    const [answer] = await posted(server, ["X-Trino-User: alice"], [" "]);
    expect(answer).toMatch(/^HTTP\/1.1 400 .*Connection: keep-alive/s);
  });

  it("judges each login by itself, and reads what differs, where a connection repeats its headers", async () => {
    const passwords = { alice: "a", bob: "b" };
    const answers = { "SELECT 1": single, "SELECT 10": single };
    const server = await opened({ answers, passwords });
    const logins = ["alice:a", "bob:b", "alice:wrong"].map(
      (login) => `Authorization: Basic ${Buffer.from(login).toString("base64")}`,
    );
    const got = await posted(server, logins, ["SELECT 1", "SELECT 10", "SELECT 1"]);
    expect(got.map((answer) => answer.slice(9, 12))).toEqual(["200", "200", "401"]);
    const asked = server.door.queries.map(({ session }) => session);
    expect(asked.map(({ identity }) => identity.user)).toEqual(["alice", "bob"]);
    expect(asked.map(({ headers }) => headers.get("content-length"))).toEqual(["8", "9"]);
    expect(asked.map(({ headers }) => headers.has("authorization"))).toEqual([false, false]);
  });
});

/** The answers to statements sent over one connection, each with one header more. */
async function posted(
  server: TestServer,
  headers: readonly string[],
  statements: readonly string[],
): Promise<readonly string[]> {
  const client = await rawClient(server.port);
  const answers: string[] = [];
  for (const [index, sql] of statements.entries()) {
    const head = `POST /v1/statement HTTP/1.1\r\nHost: localhost\r\nUser-Agent: curl/8\r\n${headers[index]}\r\n`;
    client.write(`${head}Content-Length: ${sql.length}\r\n\r\n${sql}`);
    const [bytes] = (await once(client, "data")) as [Buffer];
    answers.push(bytes.toString());
  }
  client.destroy();
  return answers;
}
