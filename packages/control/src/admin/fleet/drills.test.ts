import { drillsPath } from "@gateway/contract/drillApi.ts";
import { describe, expect, it } from "vitest";
import { testAdmin } from "../rig/admin.ts";

const asked = { json: { drill: "workerRestart" } };

describe("POST /admin/drills", () => {
  it("refuses a fleet whose config does not take drills, and leaves no row", async () => {
    const { json } = await testAdmin();
    expect((await json("GET", "/admin/status")).body).toMatchObject({ drills: false });
    const refused = await json("POST", drillsPath, asked);
    expect(refused).toMatchObject({ status: 409, body: { code: "noDrills" } });
    expect((await json("GET", "/admin/audit?action=drill")).body).toMatchObject({ items: [] });
  });

  it("lets an admin begin one, and says who it was", async () => {
    const { json, ask } = await testAdmin({ deps: { drills: true } });
    expect((await json("GET", "/admin/status")).body).toMatchObject({ drills: true });
    expect((await ask("POST", drillsPath, { ...asked, as: "operator" })).status).toBe(403);
    expect((await ask("POST", drillsPath, { json: { drill: "dropTables" } })).status).toBe(422);
    expect(await json("POST", drillsPath, asked)).toMatchObject({ status: 200, body: asked.json });
    const { items } = (await json("GET", "/admin/audit?action=drill")).body as { items: unknown[] };
    expect(items).toEqual([
      expect.objectContaining({ by: "anna", action: "drill", target: "drill/workerRestart" }),
    ]);
  });

  it("lets none begin that would not be in the trail", async () => {
    const { json, cut } = await testAdmin({ deps: { drills: true } });
    expect((await json("POST", drillsPath, asked)).status).toBe(200);
    cut(true);
    expect((await json("POST", drillsPath, asked)).status).toBe(503);
  });
});
