import { describe, expect, it } from "vitest";
import { ownWordsShape } from "@gateway/contract/config/listener.ts";
import { z } from "zod";
import { limitsOf, withOwnWords } from "./statementLimits.ts";

const schema = z.strictObject(ownWordsShape(0, 1 << 26, "postgresql"));

describe("limitsOf", () => {
  it("allows more of a text that goes on in its client's own words than of any other", () => {
    const config = withOwnWords(schema.parse({}));
    expect(limitsOf(config, false)).toMatchObject({
      maxStatementBytes: 1 << 20,
      maxStatementTokens: 500_000,
    });
    expect(limitsOf(config, true)).toEqual({
      maxStatementBytes: 16 << 20,
      maxStatementTokens: 100_000_000,
    });
  });

  it.each([2048, 1 << 26])("takes %s bytes of the configuration for both", (maxStatementBytes) => {
    const config = withOwnWords(schema.parse({ maxStatementBytes }));
    expect(limitsOf(config, false)).toMatchObject({ maxStatementBytes });
    expect(limitsOf(config, true)).toMatchObject({ maxStatementBytes });
  });
});
