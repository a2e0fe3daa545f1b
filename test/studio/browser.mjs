/** Debian's Chromium, driven by playwright-core; and what every case asks of a page. */
import { readFileSync } from "node:fs";
import { mkdir } from "node:fs/promises";
import { createRequire } from "node:module";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { chromium } from "playwright-core";
import { password } from "./fleet.mjs";
import { watchedWrites } from "./writes.mjs";

const axeSource = readFileSync(
  createRequire(import.meta.url).resolve("axe-core/axe.min.js"),
  "utf8",
);
export const shotsFolder = fileURLToPath(new URL("../../.gateway/studio/", import.meta.url));
/** A machine that is busy with other tests proves nothing by being slow. */
const waitMsMax = 45_000;

export async function startBrowser(fleet) {
  const browser = await chromium.launch({
    executablePath: "/usr/bin/chromium",
    // As root, and in a container, it has no sandbox of its own.
    args: ["--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage"],
  });
  await mkdir(shotsFolder, { recursive: true });
  const writes = watchedWrites();
  return {
    writes,
    /** A page of its own, logged in as `user` where one is named; `before` sees it before it goes anywhere. */
    open: async (path, options = {}) => {
      const { user = "admin", theme = "light", width = 1_360, before } = options;
      const { timezoneId = "Europe/Berlin" } = options;
      const context = await browser.newContext({
        viewport: { width, height: 860 },
        colorScheme: theme,
        bypassCSP: false,
        reducedMotion: "reduce",
        timezoneId,
        locale: "en-GB",
      });
      const page = await context.newPage();
      page.setDefaultTimeout(waitMsMax);
      const problems = [];
      page.on("pageerror", (error) => problems.push(`threw: ${error.message}`));
      page.on("console", (message) => {
        const text = message.text();
        // What was refused or unreachable is looked at by the case; a policy that was broken never is right.
        if (message.type() === "error" && !text.startsWith("Failed to load resource"))
          problems.push(text);
      });
      page.on("response", (response) => writes.saw(response));
      await before?.(page);
      await page.goto(path.startsWith("http") ? path : `${fleet.url}/studio${path}`);
      if (user !== null) await logIn(page, user);
      return { page, context, problems, close: () => context.close() };
    },
    /** What a case that failed left open: shot, and closed. */
    leave: async (name) => {
      for (const [at, context] of browser.contexts().entries()) {
        for (const page of context.pages()) await shoot(page, `${name}-${at}`).catch(() => {});
        await context.close();
      }
    },
    close: () => browser.close(),
  };
}

export async function logIn(page, user) {
  await page.getByLabel("User", { exact: true }).fill(user);
  await page.getByLabel("Password", { exact: true }).fill(password);
  await page.getByRole("button", { name: "Log in", exact: true }).click();
  await page.locator("main#main h1").waitFor();
}

/** Waits until a page has its content: its title, and nothing that still loads. */
export async function settled(page, title) {
  await page.getByRole("heading", { level: 1, name: title }).waitFor();
  await page.waitForFunction(() => document.querySelector(".loading, .chart[aria-busy]") === null);
}

/** Violations of WCAG A and AA that axe calls serious or critical. */
export async function axeProblems(page) {
  // Run by the debugger, so that the page's policy stays as it is.
  await page.evaluate(axeSource);
  return page.evaluate(async () => {
    const { violations } = await globalThis.axe.run(document, {
      runOnly: ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa"],
    });
    return violations
      .filter(({ impact }) => impact === "serious" || impact === "critical")
      .map(
        ({ id, nodes }) =>
          `${id}: ${nodes
            .slice(0, 3)
            .map(({ html }) => html.slice(0, 160))
            .join(" | ")}`,
      );
  });
}

/** Pixels by which the page is wider than its window. */
export function overflow(page) {
  return page.evaluate(() => document.documentElement.scrollWidth - globalThis.innerWidth);
}

export async function shoot(page, name, more = {}) {
  await page.screenshot({ path: join(shotsFolder, `${name}.png`), timeout: waitMsMax, ...more });
}

export function expectEqual(found, wanted, what) {
  const [a, b] = [JSON.stringify(found), JSON.stringify(wanted)];
  if (a !== b) throw new Error(`${what}: ${a}, and not ${b}`);
}
