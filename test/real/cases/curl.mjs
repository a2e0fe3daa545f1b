/** curl against the Trino endpoint and the operations listener. */
import { command, expectCode, expectMatch } from "../command.mjs";
import { joinSql, sameJoin } from "../gateway.mjs";

const curl = async (...args) =>
  expectCode(await command("curl", ["-s", "-S", "--fail", ...args])).stdout;

async function statement(gateway, sql) {
  const url = `http://127.0.0.1:${gateway.ports.trino}/v1/statement`;
  let page = JSON.parse(await curl(url, "-H", "X-Trino-User: alice", "--data-binary", sql));
  const rows = [];
  for (;;) {
    if (page.error) throw new Error(page.error.message);
    rows.push(...(page.data ?? []));
    if (page.nextUri === undefined) return rows;
    page = JSON.parse(await curl(page.nextUri, "-H", "X-Trino-User: alice"));
  }
}

export const curlCases = {
  tool: "curl",
  cases: {
    "a join over the sample": async (gateway) => {
      sameJoin((await statement(gateway, joinSql)).map((row) => row.join(",")).join("\n"));
    },
    "health, readiness and metrics": async (gateway) => {
      const ops = `http://127.0.0.1:${gateway.ports.ops}`;
      expectMatch(await curl(`${ops}/health`), /ok/);
      expectMatch(await curl(`${ops}/readyz`), /ready/);
      expectMatch(await curl(`${ops}/metrics`), /^gateway_queries_total\{/m);
    },
  },
};
