/** The quick start as a user runs it, on free ports, with what it prints read. */
import { spawn } from "node:child_process";
import { fileURLToPath } from "node:url";

const root = fileURLToPath(new URL("../../", import.meta.url));
const titles = { PostgreSQL: "postgres", MySQL: "mysql", Trino: "trino", Admin: "ops" };
const startSeconds = 90;

export async function startQuickstart(...args) {
  const program = `${root}packages/gateway/bin/gateway.mjs`;
  const child = spawn(process.execPath, [program, "quickstart", "--free-ports", ...args], {
    cwd: root,
    stdio: ["ignore", "pipe", "pipe"],
  });
  let text = "";
  const ended = new Promise((resolve) => {
    child.on("close", resolve);
  });
  const ready = new Promise((resolve, reject) => {
    const limit = setTimeout(() => reject(new Error(`no banner:\n${text}`)), startSeconds * 1000);
    const read = (chunk) => {
      text += chunk;
      if (!text.includes("Ctrl-C stops")) return;
      clearTimeout(limit);
      resolve();
    };
    child.stdout.on("data", read);
    child.stderr.on("data", read);
    void ended.then((code) => reject(new Error(`ended with ${code}:\n${text}`)));
  });
  await ready;
  const ports = {};
  for (const [title, name] of Object.entries(titles)) {
    const match = new RegExp(`${title}\\s+127\\.0\\.0\\.1:(\\d+)`).exec(text);
    if (match) ports[name] = match[1];
  }
  return {
    ports,
    banner: text,
    admin: await firstAdmin(ports.ops, text),
    interrupt: () => {
      child.kill("SIGINT");
      return ended;
    },
    stop: async () => {
      if (child.exitCode === null) child.kill("SIGKILL");
      await ended;
    },
  };
}

/** Makes the first administrator as the banner says. */
async function firstAdmin(port, banner) {
  const url = `http://127.0.0.1:${port}`;
  const [, token] = /"token":"([^"]+)"/.exec(banner) ?? [];
  const password = "correct horse battery";
  const made = await fetch(`${url}/admin/setup`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ token, name: "admin", password }),
  });
  if (made.status !== 201) throw new Error(`no administrator: ${await made.text()}`);
  return { url, user: "admin", password };
}

/** One join over the sample, and what everyone gets. */
export const joinSql =
  "select c.country, count(distinct o.order_id) as orders, sum(l.quantity) as quantity from customers c join orders o on o.customer_id = c.customer_id join line_items l on l.order_id = o.order_id group by c.country order by quantity desc, c.country limit 3";

let joinAnswer;

/** Every client must find the same rows; the first one's answer is kept. `rows`: lines of comma-separated cells. */
export function sameJoin(rows) {
  const lines = rows.trim().split("\n");
  if (lines.length !== 3 || !lines.every((line) => /^[^,]+,\d+,\d+$/.test(line))) {
    throw new Error(`not three rows of a country and two counts:\n${rows}`);
  }
  const text = lines.join("\n");
  joinAnswer ??= text;
  if (text !== joinAnswer) throw new Error(`found:\n${text}\nthe others:\n${joinAnswer}`);
}

/** Runs for minutes unless somebody ends it. */
export const endlessSql =
  "select count(*) from range(1000000000) a(i), range(1000000000) b(j) where hash(i + j) = 1";

/** Queries that hold a slot now, from the metrics. */
export async function runningNow(gateway) {
  const text = await (await fetch(`http://127.0.0.1:${gateway.ports.ops}/metrics`)).text();
  const values = [...text.matchAll(/^gateway_running_queries\{[^}]*\} (\d+)/gm)];
  return values.reduce((sum, [, value]) => sum + Number(value), 0);
}

/** Waits until so many queries run; fails after `seconds`. */
export async function untilRunning(gateway, count, seconds) {
  const from = performance.now();
  while ((await runningNow(gateway)) !== count) {
    if (performance.now() - from > seconds * 1000) {
      throw new Error(
        `${await runningNow(gateway)} queries run, wanted ${count} within ${seconds} s`,
      );
    }
  }
}
