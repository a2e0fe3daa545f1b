/** Logins by OpenLDAP, as Debian packages it; once with binds without a password allowed. */
import { fileURLToPath } from "node:url";
import { command, expectCode } from "../command.mjs";
import { installSlapd, startSlapd } from "../slapdServer.mjs";

const root = fileURLToPath(new URL("../../../", import.meta.url));

export const slapdTool = () => installSlapd();

export const slapdCases = {
  tool: "slapd",
  behind: "none",
  cases: {
    "logins, groups, TLS and hostile names": () => suite({ anonymous: false }),
    "the same where a bind without a password succeeds": () => suite({ anonymous: true }),
  },
};

async function suite(options) {
  const server = await startSlapd(options);
  try {
    const vitest = `${root}node_modules/vitest/vitest.mjs`;
    const args = ["run", "--root", root, "--config", "vitest.real.config.ts"];
    const env = {
      GATEWAY_TEST_SLAPD: `${server.port}`,
      GATEWAY_TEST_SLAPD_TLS: `${server.tlsPort}`,
      GATEWAY_TEST_SLAPD_CA: server.caFile,
      NO_COLOR: "1",
    };
    const file = "test/real/slapd.test.ts";
    expectCode(await command(process.execPath, [vitest, ...args, file], { env, seconds: 120 }));
    const filters = [...server.log().matchAll(/SRCH .*filter="\(([A-Za-z]+)=[^()*]*\)"/g)];
    // Whether an entry is there, asked at its own place: nothing of a name is in this filter.
    const places = /SRCH base="[^"]*" scope=0 deref=\d filter="\(objectClass=\*\)"/g;
    const looked = server.log().match(places)?.length ?? 0;
    const asked = server.log().match(/SRCH .*filter=/g)?.length ?? 0;
    const attributes = new Set(filters.map(([, attribute]) => attribute));
    const known = [...attributes].every((name) => name === "uid" || name === "member");
    if (asked === 0 || filters.length + looked !== asked || !known) {
      throw new Error(`filters of other shapes: ${asked} searches, ${filters.length} as expected`);
    }
  } finally {
    await server.stop();
  }
}
