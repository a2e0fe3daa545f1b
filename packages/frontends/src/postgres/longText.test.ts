import { columnOf } from "@gateway/core/type/build.ts";
import { describe, expect, it } from "vitest";
import { fieldsOf, letters, parseOf, queryOf, RawClient, sync } from "./rig/rawClient.ts";
import { int32, resultOf, served } from "./rig/served.ts";
import { transactional } from "./rig/transaction.ts";

const one = resultOf([columnOf("one", int32)], [1n]);
const tooLong = `select '${"x".repeat(1 << 20)}'`;

describe("a statement's text that is longer than the listener reads", () => {
  it("is an error of a simple query, and the connection goes on", async () => {
    await using server = await served({ answers: { "select 1": one } });
    await using client = await RawClient.start(server.port);
    client.send(queryOf(tooLong));
    const refused = await client.until("Z");
    expect(letters(refused)).toBe("EZ");
    expect(refused[0] && fieldsOf(refused[0])).toMatchObject({ S: "ERROR", C: "54000" });
    client.send(queryOf("select 1"));
    expect(letters(await client.until("Z"))).toMatch(/^S*TDCZ$/);
  });

  it("fails a series up to its Sync", async () => {
    await using server = await served({ answers: { "select 1": one } });
    await using client = await RawClient.start(server.port);
    client.send(parseOf("", tooLong), parseOf("", "select 1"), sync);
    expect(letters(await client.until("Z"))).toBe("EZ");
    client.send(parseOf("", "select 1"), sync);
    expect(letters(await client.until("Z"))).toBe("1Z");
  });

  it("is told of a Parse also where its length alone does not say it", async () => {
    await using server = await served({ answers: { "select 1": one } });
    await using client = await RawClient.start(server.port);
    const text = (bytes: number) => `select '${"ä".repeat((bytes - 10) / 2)}'`;
    client.send(parseOf("", text((1 << 20) + 2)), sync);
    const refused = await client.until("Z");
    expect(refused[0] && fieldsOf(refused[0])).toMatchObject({ S: "ERROR", C: "54000" });
    client.send(parseOf("", text(1 << 20)), sync);
    expect(letters(await client.until("Z"))).toBe("1Z");
  });

  it("ends the transaction that it was sent in", async () => {
    await using server = await served({ answers: transactional({ "select 1": one }) });
    await using client = await RawClient.start(server.port);
    client.send(queryOf("BEGIN"), queryOf(tooLong), queryOf("select 1"));
    await client.until("Z");
    expect((await client.until("Z")).at(-1)?.body).toEqual(Buffer.from("E"));
    const refused = await client.until("Z");
    expect(refused[0] && fieldsOf(refused[0])).toMatchObject({ C: "25P02" });
  });

  it("is no longer than what the config says", async () => {
    await using server = await served(
      { answers: { "select 1": one } },
      { maxStatementBytes: 1024 },
    );
    await using client = await RawClient.start(server.port);
    client.send(queryOf(`select 1 -- ${"x".repeat(1024)}`));
    expect(letters(await client.until("Z"))).toBe("EZ");
  });
});
