/** Queries: live with cancel, history with filters, detail; hostile texts are texts. */
import { readFile } from "node:fs/promises";
import { expectEqual, settled, shoot } from "../browser.mjs";
import { hostile } from "../fleet.mjs";
import { go } from "./look.mjs";

export const queryCases = {
  "a query that runs is seen, cancelled, and found in the history": async ({ browser, fleet }) => {
    const long = await fleet.traffic.runLong();
    const { page, problems, close } = await browser.open("/queries");
    const row = page.getByRole("row", { name: /range\(10000000000\)|running/ }).first();
    await row.getByRole("button", { name: /Cancel/ }).click();
    await shoot(page, "cancel-question");
    const id = await page.getByRole("dialog").locator("code").innerText();
    await page.getByRole("dialog").getByRole("button", { name: "Cancel query" }).click();
    await page.getByText(`Query ${id} is told to end.`).waitFor();
    const said = await long.ended;
    if (said === "finished") throw new Error("the query was not ended");
    await go(page, `/queries/${id}`, `Query ${id}`);
    await page.getByText("Why it went there").waitFor();
    await page.getByText("range(10000000000)").first().waitFor();
    await shoot(page, "query-cancelled");
    expectEqual(problems, [], "problems");
    await close();
  },

  "the overview says that the fleet is up to date, and shows its traffic": async ({ browser }) => {
    const { page, problems, close } = await browser.open("/");
    const fleet = page.getByRole("region", { name: "Workers" }).first();
    for (const name of ["w1", "w2"]) {
      await fleet.getByRole("row", { name }).getByText("newest").waitFor();
    }
    await page.getByRole("region", { name: "Queries per second" }).locator("canvas").waitFor();
    await shoot(page, "overview-traffic");
    expectEqual(problems, [], "problems");
    await close();
  },

  "the history leaves as CSV, with its filters": async ({ browser }) => {
    const { page, close } = await browser.open("/queries/history?status=failed");
    await settled(page, "Queries");
    const [download] = await Promise.all([
      page.waitForEvent("download"),
      page.getByRole("link", { name: "Export CSV" }).click(),
    ]);
    const text = await readFile(await download.path(), "utf8");
    // A field may go over several lines, so lines are no rows.
    const has = (status) => new RegExp(`(^|,)"?${status}"?,`, "m").test(text);
    expectEqual(["failed", "finished"].map(has), [true, false], "statuses in the CSV");
    await close();
  },

  "filters stand in the address and lead to the same rows": async ({ browser }) => {
    const { page, close } = await browser.open("/queries/history");
    await settled(page, "Queries");
    await page.getByLabel("Status").selectOption("failed");
    await page.waitForURL(/status=failed/);
    await page.getByText("query.unknownObject").first().waitFor();
    expectEqual(await page.locator("td .badge.ok").count(), 0, "finished ones among the failed");
    await page.reload();
    await page.getByText("query.unknownObject").first().waitFor();
    expectEqual(await page.getByLabel("Status").inputValue(), "failed", "filter after a reload");
    await close();
  },

  "hostile SQL, names and labels are shown as text": async ({ browser }) => {
    const { page, problems, close } = await browser.open("/queries/history");
    for (const text of hostile.slice(0, 3)) {
      await go(page, `/queries/history?user=${encodeURIComponent(hostile[1])}`, "Queries");
      await page.getByText(text, { exact: false }).first().waitFor();
    }
    await page.locator("td a").first().click();
    await page.getByRole("heading", { name: "Facts" }).waitFor();
    await page.getByText(hostile[1], { exact: false }).first().waitFor();
    await shoot(page, "query-detail");
    await go(page, "/workers", "Workers");
    await page.getByText(hostile[0], { exact: false }).first().waitFor();
    expectEqual(await page.evaluate(() => globalThis.attacked ?? null), null, "what ran");
    expectEqual(problems, [], "problems");
    await close();
  },
};
