/** Three workers behind a balancer that sends each request to the next: every poll is answered, wherever it arrives. */
import { Agent, request } from "node:http";
import { metricOf, ready } from "../ops.mjs";
import { check, notices, same, until } from "../wait.mjs";

const queries = Number(process.env.FLEET_POLLED ?? 1_000);
export const title = `each poll goes to another worker: ${queries} queries, none lost; an owner killed in between`;
export const usualSeconds = 25;
export const seconds = 300;

const place = { host: "127.0.0.1", port: 0 };
const clients = 8;
const headers = { "x-trino-user": "alice", "user-agent": "a balancer's client/1" };

export async function run(fleet) {
  const control = await fleet.controlPlane();
  await control.open();
  const url = `http://127.0.0.1:${control.port}`;
  const names = ["w1", "w2", "w3"];
  const workers = await Promise.all(names.map((name) => fleet.worker(name, url, { relay: place })));
  await Promise.all(workers.map((worker) => worker.open().then(ready)));
  const balancer = await fleet.proxy(...workers.map(({ ports }) => ports.trinoHttp));

  const wrong = [];
  let asked = 0;
  const client = async () => {
    for (let number = asked++; number < queries; number = asked++) {
      const found = await outcome(balancer.port, `select ${number} + 1`);
      if (found !== String(number + 1)) wrong.push(`${number}: ${found}`);
    }
  };
  await Promise.all(Array.from({ length: clients }, client));
  const judge = () => same(wrong.slice(0, 5), [], "queries that were lost or wrong");
  judge();
  wrong.push(await strayed(workers[0]));
  await notices("a poll of nobody's query", judge, /lost or wrong/);
  const relayed = await Promise.all(workers.map((worker) => relayedBy(worker)));
  check(Math.min(...relayed) > queries / 9, `each worker sent polls on: ${relayed.join()}`);
  fleet.figure(`${queries} queries, ${relayed.reduce((a, b) => a + b)} polls sent on`);
  await addedByRelay(fleet, workers);
  await ownerKilled(fleet, workers, balancer);
}

/** What is told of a handle that no worker gave out. */
async function strayed({ ports }) {
  const { status } = await ask(ports.trinoHttp, "GET", "/v1/statement/executing/nobody/y1/1");
  check(status !== 200, "a handle of nobody is answered");
  return `status ${status}`;
}

/** A query whose first link was given out by a worker that is killed before it is followed. */
async function ownerKilled(fleet, [owner, ...others], balancer) {
  const first = await ask(owner.ports.trinoHttp, "POST", "/v1/statement", "select 1");
  await owner.kill();
  const path = new URL(first.body.nextUri).pathname;
  for (const { ports } of others) {
    same((await ask(ports.trinoHttp, "GET", path)).status, 503, "a poll of a dead worker's query");
  }
  balancer.reset();
  await until("the others serve on", async () => {
    return (await outcome(others[0].ports.trinoHttp, "select 41 + 1")) === "42";
  });
  fleet.figure("a poll of a killed worker's query: 503");
}

/** What a poll costs at the worker that has the query, and at another: medians. */
async function addedByRelay(fleet, [owner, other]) {
  const times = { straight: [], relayed: [] };
  for (let turn = 0; turn < 200; turn += 1) {
    for (const [way, { ports }] of Object.entries({ straight: owner, relayed: other })) {
      const { body } = await ask(owner.ports.trinoHttp, "POST", "/v1/statement", "select 1");
      const fromMs = performance.now();
      const page = await ask(ports.trinoHttp, "GET", new URL(body.nextUri).pathname);
      times[way].push(performance.now() - fromMs);
      same(page.status, 200, "a poll");
      let next = page.body.nextUri;
      while (next !== undefined) {
        next = (await ask(owner.ports.trinoHttp, "GET", new URL(next).pathname)).body.nextUri;
      }
    }
  }
  const median = (list) => list.toSorted((a, b) => a - b)[list.length >> 1];
  const [straight, relayed] = [median(times.straight), median(times.relayed)];
  fleet.figure(`a poll takes ${straight.toFixed(2)} ms, sent on ${relayed.toFixed(2)} ms`);
}

async function relayedBy(worker) {
  return metricOf(worker, "gateway_relayed_requests_total", 'result="answered"');
}

/** The first cell, or why there is none. Each request has a connection of its own, so that the balancer sends it on. */
async function outcome(port, sql) {
  let cell;
  let page = await ask(port, "POST", "/v1/statement", sql);
  for (;;) {
    if (page.status !== 200) return `status ${page.status}`;
    const { error, data, nextUri } = page.body;
    if (error !== undefined) return error.errorName;
    if (data !== undefined) cell = String(data[0][0]);
    if (nextUri === undefined) return cell;
    page = await ask(port, "GET", new URL(nextUri).pathname);
  }
}

const agent = new Agent({ keepAlive: false });

function ask(port, method, path, body) {
  return new Promise((resolve, reject) => {
    const asked = request({ host: "127.0.0.1", port, method, path, headers, agent }, (answer) => {
      let text = "";
      answer.setEncoding("utf8").on("data", (chunk) => {
        text += chunk;
      });
      answer.on("end", () => {
        const { statusCode: status } = answer;
        resolve({ status, body: status === 200 ? JSON.parse(text) : undefined });
      });
      answer.on("error", reject);
    });
    asked.on("error", reject);
    asked.end(body);
  });
}
