/** Every page in both themes and at 360 px: no script that threw, no policy that was broken, nothing that axe calls serious. */
import { axeProblems, expectEqual, overflow, settled, shoot } from "../browser.mjs";
import { nameOf, pages } from "../pages.mjs";

export const lookCases = {
  "each page in both themes is accessible and breaks no policy": async ({ browser }) => {
    for (const theme of ["light", "dark"]) {
      const { page, problems, close } = await browser.open("/", { theme });
      const found = [];
      for (const { path, title } of pages) {
        await go(page, path, title);
        await shoot(page, `${nameOf(path)}-${theme}`, { fullPage: true });
        found.push(...(await axeProblems(page)).map((one) => `${path} ${one}`));
      }
      expectEqual([...found, ...problems], [], `problems in ${theme}`);
      await close();
    }
  },

  "each page fits a window of 360 px": async ({ browser }) => {
    const { page, problems, close } = await browser.open("/", { width: 360 });
    const wide = [];
    for (const { path, title } of pages) {
      await go(page, path, title);
      await shoot(page, `${nameOf(path)}-narrow`, { fullPage: true });
      if ((await overflow(page)) > 0) wide.push(path);
    }
    expectEqual([...wide, ...problems], [], "pages that are wider");
    await page.getByRole("button", { name: "Pages" }).click();
    await page.getByRole("dialog").getByRole("link", { name: "Clusters" }).click();
    await settled(page, "Clusters");
    await close();
  },
};

/** As a deep link, each time anew. */
export async function go(page, path, title) {
  await page.goto(new URL(`/studio${path}`, page.url()).href);
  await settled(page, title);
}
