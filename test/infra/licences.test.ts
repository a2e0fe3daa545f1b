/** Whose code is shipped, and under what terms. Holes that are known are asked for at night (`npm audit`). */
import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { describe, expect, it } from "vitest";
import { z } from "zod";

const root = new URL("../../", import.meta.url);
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
  .parse(JSON.parse(readFileSync(new URL("package-lock.json", root), "utf8")));

/** Licences that ask for no more than to be named, which a bundle may hold beside Apache-2.0. */
const free = ["MIT", "ISC", "BSD-2-Clause", "BSD-3-Clause", "Apache-2.0", "0BSD", "Unlicense"];
/** Installed beside the sources because Vite writes the console's style sheets with it; in no bundle, package or image. */
const builder = /^node_modules\/lightningcss(?:-|$)/;
/** Packages of others, without those that only build and test. */
const shipped = Object.entries(lock.packages).filter(
  ([path, { dev, link }]) =>
    path.includes("node_modules/") && dev !== true && link !== true && !builder.test(path),
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
    expect(scripts.map(([path]) => path.replace(/^.*node_modules\//, "")).toSorted()).toEqual(
      known,
    );
    for (const file of ["Dockerfile", ".github/workflows/release.yml"]) {
      const text = readFileSync(new URL(file, root), "utf8");
      expect(text).toMatch(/npm ci --omit=dev --ignore-scripts/);
    }
  });
});

describe("the list of contents of a release", () => {
  const workflow = readFileSync(new URL(".github/workflows/release.yml", root), "utf8");
  const [, args = ""] = /npm (sbom [^>]*) >/.exec(workflow) ?? [];
  const listed = z.looseObject({ packages: z.array(z.looseObject({ name: z.string() })) });

  it("names what is shipped, and nothing that only builds and tests", () => {
    const cwd = fileURLToPath(root);
    const text = execFileSync("npm", args.split(" "), { cwd, encoding: "utf8" });
    const names = listed.parse(JSON.parse(text)).packages.map(({ name }) => name);
    expect(names).toEqual(expect.arrayContaining(["hono", "koffi", "@electric-sql/pglite"]));
    expect(names.filter((name) => ["vitest", "oxlint", "sst"].includes(name))).toEqual([]);
  });
});
