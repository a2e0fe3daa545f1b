import { describe, expect, it } from "vitest";
import { readRetention } from "./upkeep.ts";

describe("readRetention", () => {
  it("has the config's own defaults where nothing is said", () => {
    const absent = readRetention(surroundingsOf(undefined));
    expect(absent.ok && absent.value.historyDays).toBe(30);
    const one = readRetention(surroundingsOf('{"historyDays":7}'));
    expect(one.ok && one.value).toMatchObject({ historyDays: 7, auditDays: 400 });
  });

  it.each(['{"historyDays":0}', '{"historyDay":7}', "7", "no JSON"])(
    "refuses %s by name",
    (text) => {
      const read = readRetention(surroundingsOf(text));
      expect(read.ok || read.error).toBe("GATEWAY_RETENTION");
    },
  );
});

function surroundingsOf(text: string | undefined) {
  return {
    linked: () => undefined,
    variable: (name: string) => (name === "GATEWAY_RETENTION" ? text : undefined),
  };
}
