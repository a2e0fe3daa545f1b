/** Measures calls of scripts in a process of its own; tells its parent. */
import { askScripts } from "@gateway/core/route/rule/ask.ts";
import { conditionsOf } from "@gateway/core/route/rule/compound.ts";
import { queryOf } from "@gateway/core/route/rig/queryOf.ts";
import { nodeHost } from "@gateway/gateway/host/node.ts";
import { loadSandboxes } from "@gateway/sql/script/sandbox.ts";

const host = nodeHost(new URL("../../packages/gateway/dist/", import.meta.url), "silent");
const rounds = 7;
const source = 'function match({ tags, user }) { return tags.team === "lab" && user !== "bob"; }';
const config = { byTeam: { use: "match", source } };
const query = queryOf({ sql: "SELECT a, b FROM t WHERE c = 1", tags: { team: "lab" } });

// No thread of scripts keeps a process alive by itself.
const alive = setInterval(() => {}, 1_000);
const opened = [];
for (let round = 0; round < rounds; round += 1) {
  const startedMs = performance.now();
  const scripts = await open();
  opened.push(performance.now() - startedMs);
  await scripts[Symbol.asyncDispose]();
}
const scripts = await open();
const ask = askScripts(scripts, host);
const script = { type: "script", script: "byTeam" };
const decided = conditionsOf(
  "all",
  [{ type: "protocolBased", protocols: ["mysqlWire"] }, script],
  ask,
);
const asked = conditionsOf("all", [script], ask);
const once = async () => {
  const held = await asked(query);
  if (!held.ok || !held.value) throw new Error("the script answered otherwise");
};
const passed = await timed(200_000, () => {
  if (decided(query) !== false) throw new Error("the condition did not decide");
});
const alone = await timed(2_000, once);
const many = await timed(5_000, once, 64);
const inside = await withinThread();
await scripts[Symbol.asyncDispose]();
clearInterval(alive);
process.send({ passed, alone, many, inside, opened }, () => process.exit());

async function open() {
  const made = await host.scripts.open(config);
  if (!made.ok) throw new Error(JSON.stringify(made.error));
  return made.value;
}

async function withinThread() {
  const sandboxes = await loadSandboxes(() => performance.now());
  const sandbox = sandboxes(source, "match");
  const args = JSON.stringify([{ sql: query.sql, tags: { team: "lab" }, user: "ann" }]);
  return await timed(5_000, () => void sandbox.value.call(args));
}

/** Microseconds of one, by round; `width` of them at once. */
async function timed(count, work, width = 1) {
  const found = [];
  for (let round = 0; round < rounds; round += 1) {
    const startedMs = performance.now();
    let left = count;
    const lane = async () => {
      for (; left > 0; left -= 1) {
        const doing = work();
        if (doing !== undefined) await doing;
      }
    };
    await Promise.all(Array.from({ length: width }, lane));
    found.push(((performance.now() - startedMs) * 1_000) / count);
  }
  return found;
}
