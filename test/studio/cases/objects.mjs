/** Clusters, groups and rules beyond their first save: drained, ordered, deleted by two at once. */
import { expectEqual, settled, shoot } from "../browser.mjs";
import { go } from "./look.mjs";

export const objectCases = {
  "a slot that nobody answers for is given again": async ({ browser }) => {
    const { page, problems, close } = await browser.open("/workers");
    await page.getByRole("button", { name: "Free", exact: true }).click();
    await shoot(page, "slot-in-doubt");
    await page.getByRole("dialog").getByRole("button", { name: "Free the slot" }).click();
    await page.getByText("The slot is free.").waitFor();
    await page.getByRole("region", { name: "Slots in doubt" }).waitFor({ state: "detached" });
    expectEqual(problems, [], "problems");
    await close();
  },

  "a group is drained, edited while somebody deletes it, and deleted before its cluster": async ({
    browser,
  }) => {
    const { page, problems, close } = await browser.open("/clusters/+new");
    await page.getByLabel("Name of the cluster").fill("third");
    await page.getByLabel("Engine").selectOption("duckDb");
    await page.getByRole("button", { name: "Create cluster" }).click();
    await settled(page, "third");
    await remove(page, "cluster");
    await page.getByRole("dialog").getByRole("alert").getByText(/third/).first().waitFor();
    await shoot(page, "delete-refused");
    await go(page, "/groups/third", "third");
    await page.getByRole("button", { name: "Drain" }).click();
    await page.getByRole("dialog").getByRole("button", { name: "Drain" }).click();
    await page.getByRole("dialog").waitFor({ state: "detached" });
    await page.getByRole("button", { name: "Enable" }).click();
    await page.getByRole("dialog").getByRole("button", { name: "Enable" }).click();
    await page.getByText("Queries go to third again.").waitFor();
    // Nothing behind a question takes the focus.
    await page.getByRole("dialog").waitFor({ state: "detached" });
    await page.getByLabel(/^Running queries \(required\)/).fill("3");
    await page.getByText("1 change").waitFor();
    const other = await browser.open("/groups/third");
    await settled(other.page, "third");
    await remove(other.page, "group");
    await other.page.getByText("Deleted group third.").waitFor();
    await other.close();
    await page.getByRole("button", { name: "Review and save" }).click();
    await page.getByRole("dialog").getByRole("button", { name: "Save", exact: true }).click();
    const gone = page.getByRole("dialog", { name: "Somebody deleted it meanwhile" });
    await gone.waitFor();
    await shoot(page, "conflict-deleted");
    await gone.getByRole("button", { name: "Create it again with my content" }).click();
    await page.getByText("Saved. Workers are told now.").first().waitFor();
    await go(page, "/groups/third", "third");
    expectEqual(
      await page.getByLabel(/^Running queries \(required\)/).inputValue(),
      "3",
      "what was written again",
    );
    await remove(page, "group");
    await page.getByText("Deleted group third.").waitFor();
    await go(page, "/clusters/third", "third");
    await remove(page, "cluster");
    await page.getByText("Deleted cluster third.").waitFor();
    expectEqual(problems, [], "problems");
    await close();
  },

  "rules are ordered by dragging and by keys, and their difference is shown before the save":
    async ({ browser }) => {
      const { page, problems, close } = await browser.open("/routing");
      await settled(page, "Routing");
      const rules = page.locator("ol.rules > li");
      const titles = () => rules.locator("strong").allInnerTexts();
      const before = await titles();
      await rules.nth(0).locator(".rule").dragTo(rules.nth(1).locator(".rule"));
      const swapped = [before[1], before[0], ...before.slice(2)];
      expectEqual(await titles(), swapped, "after dragging");
      await page.getByRole("button", { name: "Move rule 2 up" }).focus();
      await page.keyboard.press("Enter");
      expectEqual(await titles(), before, "after moving it back by a key");
      await page.getByText("No changes").waitFor();
      // What was moved keeps the focus, so it can be moved on.
      await page
        .getByRole("button", { name: "Move rule 1 down" })
        .and(page.locator(":focus"))
        .waitFor();
      await page.keyboard.press("Enter");
      await page.getByRole("button", { name: "Review and save" }).click();
      const review = page.getByRole("dialog", { name: "Save these changes?" });
      await review
        .getByRole("row", { name: /routers/ })
        .first()
        .waitFor();
      await shoot(page, "routing-review");
      await review.getByRole("button", { name: "Go on editing" }).click();
      await page.getByRole("button", { name: "Undo" }).click();
      expectEqual(await titles(), before, "after undoing it");
      const trial = page.getByRole("region", { name: /^Dry run/ });
      await trial.getByLabel("SQL of the client").fill("select 'report'");
      await trial.getByRole("button", { name: "Ask" }).click();
      await trial.getByText("It would go to group reports.").waitFor();
      await shoot(page, "routing-trial");
      expectEqual(problems, [], "problems");
      await close();
    },
};

async function remove(page, what) {
  await page.getByRole("button", { name: "Delete" }).click();
  await page
    .getByRole("dialog")
    .getByRole("button", { name: `Delete ${what}` })
    .click();
}
