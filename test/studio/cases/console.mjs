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
};
