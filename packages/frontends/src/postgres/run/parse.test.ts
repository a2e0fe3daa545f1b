import { gatewayError, type EngineVendor } from "@gateway/core/error.ts";
import { describe, expect, it } from "vitest";
import {
  bindOf,
  describeOf,
  executeOf,
  fieldsOf,
  flush,
  letters,
  parseOf,
  RawClient,
  sync,
  type Seen,
} from "../rig/rawClient.ts";
import { column, doneOf, resultOf, served } from "../rig/served.ts";

const answers = { "select 1": resultOf(column("n"), [1n]) };
const descriptions = { "select 1": { parameters: [], columns: column("n") } };

describe("Parse of a statement with a name", () => {
  it("tells at Parse what is wrong with a statement that its client keeps, and keeps no such name", async () => {
    await using server = await served({ answers, descriptions });
    await using client = await RawClient.start(server.port);
    for (const behind of [sync, describeOf("S", "s"), flush]) {
      client.send(parseOf("s", "select nope"), behind, sync);
      const seen = await client.until("Z");
      expect(letters(seen)).toBe("EZ");
      expect(fieldsOf(seen[0] ?? none)).toMatchObject({ C: "42601" });
      if (behind === sync) await client.until("Z");
    }
    client.send(parseOf("s", "select 1"), sync);
    expect(letters(await client.until("Z"))).toBe("1Z");
    // The engine is asked once, and no more with the Describe behind it.
    client.send(bindOf({ statement: "s" }), describeOf("P"), sync);
    expect(letters(await client.until("Z"))).toBe("2TZ");
    client.send(parseOf("t", "select nope"), bindOf({ statement: "t" }), sync);
    expect(letters(await client.until("Z"))).toBe("12Z");
  });

  it("takes a statement at Parse where its engine can not be asked", async () => {
    const busy = gatewayError("capacity.queueFull");
    const refuse = async () => ({ ok: false, error: busy }) as const;
    await using server = await served({ answers }, {}, { describe: refuse });
    await using client = await RawClient.start(server.port);
    client.send(parseOf("s", "select 1"), sync);
    expect(letters(await client.until("Z"))).toBe("1Z");
    client.send(bindOf({ statement: "s" }), executeOf(), sync);
    expect(letters(await client.until("Z"))).toMatch(/^2S?DCZ$/);
  });
});

describe("Parse with its Bind behind it, before a server of PostgreSQL", () => {
  const fields = new Map([["C", "42601"]]);
  const failedAt = (vendor: EngineVendor) =>
    [{ kind: "failed", error: gatewayError("query.syntax", { vendor }) }] as const;
  const script = {
    answers: {
      "select 1": [doneOf("SELECT", 0)],
      "select nope": failedAt({ of: "postgres", fields, unparsed: true }),
      "select 1/0": failedAt({ of: "postgres", fields }),
    },
  };
  const engines = () => [{ dialect: "postgres", catalogs: [], speaks: "postgres" }] as const;
  const series = (sql: string, statement: string) => [
    parseOf(statement, sql),
    bindOf({ statement }),
    describeOf("P"),
    executeOf(),
  ];

  it("answers nothing of a text that the server did not take, and keeps no such name", async () => {
    await using server = await served(script, {}, { engines });
    await using client = await RawClient.start(server.port);
    for (const name of ["s", "s", "", ""]) {
      client.send(...series("select nope", name), sync);
      expect(letters(await client.until("Z"))).toBe("EZ");
    }
    client.send(...series("select 1", "a"), ...series("select nope", "s"), sync);
    expect(letters(await client.until("Z"))).toBe("12nCEZ");
    client.send(...series("select 1", "s"), sync);
    expect(letters(await client.until("Z"))).toBe("12nCZ");
  });

  it("answers what was taken before another error, or in an earlier message, and keeps the name", async () => {
    await using server = await served(script, {}, { engines });
    await using client = await RawClient.start(server.port);
    client.send(...series("select 1/0", "s"), sync);
    expect(letters(await client.until("Z"))).toBe("12EZ");
    const [parse, bind, ...behind] = series("select nope", "t");
    client.send(parse ?? sync, bind ?? sync, flush);
    expect(letters(await client.until("2"))).toBe("12");
    client.send(...behind, sync);
    expect(letters(await client.until("Z"))).toBe("EZ");
    for (const name of ["s", "t"]) {
      client.send(parseOf(name, "select 1"), bindOf({ statement: name }), sync);
      const seen = await client.until("Z");
      expect(fieldsOf(seen[0] ?? none)).toMatchObject({ C: "42P05" });
    }
  });
});

const none: Seen = { type: "", body: Buffer.alloc(2) };
