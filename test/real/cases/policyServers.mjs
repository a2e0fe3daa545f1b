/** Access control by an Open Policy Agent and by Cerbos, under the policies of docs/access-control.md. */
import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { command, expectCode } from "../command.mjs";
import { installPolicyServers, startCerbos, startOpa } from "../policyServers.mjs";

const root = fileURLToPath(new URL("../../../", import.meta.url));

/** Policies about the columns that a statement touches: `margin` is closed. */
const closedColumn = {
  rego: `package closedcolumn

default decision := {"allow": false}

decision := {"allow": true, "rule": "notMargin"} if {
	input.columns.all == false
	not "margin" in input.columns.named
	not "margin" in input.columns.unresolved
	not "margin" in input.columns.prefixes
}
`,
  cerbos: `apiVersion: api.cerbos.dev/v1
resourcePolicy:
  resource: closedcolumn
  version: default
  rules:
    - actions: ["select"]
      effect: EFFECT_ALLOW
      roles: ["user"]
      condition:
        match:
          all:
            of:
              - expr: R.attr.columns.all == false
              - expr: '!("margin" in R.attr.columns.named)'
              - expr: '!("margin" in R.attr.columns.unresolved)'
              - expr: '!("margin" in R.attr.columns.prefixes)'
`,
};

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
        const opa = await startOpa([...blocks("rego"), closedColumn.rego]);
        const cerbos = await startCerbos([blocks("yml")[0], closedColumn.cerbos]);
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
