/**
 * Studio with a history of 100,000 records and 1,000 workers: what an interaction takes by the browser's own clock,
 * from the event of the pointer or the key to the frame that shows its answer, database and control plane included.
 */
import { chromium } from "playwright-core";
import { chromiumTool } from "../real/chromium.mjs";
import { logIn } from "../studio/browser.mjs";
import { median, spread } from "./figures.mjs";
import { records, startStudioFleet, workers } from "./studioFleet.mjs";

const rounds = 5;

export async function studioRows() {
  const missing = await chromiumTool();
  if (missing !== true) return [{ what: `Studio: not measured (${missing})` }];
  const fleet = await startStudioFleet();
  const browser = await chromium.launch({
    executablePath: "/usr/bin/chromium",
    args: ["--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage"],
  });
  try {
    const context = await browser.newContext({ viewport: { width: 1_360, height: 860 } });
    const page = await context.newPage();
    page.setDefaultTimeout(60_000);
    await page.addInitScript(watch);
    await page.goto(`${fleet.url}/studio/`);
    await logIn(page, "admin");
    return await measured(page);
  } finally {
    await browser.close();
    await fleet.stop();
  }
}

async function measured(page) {
  const found = new Map();
  // The first round loads each page's code, so its figures stand by themselves.
  for (let round = 0; round <= rounds; round += 1) {
    for (const [name, act, shown] of interactions(page)) {
      const ms = await timed(page, act, shown).catch((cause) => {
        throw new Error(`${JSON.stringify(name)}: ${cause.message}`, { cause });
      });
      const of = found.get(name) ?? { first: ms, ms: [] };
      if (round > 0) of.ms.push(ms);
      found.set(name, of);
    }
  }
  const rows = [...found].map(([name, { first, ms }]) => ({
    what: `Studio: ${name}`,
    ms: spread(ms, 0),
    "first, ms": first.toFixed(0),
    middle: median(ms),
  }));
  const slow = rows.filter(({ middle }) => middle >= 200).map(({ what }) => what);
  const all = [...found.values()].flatMap(({ ms }) => ms);
  const head = {
    what: `Studio, ${records} records, ${workers} workers: ${rows.length} interactions, over 200 ms: ${slow.length}`,
    ms: spread(all, 0),
  };
  return [head, ...rows.map(({ middle: _middle, ...row }) => row)];
}

/** In an order that can be done again and again: name, what is done, what has to be seen. */
function interactions(page) {
  const link = (name) => () => page.locator("aside nav").getByRole("link", { name }).click();
  const heading = (text) => ({ selector: "main h1", text });
  const rows = (caption, min = 1) => ({ selector: `[aria-label="${caption}"] tbody tr`, min });
  const next = () => page.getByRole("button", { name: "Next" }).click();
  const choose = (label, value) => () => page.getByLabel(label).selectOption(value);
  const first = (caption) => () => page.locator(`[aria-label="${caption}"] td a`).first().click();
  const second = { selector: "main .pages", text: "51 to 100" };
  const editor = { selector: ".save-bar" };
  return [
    ["what runs now", link(/^Queries/), rows("Queries that run or wait", 50)],
    ["the history", () => tab(page, "History"), rows("Past queries", 50)],
    ["the history, failed", choose("Status", "failed"), { selector: "td .badge.bad", min: 50 }],
    [
      "the history, failed, of one group",
      choose("Group", "reports"),
      { selector: "td .clip", text: "reports /", min: 50 },
    ],
    ["the history, its next page", next, second],
    ["the history of one group", choose("Status", ""), { selector: "td .badge.ok", min: 20 }],
    ["a query", first("Past queries"), { selector: ".steps li" }],
    ["the overview", link("Overview"), { selector: "canvas" }],
    ["the overview of a day", choose("Time", "day"), { selector: "canvas", url: "range=day" }],
    ["the workers", link("Workers"), rows("Workers", 50)],
    ["the workers, their next page", next, second],
    ["a worker by its name", () => search(page), { selector: "main h2", text: "1 of 1,000" }],
    ["a worker", first("Workers"), heading("worker0777")],
    ["the clusters", link("Clusters"), rows("Clusters")],
    ["a cluster", first("Clusters"), editor],
    ["the groups", link("Groups"), rows("Groups", 5)],
    ["a group", first("Groups"), editor],
    ["the routing", link("Routing"), editor],
    ["the access", link("Access"), rows("Allow lists of groups", 5)],
    ["the scripts", link("Scripts"), heading("Scripts")],
    ["the settings", link("Settings"), rows("Settings")],
    ["the revisions", link("Revisions"), { selector: "tbody tr", url: "/revisions" }],
    ["the users", link("Users"), { selector: "tbody tr", url: "/users" }],
    ["the audit log", link("Audit"), { selector: "tbody tr", url: "/audit" }],
    ["the console", link("Console"), { selector: ".editor", url: "/console" }],
  ];
}

async function search(page) {
  await page.getByLabel("Name or label").focus();
  await page.keyboard.insertText("worker0777");
}

function tab(page, name) {
  return page.getByRole("navigation", { name: "Queries" }).getByRole("link", { name }).click();
}

async function timed(page, act, shown) {
  const waiting = page.evaluate((wanted) => globalThis.shownAfterEvent(wanted), shown);
  await act();
  return waiting;
}

/**
 * Runs in the page. Milliseconds from the first event of a pointer, a key or a choice to the end of the frame in which
 * everything wanted is there.
 */
function watch() {
  const kinds = ["pointerdown", "keydown", "input", "change"];
  globalThis.shownAfterEvent = ({ selector, text = "", min = 1, url = "", msMax = 30_000 }) =>
    new Promise((resolve, reject) => {
      let fromMs;
      setTimeout(() => reject(new Error(`${selector} ${text} did not come`)), msMax);
      const begin = ({ timeStamp }) => {
        fromMs ??= timeStamp;
      };
      for (const kind of kinds) addEventListener(kind, begin, true);
      const isThere = () => {
        if (document.querySelector(".loading") !== null) return false;
        if (!location.href.includes(url)) return false;
        const found = [...document.querySelectorAll(selector)];
        return found.filter(({ textContent }) => textContent.includes(text)).length >= min;
      };
      const look = () => {
        if (fromMs === undefined || !isThere()) return;
        observer.disconnect();
        for (const kind of kinds) removeEventListener(kind, begin, true);
        // A frame begins after what it draws was made; the task behind it runs when it is drawn.
        requestAnimationFrame(() => setTimeout(() => resolve(performance.now() - fromMs)));
      };
      const observer = new MutationObserver(look);
      observer.observe(document, {
        subtree: true,
        childList: true,
        characterData: true,
        attributes: true,
      });
    });
}
