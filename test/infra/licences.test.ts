/** Whose code is shipped, and under what terms. Holes that are known are asked for at night (`npm audit`). */
import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { z } from "zod";

const lock = z
  .looseObject({
    packages: z.record(
      z.string(),
      z.looseObject({
        license: z.string().optional(),
        dev: z.boolean().optional(),
        link: z.boolean().optional(),
        hasInstallScript: z.boolean().optional(),
        integrity: z.string().optional(),
      }),
    ),
  })
  .parse(JSON.parse(readFileSync(new URL("../../package-lock.json", import.meta.url), "utf8")));

/** Licences that ask for no more than to be named, which a bundle may hold beside Apache-2.0. */
const free = ["MIT", "ISC", "BSD-2-Clause", "BSD-3-Clause", "Apache-2.0", "0BSD", "Unlicense"];
/** Packages of others, without those that only build and test. */
const shipped = Object.entries(lock.packages).filter(
  ([path, { dev, link }]) => path.startsWith("node_modules/") && dev !== true && link !== true,
);

describe("packages that are shipped", () => {
  it("are there to look at", () => {
    expect(shipped.length).toBeGreaterThan(50);
  });

  it("have a licence that lets them be shipped", () => {
    const strange = shipped.filter(([, { license = "none" }]) =>
      license
        .replaceAll(/[()]/g, "")
        .split(" AND ")
        .some((one) => !free.includes(one)),
    );
    expect(strange.map(([path, { license }]) => `${path}: ${license ?? "none"}`)).toEqual([]);
  });

  it("are the bytes that were looked at when they were chosen", () => {
    const loose = shipped.filter(([, { integrity }]) => integrity?.startsWith("sha512-") !== true);
    expect(loose.map(([path]) => path)).toEqual([]);
  });

  it("run nothing of theirs when the image or a release is made", () => {
    const scripts = shipped.filter(([, { hasInstallScript }]) => hasInstallScript === true);
    // Another name here is a program that runs on every machine where somebody installs a checkout.
    const known = ["esbuild", "koffi", "protobufjs"];
    expect(scripts.map(([path]) => path.slice("node_modules/".length)).toSorted()).toEqual(known);
    for (const file of ["Dockerfile", ".github/workflows/release.yml"]) {
      const text = readFileSync(new URL(`../../${file}`, import.meta.url), "utf8");
      expect(text).toMatch(/npm ci --omit=dev --ignore-scripts/);
    }
  });
});
