/** Each write: reviewed, saved with the version that was read, refused in words, and put together after a lost update. */
import { expectEqual, settled, shoot } from "../browser.mjs";
import { writeRoutes } from "../writes.mjs";
import { go } from "./look.mjs";

export const writeCases = {
  "a cluster and a rule are added through the forms of their schemas": async ({ browser }) => {
    const { page, problems, close } = await browser.open("/clusters");
    await page.getByRole("link", { name: "Add a cluster" }).click();
    await page.getByLabel("Name of the cluster").fill("second");
    await page.getByLabel("Queries come through").selectOption("reports");
    await page.getByLabel("Engine").selectOption("duckDb");
    await shoot(page, "cluster-new");
    await page.getByRole("button", { name: "Create cluster" }).click();
    await settled(page, "second");
    await page.getByRole("link", { name: "reports", exact: true }).click();
    await settled(page, "reports");
    await page.getByRole("region", { name: "Members of the group" }).getByText("second").waitFor();
    await page.getByRole("button", { name: "Add entry" }).first().click();
    await page.getByRole("combobox", { name: /^Members 3/ }).fill("local");
    await page.getByRole("button", { name: "Undo" }).click();
    await go(page, "/routing", "Routing");
    await page.getByRole("button", { name: "Add a rule" }).click();
    const form = page.locator("ol.rules .nest").first();
    await form.getByRole("combobox").first().selectOption("header");
    await form.getByRole("textbox", { name: /^Header/ }).fill("X-Trino-Source");
    await form.getByRole("button", { name: "Add entry" }).click();
    await form.locator(".entry .grow input").fill("reports");
    await shoot(page, "routing-edit");
    await page.getByRole("button", { name: "Move rule 3 up" }).click();
    await save(page);
    await shoot(page, "routing-saved");
    const rule = page.locator("ol.rules > li").nth(1);
    await rule.getByText("Header router").waitFor();
    expectEqual(problems, [], "problems");
    await close();
  },

  "what is not valid is said beside its field": async ({ browser }) => {
    const { page, close } = await browser.open("/groups/default");
    await settled(page, "default");
    await page.getByLabel(/^Running queries \(required\)/).fill("0");
    await page.getByRole("button", { name: "Review and save" }).click();
    await page.getByRole("dialog").getByRole("button", { name: "Save", exact: true }).click();
    await page.locator(".field .fault").getByText("at least 1").waitFor();
    await shoot(page, "fault");
    await page.getByRole("button", { name: "Undo" }).click();
    await close();
  },

  "two who edit at once both keep what they can, and choose where they clash": async ({
    browser,
  }) => {
    const one = await browser.open("/groups/default");
    const other = await browser.open("/groups/default");
    for (const { page } of [one, other]) await settled(page, "default");
    await other.page.getByText(/more settings/).click();
    await other.page.getByLabel(/^Rows/).fill("777");
    await other.page.getByLabel(/^Running queries \(required\)/).fill("5");
    await one.page.getByLabel(/^Running queries \(required\)/).fill("6");
    await one.page.getByText(/more settings/).click();
    await one.page.getByLabel(/^Waiting queries/).fill("99");
    await save(other.page);
    await one.page.getByRole("button", { name: "Review and save" }).click();
    await one.page.getByRole("dialog").getByRole("button", { name: "Save", exact: true }).click();
    const conflict = one.page.getByRole("dialog", { name: "Somebody else saved it meanwhile" });
    await conflict.waitFor();
    await shoot(one.page, "conflict");
    await conflict.getByLabel(/Mine/).check();
    await conflict.getByRole("button", { name: "Save both together" }).click();
    await one.page.getByText("Saved. Workers are told now.").waitFor();
    await one.page.reload();
    await settled(one.page, "default");
    const values = [/^Running queries \(required\)/, /^Waiting queries/, /^Rows/];
    const found = [];
    for (const label of values) found.push(await one.page.getByLabel(label).inputValue());
    expectEqual(found, ["6", "99", "777"], "both edits");
    await one.close();
    await other.close();
  },

  "a cluster is drained, enabled, tested; a revision is rolled back": async ({ browser }) => {
    const { page, problems, close } = await browser.open("/clusters/second");
    await settled(page, "second");
    await page.getByRole("button", { name: "Test connection" }).click();
    await page.getByText(/It answered in|Not reached/).waitFor();
    await page.getByRole("button", { name: "Drain" }).click();
    await page.getByRole("dialog").getByRole("button", { name: "Drain" }).click();
    await page.getByRole("button", { name: "Enable" }).waitFor();
    await go(page, "/revisions", "Revisions");
    await page.locator("tbody tr").nth(1).getByRole("link").click();
    await page.getByRole("button", { name: "Roll back to it" }).click();
    await page.getByRole("dialog").getByText("enabled").waitFor();
    await shoot(page, "roll-back");
    await page.getByRole("dialog").getByRole("button", { name: "Roll back" }).click();
    await page.getByText("Rolled back. Workers are told now.").waitFor();
    await go(page, "/clusters/second", "second");
    await page.getByRole("button", { name: "Drain" }).waitFor();
    expectEqual(problems, [], "problems");
    await close();
  },
};

export const metCases = {
  "each write that Studio can send was met by a case, each setting too": async ({ browser }) => {
    const { page, close } = await browser.open("/settings");
    const settings = await page.evaluate(async () => {
      const answer = await fetch("/admin/schemas");
      return Object.keys((await answer.json()).settings);
    });
    await close();
    const routes = writeRoutes();
    const wanted = [...routes, ...settings.map((name) => `PUT /settings/${name}`)];
    expectEqual(browser.writes.missing(wanted), [], "writes without a case");
    expectEqual(browser.writes.unknown(routes), [], "writes that are not in the list");
    console.log(`         ${wanted.length} kinds of writes`);
    if (settings.length === 0 || routes.length < 20) throw new Error("the lists were not read");
  },
};

export async function save(page) {
  await page.getByRole("button", { name: "Review and save" }).click();
  await page.getByRole("dialog").getByRole("button", { name: "Save", exact: true }).click();
  await page.getByText("Saved. Workers are told now.").first().waitFor();
}
