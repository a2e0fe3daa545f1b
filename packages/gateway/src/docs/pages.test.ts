import { readFileSync, readdirSync } from "node:fs";
import { errorCodes } from "@gateway/contract/error.ts";
import { describe, expect, it } from "vitest";
import { referencePages } from "./pages.ts";

const root = new URL("../../../../", import.meta.url);
const pages = referencePages();

describe("referencePages", () => {
  it.each(pages.map(({ path }) => path))("is what %s says (else: npm run docs)", (path) => {
    const made = pages.find((page) => page.path === path)?.text;
    expect(readFileSync(new URL(path, root), "utf8")).toBe(made);
  });

  it("is all there is under docs/reference, but for the pages that suites write", () => {
    const files = readdirSync(new URL("docs/reference/", root)).map(
      (name) => `docs/reference/${name}`,
    );
    const written = ["compatibility", "evidence", "performance", "translation"].map(
      (name) => `docs/reference/${name}.md`,
    );
    const made = pages.map(({ path }) => path).filter((path) => path.startsWith("docs/"));
    const others = files.filter((path) => !written.includes(path));
    expect(others.toSorted()).toEqual(made.toSorted());
  });

  it("makes the same bytes each time", () => {
    expect(referencePages()).toEqual(pages);
  });

  it("gives each error of the catalogue one heading and an answer in each protocol", () => {
    const text = pages.find(({ path }) => path.endsWith("errors.md"))?.text ?? "";
    const parts = text.split(/^## /m).slice(1);
    expect(parts.map((part) => part.split("\n", 1)[0])).toEqual(
      errorCodes.map((code) => `\`${code}\``),
    );
    for (const protocol of ["PostgreSQL", "MySQL", "Trino"]) {
      expect(parts.filter((part) => !part.includes(`| ${protocol} | `))).toEqual([]);
    }
  });

  it("links only to headings that are there", () => {
    const text = pages.find(({ path }) => path.endsWith("config.md"))?.text ?? "";
    const slugs = new Set(
      [...text.matchAll(/^#+ (.+)$/gm)].map(([, heading = ""]) => slugOf(heading)),
    );
    const links = [...text.matchAll(/\]\(#([^)]+)\)/g)].map(([, slug = ""]) => slug);
    expect(links.length).toBeGreaterThan(10);
    expect(links.filter((slug) => !slugs.has(slug))).toEqual([]);
  });
});

/** The rule of GitHub's renderer. */
function slugOf(heading: string): string {
  const plain = heading.toLowerCase().replace(/[^\p{L}\p{N}\s_-]/gu, "");
  return plain.replace(/\s/g, "-");
}
