/** What a browser loads before it shows the console. */
import { readdirSync, readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { gzipSync } from "node:zlib";
import { studioPath } from "@gateway/contract/studioApi.ts";
import { expect, it } from "vitest";

const built = fileURLToPath(new URL("../../packages/studio/dist/", import.meta.url));
const bytesMax = 300_000;

it("is under 300 KB, compressed", () => {
  const page = readFileSync(`${built}index.html`, "utf8");
  const loaded = [...page.matchAll(/(?:src|href)="([^"]+)"/g)].map(([, path = ""]) => path);
  expect(loaded.length).toBeGreaterThan(1);
  const bytes = loaded.map((path) => {
    expect(path.startsWith(studioPath)).toBe(true);
    return gzipSync(readFileSync(built + path.slice(studioPath.length))).length;
  });
  const all = bytes.reduce((sum, one) => sum + one, gzipSync(page).length);
  expect(all).toBeLessThan(bytesMax);
});

it("is built for use, not for developing", () => {
  const scripts = readdirSync(`${built}assets`).filter((name) => name.endsWith(".js"));
  const wrong = scripts.filter((name) =>
    readFileSync(`${built}assets/${name}`, "utf8").includes("jsxDEV"),
  );
  expect([scripts.length > 0, wrong]).toEqual([true, []]);
});
