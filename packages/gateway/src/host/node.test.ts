import { describe, expect, it } from "vitest";
import { libraryFolders } from "./node.ts";

describe("libraryFolders", () => {
  it("looks beside the config first, then where the environment says, and nowhere relative", () => {
    const environment = { ADBC_DRIVER_PATH: "/opt/adbc:lib", VIRTUAL_ENV: "/venv" };
    expect(libraryFolders("/etc/gateway/gateway.yaml", environment)).toEqual([
      "/etc/gateway",
      "/opt/adbc",
      "/venv",
    ]);
    expect(libraryFolders("/etc/gateway.yaml", {})).toEqual(["/etc"]);
  });
});
