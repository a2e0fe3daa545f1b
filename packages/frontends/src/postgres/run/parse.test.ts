import { gatewayError } from "@gateway/core/error.ts";
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
import { column, resultOf, served } from "../rig/served.ts";

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

const none: Seen = { type: "", body: Buffer.alloc(2) };
