/** Each setting: written through its form or as JSON, seen where it matters, and taken back. */
import { axeProblems, expectEqual, shoot } from "../browser.mjs";
import { eventually } from "../fleet.mjs";
import { ofNobody } from "./access.mjs";
import { go } from "./look.mjs";
import { save } from "./writes.mjs";

const anyTitle = /./;
const closed = { name: "closed", tables: ["*.*"], effect: "deny" };

export const settingCases = {
  "a guard is set through its form, refuses a client, and is taken back": async ({
    browser,
    fleet,
  }) => {
    const { page, problems, close } = await browser.open("/access");
    await page.getByRole("link", { name: "Guard rails" }).click();
    await page.getByText("Not set: the defaults hold").waitFor();
    await page.getByRole("button", { name: "Add guard" }).click();
    await page.getByRole("combobox").last().selectOption("readOnly");
    await page.getByRole("textbox", { name: /^Name/ }).fill("onlyRead");
    await shoot(page, "guard-edit");
    expectEqual(await axeProblems(page), [], "axe");
    await save(page);
    const client = await fleet.connect("gwen");
    await eventually(async () =>
      (await saidTo(client, "create table nothing (i int)")).startsWith(
        "Only statements that read",
      ),
    );
    await client.end();
    await reset(page);
    await page.getByRole("heading", { level: 1, name: "Access" }).waitFor();
    expectEqual(problems, [], "problems");
    await close();
  },

  "what a translation made of a query is shown as a difference": async ({ browser, fleet }) => {
    const { page, problems, close } = await browser.open("/settings/translation");
    await page.getByRole("combobox", { name: /^Mode/ }).selectOption("bestEffort");
    await save(page);
    const client = await fleet.connect("tess");
    const text = "select 7::int8 as translated";
    const record = await eventually(async () => {
      await client.query(text);
      const { items } = await page.evaluate(async () => {
        const answer = await fetch("/admin/queries?user=tess&limit=50");
        return answer.json();
      });
      return items.find(({ sql, translatedSql = sql }) => sql === text && translatedSql !== sql);
    });
    await client.end();
    await go(page, `/queries/${record.proxyQueryId}`, `Query ${record.proxyQueryId}`);
    const got = page.getByRole("region", { name: /^What the engine got/ });
    await got.locator("del").filter({ hasText: "int8" }).first().waitFor();
    await got.locator("ins").filter({ hasText: "BIGINT" }).first().waitFor();
    await shoot(page, "query-translated");
    await go(page, "/settings/translation", anyTitle);
    await reset(page);
    expectEqual(problems, [], "problems");
    await close();
  },

  "authentication, policies, a catalog and the history's words are set and taken back": async ({
    browser,
  }) => {
    const { page, problems, close } = await browser.open("/settings");
    const staticUsers = { users: { ann: { passwordHash: ofNobody } } };
    await put(page, "auth", { provider: "static", staticUsers });
    await page.getByText(ofNobody).waitFor({ state: "detached" });
    await allowOnlyRita(page);
    await put(page, "accessControl", {
      provider: "rules",
      clusterGroups: ["away"],
      defaultSchema: "main",
      rules: [closed],
    });
    const tables = { orders: { columns: ["id", "region"] } };
    await put(page, "catalogProvider", { provider: "static", tables });
    await go(page, "/access", "Access");
    await page
      .getByRole("row", { name: /^Catalog provider/ })
      .getByText("by admin")
      .waitFor();
    await page.getByLabel("Cluster group").selectOption("away");
    await page.getByLabel("SQL of the client").fill("select * from orders");
    await page.getByRole("button", { name: "Ask" }).click();
    await page.getByText("Access control would refuse it. Group away.").waitFor();
    for (const name of ["catalogProvider", "accessControl"]) {
      await go(page, `/settings/${name}`, anyTitle);
      await reset(page);
    }
    await put(page, "auth", { provider: "none" });
    await put(page, "authorization", { provider: "none" });
    await reset(page);
    await go(page, "/settings/history", anyTitle);
    await page.getByRole("combobox", { name: /^Redaction/ }).selectOption("maskLiterals");
    await save(page);
    await go(page, "/settings", "Settings");
    await page
      .getByRole("row", { name: /^Query history/ })
      .getByText("by admin")
      .waitFor();
    await go(page, "/settings/history", anyTitle);
    await reset(page);
    expectEqual(problems, [], "problems");
    await close();
  },
};

/** Replaces a setting as JSON. */
async function put(page, name, body) {
  await go(page, `/settings/${name}`, anyTitle);
  await page.getByLabel("JSON", { exact: true }).check();
  await page.getByRole("textbox", { name: "JSON" }).fill(JSON.stringify(body));
  await save(page);
}

/** An allow list: written at its group, shown under Access, and felt by a dry run; then it is taken back. */
async function allowOnlyRita(page) {
  await go(page, "/groups/reports", "reports");
  await page.getByLabel("JSON", { exact: true }).check();
  const json = page.getByRole("textbox", { name: "JSON" });
  const body = JSON.parse(await json.inputValue());
  await json.fill(JSON.stringify({ ...body, authorization: { allowUsers: ["rita"] } }));
  await save(page);
  await go(page, "/access", "Access");
  const row = page.getByRole("row", { name: /^reports/ });
  await row.getByText("rita").waitFor();
  await row.getByText("those in either list").waitFor();
  const trial = page.getByRole("region", { name: /^Dry run/ });
  await trial.getByLabel("SQL of the client").fill("select 'report'");
  for (const [user, said] of [
    ["ann", "It would be refused:"],
    ["rita", "It would go to group reports."],
  ]) {
    await trial.getByLabel("User", { exact: true }).fill(user);
    await trial.getByRole("button", { name: "Ask" }).click();
    await trial.getByText(said).waitFor();
  }
  await go(page, "/groups/reports", "reports");
  await page.getByLabel("JSON", { exact: true }).check();
  await json.fill(JSON.stringify(body));
  await save(page);
}

/** What a client is answered: its error's message, or nothing. */
async function saidTo(client, text) {
  try {
    await client.query(text);
    return "";
  } catch (error) {
    return error.message;
  }
}

async function reset(page) {
  await page.getByRole("button", { name: "Delete" }).click();
  await page.getByRole("dialog").getByRole("button", { name: "Delete setting" }).click();
  await page.getByText(/^Deleted setting/).waitFor();
}
