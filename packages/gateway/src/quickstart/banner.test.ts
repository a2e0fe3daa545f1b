import { describe, expect, it } from "vitest";
import { checkConfig } from "../config/load.ts";
import { alreadyThere } from "./banner.ts";
import { quickstartConfig } from "./config.ts";

describe("alreadyThere", () => {
  it("names every address of a quick start that holds the folder", () => {
    const config = checkConfig(quickstartConfig({ folder: undefined, free: false }));
    if (!config.ok) throw new Error("the quick start's own config is refused");
    const text = alreadyThere(config.value.gateway);
    for (const port of [18080, 15432, 13306, 19000]) expect(text).toContain(`127.0.0.1:${port}\n`);
    expect(text).toContain("--free-ports");
  });
});
