/** What moves by itself: without a stream as well, for a worker that never came back, and in the viewer's own zone. */
import { readFile } from "node:fs/promises";
import { expectEqual, settled, shoot } from "../browser.mjs";
import { eventually } from "../fleet.mjs";
import { go } from "./look.mjs";

const formula = `=HYPERLINK("http://127.0.0.1/?"&A1)`;

export const liveCases = {
  "where no stream comes through, the same is polled": async ({ browser, fleet }) => {
    const before = (page) => page.route("**/admin/events", (route) => route.abort());
    const { page, close } = await browser.open("/queries", { before });
    await settled(page, "Queries");
    const long = await fleet.traffic.runLong();
    const row = page.getByRole("row", { name: /range\(10000000000\)|running/ }).first();
    await row.getByRole("button", { name: /Cancel/ }).click();
    const dialog = page.getByRole("dialog");
    const id = await dialog.locator("code").innerText();
    await dialog.getByRole("button", { name: "Cancel query" }).click();
    await long.ended;
    await page.getByRole("row", { name: id }).waitFor({ state: "detached" });
    await close();
  },

  "times are those of the viewer's zone": async ({ browser }) => {
    const times = [];
    let path;
    for (const timezoneId of ["Europe/Berlin", "Asia/Tokyo"]) {
      const { page, close } = await browser.open("/revisions", { timezoneId });
      await settled(page, "Revisions");
      path ??= new URL(
        await page.locator("tbody tr").last().getByRole("link").first().getAttribute("href"),
        page.url(),
      );
      await page.goto(path.href);
      const time = page.locator("dl.facts time").first();
      const at = new Date(await time.getAttribute("datetime"));
      const words = new Intl.DateTimeFormat("en-GB", { timeZone: timezoneId, timeStyle: "medium" });
      times.push([(await time.innerText()).includes(words.format(at)), at.getTime()]);
      await close();
    }
    expectEqual(
      times,
      [
        [true, times[0][1]],
        [true, times[0][1]],
      ],
      "times as shown",
    );
  },

  "no field of a CSV is a formula": async ({ browser, fleet }) => {
    const client = await fleet.connect(formula);
    await client.end();
    const { page, close } = await browser.open("/");
    const path = `/queries/history?user=${encodeURIComponent(formula)}`;
    await eventually(async () => {
      await go(page, path, "Queries");
      return (await page.locator("td a").count()) > 0;
    });
    const [download] = await Promise.all([
      page.waitForEvent("download"),
      page.getByRole("link", { name: "Export CSV" }).click(),
    ]);
    const text = await readFile(await download.path(), "utf8");
    const fields = [...text.matchAll(/(?:^|,)"?(['=+\-@]?=?HYPERLINK)/gm)].map(
      ([, begin]) => begin,
    );
    expectEqual(fields.length > 0, true, "fields that hold it");
    expectEqual([...new Set(fields)], ["'=HYPERLINK"], "how the field begins");
    await close();
  },

  "a worker that is gone is forgotten": async ({ browser }) => {
    const { page, problems, close } = await browser.open("/workers?state=offline");
    await page.getByRole("link", { name: "ghost" }).click();
    await settled(page, "ghost");
    await shoot(page, "worker-offline");
    await page.getByRole("button", { name: "Forget" }).click();
    await page.getByRole("dialog").getByRole("button", { name: "Forget" }).click();
    await settled(page, "Workers");
    await page.getByRole("link", { name: "w1" }).waitFor();
    await page.getByRole("link", { name: "ghost" }).waitFor({ state: "detached" });
    expectEqual(problems, [], "problems");
    await close();
  },
};
