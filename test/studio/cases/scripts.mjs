/** Scripts: typed, refused by line, tried on an example, saved, and kept whole when two edit. */
import { axeProblems, expectEqual, settled, shoot } from "../browser.mjs";
import { go } from "./look.mjs";
import { save } from "./writes.mjs";

const editor = (page) => page.locator(".editor .cm-content");

/** Replaces the whole source, as one who pastes it. */
async function paste(page, text) {
  await editor(page).click();
  await page.keyboard.press("Control+a");
  await editor(page).evaluate((content, pasted) => {
    const clipboardData = new DataTransfer();
    clipboardData.setData("text/plain", pasted);
    const options = { clipboardData, bubbles: true, cancelable: true };
    content.dispatchEvent(new ClipboardEvent("paste", options));
  }, text);
}

export const scriptCases = {
  "a script is written, marked where it does not compile, tried, and saved": async ({
    browser,
  }) => {
    const { page, problems, close } = await browser.open("/scripts");
    await settled(page, "Scripts");
    const known = page.getByRole("row", { name: /spread/ });
    await known.getByRole("link", { name: "Group reports" }).waitFor();
    await page.getByRole("link", { name: "Add a script" }).click();
    await page.getByLabel("Name of the script").fill("byTeam");
    await page.getByText("It compiles.").waitFor();
    await paste(page, "function route({ tags }) {\n  const team = tags.team;\n  return ];\n}\n");
    await page.getByText("It does not compile.").waitFor();
    await page.getByText(/^Line 3: SyntaxError/).waitFor();
    await page.locator(".editor .cm-line").nth(2).and(page.locator(".cm-wrong")).waitFor();
    await shoot(page, "script-fault");
    expectEqual(await axeProblems(page), [], "axe with a fault");
    await page.getByRole("button", { name: "Create script" }).click();
    await page.getByText("scripts.byTeam.source").waitFor();
    await paste(
      page,
      "function route({ tags }) {\n  return tags.team.toUpperCase().nothing.x;\n}\n",
    );
    await page.getByText("It compiles.").waitFor();
    await page.getByRole("button", { name: "Run on this" }).click();
    await page.getByText("It failed (threw).").waitFor();
    await page.locator(".editor .cm-line").nth(1).and(page.locator(".cm-wrong")).waitFor();
    await paste(
      page,
      'function route({ tags }) {\n  return tags.team === "lab" ? "reports" : null;\n}\n',
    );
    await page.keyboard.press("Control+Enter");
    await page.getByText(/It answered in/).waitFor();
    await page.getByLabel("Test run").getByText('"reports"', { exact: true }).waitFor();
    await shoot(page, "script-answer");
    await page.getByRole("button", { name: "Create script" }).click();
    await settled(page, "byTeam");
    expectEqual(await axeProblems(page), [], "axe");
    expectEqual(problems, [], "problems");
    await close();
  },

  "a script's second argument is part of the example": async ({ browser }) => {
    const { page, close } = await browser.open("/scripts/spread");
    await settled(page, "spread");
    await page.getByLabel("Members").fill('[{ "cluster": "alone", "engine": "duckDb" }]');
    await page.getByRole("button", { name: "Run on this" }).click();
    await page.getByText('["alone"]', { exact: true }).waitFor();
    await page.getByLabel("Members").fill("[");
    await page.getByText("This is no JSON yet.").waitFor();
    expectEqual(await page.getByRole("button", { name: "Run on this" }).isDisabled(), true, "run");
    await close();
  },

  "two who edit one script see each other's lines before either is lost": async ({ browser }) => {
    const one = await browser.open("/scripts/spread");
    const other = await browser.open("/scripts/spread");
    for (const { page } of [one, other]) {
      await settled(page, "spread");
      await editor(page).waitFor();
    }
    await paste(one.page, "function order(query, members) {\n  return [];\n}\n");
    await paste(other.page, 'function order(query, members) {\n  return ["local"];\n}\n');
    await save(other.page);
    await one.page.getByRole("button", { name: "Review and save" }).click();
    await shoot(one.page, "script-review");
    await one.page.getByRole("dialog").getByRole("button", { name: "Save", exact: true }).click();
    const conflict = one.page.getByRole("dialog", { name: "Somebody else saved it meanwhile" });
    await conflict.waitFor();
    await shoot(one.page, "script-conflict");
    await conflict.getByLabel(/Theirs/).check();
    await conflict.getByRole("button", { name: "Save both together" }).click();
    await one.page.getByText('return ["local"];').first().waitFor();
    await one.close();
    await other.close();
  },

  "a script that is asked is not deleted, and one that nobody asks is": async ({ browser }) => {
    const { page, problems, close } = await browser.open("/scripts/spread");
    for (const [name, refused] of [
      ["spread", true],
      ["byTeam", false],
    ]) {
      await go(page, `/scripts/${name}`, name);
      await page.getByRole("button", { name: "Delete" }).click();
      await page.getByRole("dialog").getByRole("button", { name: "Delete script" }).click();
      if (refused) await page.getByRole("dialog").getByRole("alert").waitFor();
      else await page.getByText(`Deleted script ${name}.`).waitFor();
    }
    expectEqual(problems, [], "problems");
    await close();
  },
};
