import { describe, expect, it } from "vitest";
// @ts-expect-error A program of the nightly run, without types.
import { evidencePage, keptOf } from "./page.mjs";

const about = { date: "2026-11-26", commit: "abc123", machine: "2 × a processor" };
const fleet = {
  name: "the fleet",
  command: "npm run test:fleet",
  code: 0,
  seconds: 700,
  text: [
    "passed   a hard cap holds [12.0 s]",
    "         900 statements, never more than 4",
    "skipped  a link is cut (no namespaces)",
    "2 passed, 0 failed, 1 skipped",
  ].join("\n"),
};

describe("evidencePage", () => {
  it("says what each run printed, with its figures and how to repeat it", () => {
    const page = pageOf([fleet]);
    expect(page).toContain("printed when each was made last, on 2 × a processor");
    expect(page).toContain("Every run ended well.");
    expect(page).toContain(
      "| the fleet | 2026-11-26 | `abc123` | 2 | 0 | 1 | 12 min |  | `npm run test:fleet` |",
    );
    expect(page).toContain(
      "- a hard cap holds \\[12.0 s\\]; 900 statements, never more than 4\n- **skipped** a link is cut (no namespaces)",
    );
  });

  it("shows a run that failed or printed no total as what it is, with its seed", () => {
    const text = "FAILED   two reapers [1.0 s]\n         a lease twice\nseed 4711";
    const page = pageOf([fleet, { ...fleet, name: "sim", code: 1, seconds: 3, text }]);
    expect(page).toContain("**1 of 2 runs did not end well.**");
    expect(page).toContain(
      "| sim | 2026-11-26 | `abc123` | – | – | – | 3 s | **ended with 1** | `npm run test:fleet` |",
    );
    expect(page).toContain("- **FAILED** two reapers \\[1.0 s\\]; a lease twice\n- seed 4711");
  });

  it("reads vitest's total, in colours too, and lets no text of a run become markup", () => {
    const text =
      "\u001B[2m      Tests \u001B[22m \u001B[1m1 failed\u001B[22m | 7 passed | 2 skipped\npassed   a | <b>";
    const page = pageOf([{ ...fleet, text }]);
    expect(page).toContain("| the fleet | 2026-11-26 | `abc123` | 7 | 1 | 2 |");
    expect(page).toContain("- a \\| \\<b\\>");
  });

  it("sums what runs counted, says nothing of what nobody counted, and names the runs that were left", () => {
    const other = { ...fleet, name: "frames", text: "counted  500 bad inputs tried\nseed 7" };
    const text = "counted  1500 bad inputs tried\ncounted  0 records lost without a word";
    const found = "90 answers with 4 rows compared, 2 differences, from seed 5 on";
    const runs = [{ ...fleet, text }, other, { ...fleet, name: "ordinary", text: found }];
    const page = pageOf(runs, ["soak"]);
    expect(page).toContain("| bad inputs tried | 2,000 | the fleet; frames |");
    expect(page).toContain("| records lost without a word | 0 | the fleet |");
    expect(page).toContain("| differences found | 2 | ordinary |");
    expect(page).not.toContain("statements beyond a cap");
    expect(page).toContain("these were not made yet: soak.");
  });
});

describe("keptOf", () => {
  it("is a line of JSON that the page is made of on another day", () => {
    const kept = JSON.parse(JSON.stringify(keptOf({ ...fleet, ...about })));
    expect(evidencePage([kept])).toBe(pageOf([fleet]));
    expect(kept).not.toHaveProperty("text");
  });

  it("leaves out lines beyond what a page shows, and says how many", () => {
    const text = Array.from({ length: 203 }, (_, index) => `passed   case ${index}`).join("\n");
    expect(pageOf([{ ...fleet, text }])).toContain("- case 199\n- … and 3 more lines\n");
  });
});

function pageOf(runs: readonly object[], left: readonly string[] = []): string {
  const kept = runs.map((run) => keptOf({ ...run, ...about }) as object);
  return String(evidencePage(kept, left));
}
