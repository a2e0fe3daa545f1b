/** Access control by an Open Policy Agent and by Cerbos, under the policies of docs/access-control.md. */
import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { command, expectCode } from "../command.mjs";
import { installPolicyServers, startCerbos, startOpa } from "../policyServers.mjs";

const root = fileURLToPath(new URL("../../../", import.meta.url));

export const policyServersTool = () => installPolicyServers();

export const policyServersCases = {
  tool: "policyServers",
  behind: "none",
  cases: {
    "decisions, filters and masks, and servers that are slow, stopped or gone under traffic":
      async () => {
        const guide = readFileSync(`${root}docs/access-control.md`, "utf8");
        const blocks = (language) =>
          [...guide.matchAll(new RegExp(`\`\`\`${language}\\n([\\s\\S]*?)\`\`\``, "g"))].map(
            ([, block]) => block,
          );
        const opa = await startOpa(blocks("rego"));
        const cerbos = await startCerbos(blocks("yml")[0]);
        try {
          const vitest = `${root}node_modules/vitest/vitest.mjs`;
          const args = ["run", "--root", root, "--config", "vitest.real.config.ts"];
          const env = {
            GATEWAY_TEST_OPA: opa.url,
            GATEWAY_TEST_OPA_PID: `${opa.pid}`,
            GATEWAY_TEST_CERBOS: cerbos.url,
            GATEWAY_TEST_CERBOS_PID: `${cerbos.pid}`,
            NO_COLOR: "1",
          };
          const file = "test/real/policyServers.test.ts";
          expectCode(
            await command(process.execPath, [vitest, ...args, file], { env, seconds: 180 }),
          );
        } finally {
          await opa.stop();
          await cerbos.stop();
        }
      },
  },
};
