/** The console: a query as oneself, with rows, an error, and the way to its record. */
import { expectEqual, settled, shoot } from "../browser.mjs";

export const consoleCases = {
  "a query is run, shown, found, and its way explained": async ({ browser }) => {
    const { page, problems, close } = await browser.open("/console");
    await settled(page, "Console");
    const editor = page.locator(".editor .cm-content");
    await editor.click();
    await page.keyboard.type("select 6 * 7 as answer, '<b>bold</b>' as text");
    await page.keyboard.press("Control+Enter");
    const grid = page.getByRole("region", { name: "Rows" });
    await grid.getByText("42", { exact: true }).waitFor();
    await grid.getByText("<b>bold</b>").waitFor();
    await shoot(page, "console-result");
    await page.getByRole("link", { name: "Why it went there" }).click();
    await page.getByRole("heading", { name: "Why it went there" }).waitFor();
    expectEqual(problems, [], "problems");
    await close();
  },

  "tables of the catalog are completed, a plan is shown, and a failure says where": async ({
    browser,
  }) => {
    const { page, problems, close } = await browser.open("/console");
    const editor = page.locator(".editor .cm-content");
    const type = async (text) => {
      await editor.click();
      await page.keyboard.press("Control+a");
      // Over a selection the browser would keep its style, which the page's policy forbids.
      await page.keyboard.press("Delete");
      await page.keyboard.type(text);
    };
    await type("create table harbours (name varchar, berths integer)");
    await page.keyboard.press("Control+Enter");
    await page.getByText("Done", { exact: true }).waitFor();
    await page.reload();
    await editor.waitFor();
    await type("select * from harb");
    const options = page.locator(".editor .cm-tooltip-autocomplete");
    await options.getByText("harbours").first().waitFor();
    await shoot(page, "console-completion");
    await page.keyboard.press("Enter");
    await page.getByRole("button", { name: "Explain" }).click();
    const grid = page.getByRole("region", { name: "Rows" });
    await grid
      .getByText(/SEQ_SCAN|harbours/)
      .first()
      .waitFor();
    await shoot(page, "console-plan");
    await type("select nothing from harbours");
    await page.keyboard.press("Control+Enter");
    await page.getByRole("alert").getByText("query.").first().waitFor();
    await shoot(page, "console-error");
    expectEqual(problems, [], "problems");
    await close();
  },
};
