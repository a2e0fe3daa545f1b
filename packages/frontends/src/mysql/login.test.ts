import { gatewayError } from "@gateway/core/error.ts";
import { columnOf } from "@gateway/core/type/build.ts";
import { describe, expect, it } from "vitest";
import { certificateOf } from "../listener/rig/certificate.ts";
import { waitForAbort } from "../rig/answers.ts";
import { runs } from "../rig/wait.ts";
import { clientOf, failureOf, resultOf, serverOf, tlsFilesOf } from "./rig/mysql.ts";

const one = resultOf([columnOf("a", { kind: "integer", bits: 32, signed: true })], [[1n]]);

describe("logins", () => {
  const passwords = { alice: "secret", bob: "other" };

  it("take the password encrypted with the listener's key where there is no TLS", async () => {
    await using server = await serverOf({ passwords }, { host: "0.0.0.0" });
    await using client = await clientOf(server, { user: "alice", password: "secret" });
    expect((await client.query("select user() as u"))[0]).toEqual([{ u: "alice@127.0.0.1" }]);
    const refused = await failureOf(clientOf(server, { user: "alice", password: "wrong" }));
    expect(refused).toMatchObject({ errno: 1045, sqlState: "28000" });
    expect(await failureOf(clientOf(server, { user: "alice" }))).toMatchObject({ errno: 1045 });
  });

  it("take a name from a client's certificate where the listener says so", async () => {
    const authority = certificateOf("authority");
    using files = tlsFilesOf({ ca: authority.cert });
    await using server = await serverOf(
      { passwords },
      { tls: { ...files.tls, clientCertUser: "cn" } },
    );
    const { door } = server;
    const { cert, key } = certificateOf("bob", authority);
    const ssl = { ca: files.cert, cert, key };
    const refused = await failureOf(clientOf(server, { user: "bob", ssl }));
    expect(refused).toMatchObject({ errno: 1045 });
    expect(door.presented).toEqual([{ kind: "certificate", user: "bob", names: ["bob"] }]);
  });

  it("take the password over TLS", async () => {
    using files = tlsFilesOf();
    await using server = await serverOf({ passwords }, { tls: files.tls });
    const ssl = { ca: files.cert };
    await using client = await clientOf(server, { user: "bob", password: "other", ssl });
    const [rows] = await client.query("show status like 'Ssl_version'");
    expect(rows).toEqual([{ Variable_name: "Ssl_version", Value: "TLSv1.3" }]);
    const refused = await failureOf(clientOf(server, { user: "bob", password: "wrong", ssl }));
    expect(refused).toMatchObject({ errno: 1045 });
  });

  it("tell a client that came back to its TLS session", async () => {
    using files = tlsFilesOf();
    await using server = await serverOf({ passwords }, { tls: files.tls });
    const asked = { user: "bob", password: "other", ssl: { ca: files.cert } };
    const told: unknown[] = [];
    for (let time = 0; time < 2; time += 1) {
      await using client = await clientOf(server, asked);
      told.push((await client.query("show session status like 'Ssl_sessions_reused'"))[0]);
    }
    expect(told).toEqual(
      ["0", "1"].map((Value) => [{ Variable_name: "Ssl_sessions_reused", Value }]),
    );
  });

  it("change the user, and nothing of the old session remains", async () => {
    await using server = await serverOf({ passwords, answers: { "select 1": one } });
    await using client = await clientOf(server, {
      user: "alice",
      password: "secret",
      database: "d",
    });
    await client.query("set @a = 1, time_zone = '+02:00'");
    await client.changeUser({ user: "bob", password: "other", database: "e" });
    const [rows] = await client.query(
      "select user() as u, database() as d, @a as a, @@time_zone as z",
    );
    expect(rows).toEqual([{ u: "bob@127.0.0.1", d: "e", a: null, z: "SYSTEM" }]);
    const failed = client.changeUser({ user: "alice", password: "wrong" });
    expect(await failureOf(failed)).toMatchObject({ errno: 1045 });
  });

  it("are refused when the engine has no such database, and let in when it can not tell", async () => {
    const failed = (code: "query.unknownObject" | "cluster.unavailable") =>
      [{ kind: "failed", error: gatewayError(code) }] as const;
    await using server = await serverOf({
      passwords,
      answers: {
        'USE "nosuch"': failed("query.unknownObject"),
        'USE "asleep"': failed("cluster.unavailable"),
        'USE "hangs"': waitForAbort,
      },
    });
    const user = { user: "alice", password: "secret" };
    const refused = await failureOf(clientOf(server, { ...user, database: "nosuch" }));
    expect(refused).toMatchObject({ errno: 1049, sqlState: "42000" });
    await using client = await clientOf(server, { ...user, database: "asleep" });
    expect((await client.query("select database() as d"))[0]).toEqual([{ d: "asleep" }]);
    const slow = clientOf(server, { ...user, database: "hangs" });
    await runs(server.door, 'USE "hangs"');
    await server.host.advance(3000);
    await using late = await slow;
    expect((await late.query("select database() as d"))[0]).toEqual([{ d: "hangs" }]);
    expect(await failureOf(client.changeUser({ ...user, database: "nosuch" }))).toMatchObject({
      errno: 1049,
    });
  });

  it("end when nothing is asked for as long as wait_timeout says", async () => {
    await using server = await serverOf();
    await using client = await clientOf(server);
    await client.query("set wait_timeout = 60");
    await server.host.advance(59_000);
    await client.ping();
    await server.host.advance(59_000);
    await client.ping();
    const left = new Promise<Error>((resolve) => {
      client.on("error", resolve);
    });
    await server.host.advance(60_000);
    expect(await left).toMatchObject({ code: 4031 });
  });

  it("bring the database and the tags of the connection into the session", async () => {
    await using server = await serverOf({ answers: { "select 1": one } });
    const connectAttributes = { gateway_tags: "team:sales" };
    await using client = await clientOf(server, { database: "mart", connectAttributes });
    await client.query("select 1");
    const session = server.door.queries.at(-1)?.session;
    expect(session?.schema).toBe("mart");
    expect([...(session?.tags ?? [])]).toEqual([["team", "sales"]]);
  });
});
