/** Targets of the performance page: what is judged, from which figure, and what is known of a miss. */
import { existsSync, readFileSync } from "node:fs";

/** `found`: rows of `oneCore.mjs` by wire; `ownCore`: those with a core of their own. Figures that no bench leaves in a file are quoted with their day. */
export function targets(found, ownCore) {
  return [
    ...trino(found.trino),
    ...relayed(found, ownCore),
    ...clickHouse(found.clickhouse),
    ...memory(),
    ...quoted(),
  ];
}

function trino(rows) {
  const limits = [1.2, 1.3, 1];
  const ratios = rows?.gateway.addedToRelay;
  const perCore = rows && rows.relay.ofEightUs / rows.gateway.ofEightUs;
  return [
    {
      what: "Trino, added p50 / p95 / p99",
      target: "≤ 1.2 / 1.3 / 1.0 × a bare Node relay",
      figure: ratios?.map((ratio) => `${ratio.toFixed(2)} ×`).join(" / "),
      met: ratios?.every((ratio, at) => ratio <= limits[at]),
      floor:
        "a third of a query are its writes to sockets, which the relay has as well; two per cent are the seal of its link. Collections of garbage, which the slowest ones meet, take 1.3 ms for 300 queries, and the relay's take less. Needed for those: fewer objects for each query",
    },
    {
      what: "Trino, queries/s of one core",
      target: "≥ 0.8 of a bare Node relay",
      figure: perCore?.toFixed(2),
      met: perCore && perCore >= 0.8,
      floor: "as above",
    },
  ];
}

function relayed(found, ownCore) {
  const names = { postgres: "PostgreSQL", mysql: "MySQL" };
  return Object.entries(names).flatMap(([wire, name]) => {
    const rows = found[wire];
    const ratio = rows?.gateway.addedToRelay[2];
    const addedMs = rows?.gateway.addedMs;
    const perSecond = rows && 1e6 / rows.gateway.ofEightUs;
    const least = leastOf(rows);
    const needed = `Of the 40 µs of a lone query of PostgreSQL at rest 25 are a relay's as well, and 6 are its record and log line; judging, routing, counting and passing on are in some 150 functions, none of which takes more than 1 % ([query-cost.md](../query-cost.md)). Needed`;
    const toRelay = rows?.gateway.addedToRelay;
    const alone = ownCore[wire]?.gateway.addedToRelay;
    const both = (at) =>
      alone &&
      `${alone[at].toFixed(2)} × with a core of its own, ${toRelay?.[at].toFixed(2)} × on theirs`;
    return [
      {
        what: `${name}, added p50 beside a relay`,
        target: "≤ 1.3 × a bare relay of TCP",
        figure: both(0),
        met: alone && alone[0] <= 1.3,
        floor: `${least}. Needed: half of what judging, routing and counting take before the engine has the statement`,
      },
      {
        what: `${name}, added p99`,
        target: "≤ 3 × a bare relay of TCP",
        figure: ratio && `${ratio.toFixed(2)} ×`,
        met: ratio && ratio <= 3,
        floor: `${least}. Needed: some 20 µs less of the processor's time of a lone query, most of which is caches that the switch to it left cold`,
      },
      {
        what: `${name}, added p50`,
        target: "≤ 0.05 ms",
        figure: addedMs && `${addedMs} ms`,
        met: addedMs && addedMs <= 0.05,
        floor: `${least}. Needed: cheaper sockets in the runtime, and nothing of a gateway's own`,
      },
      {
        what: `${name}, queries/s of one core`,
        target: "≥ 25,000",
        figure: perSecond && Math.round(perSecond).toLocaleString("en"),
        met: perSecond && perSecond >= 25_000,
        floor: `${least}. ${needed}: what is missing of these, or cheaper sockets in the runtime`,
      },
    ];
  });
}

function clickHouse(rows) {
  const addedMs = rows?.gateway.addedMs;
  const perSecond = (row) => row && Math.round(1e6 / row.ofEightUs);
  const reached = perSecond(rows?.gateway);
  const relay =
    rows && `${rows.relay.addedMs} ms and ${perSecond(rows.relay).toLocaleString("en")}`;
  const floor = `${leastOf(rows)}; the bare Node relay, which reads and writes HTTP as Node does, ${relay}. Needed: heads that are neither read nor written anew`;
  return [
    {
      what: "ClickHouse, added p50",
      target: "≤ 0.09 ms",
      figure: addedMs && `${addedMs} ms`,
      met: addedMs && addedMs <= 0.09,
      floor,
    },
    {
      what: "ClickHouse, queries/s of one core",
      target: "≥ 10,000",
      figure: reached?.toLocaleString("en"),
      met: reached && reached >= 10_000,
      floor,
    },
  ];
}

/** What the least of a gateway reaches in the same run. */
function leastOf(rows) {
  if (rows?.least === undefined) return "";
  const perSecond = Math.round(1e6 / rows.least.ofEightUs).toLocaleString("en");
  const [, , p99] = rows.least.addedToRelay;
  return `the least of a gateway adds ${rows.least.addedMs} ms (p99 ${p99.toFixed(1)} × the relay's) and passes ${perSecond} a second in the same run`;
}

/** From `npm run bench memory`. */
function memory() {
  const rows = existsSync("bench/results.json")
    ? JSON.parse(readFileSync("bench/results.json", "utf8")).rows
    : [];
  const of = (words) => rows.find(({ what }) => what.startsWith(words))?.["RSS MB"];
  const idle = of("standalone, quiet after its first start");
  const loaded = of("… highest under small statements");
  const floor =
    "`npm run bench memory` says in which parts it is: code, heap, the store, freed and kept";
  return [
    {
      what: "Memory of an idle gateway with its store",
      target: "≤ 120 MB",
      figure: idle && `${idle} MB`,
      met: idle && idle <= 120,
      floor,
    },
    {
      what: "Memory under load",
      target: "≤ 300 MB",
      figure: loaded && `${loaded} MB`,
      met: loaded && loaded <= 300,
      floor,
    },
  ];
}

/** From runs of their own, which take a machine for themselves; figures.md says when and how. */
function quoted() {
  return [
    {
      what: "Rows of six columns to a raw PostgreSQL reader, embedded engine",
      target: "≥ 3 M rows/s",
      figure: "4.0 M rows/s",
      met: true,
      floor:
        "by the processor time of the gateway's main thread; with the engine's process and the reader on the same two cores 1.3 to 1.5 M. The kernel that writes rows takes 145 of the 245 ns of one, the sockets most of the rest. To pyarrow, without text, 3.0 M",
    },
    {
      what: "ClickHouse to ClickHouse, bytes",
      target: "≥ 1.8 GB/s",
      figure: "2.1 to 2.3 GB/s",
      met: true,
      floor:
        "a client that asks the server itself reads 2.7 to 3.0, a bare Node relay of HTTP passes 0.9 to 1.0 and one of TCP 1.2 to 1.3 in the same three runs of `npm run bench clickhouse`, in which nothing but them runs",
    },
    {
      what: "PostgreSQL to PostgreSQL, bytes of rows of 8 KB; of a hundred bytes",
      target: "≥ 0.8 GB/s",
      figure: "1.5 to 2.2 GB/s; 1.2 to 1.7",
      met: true,
      floor:
        "three runs of `npm run bench bulk`, in which a bare Node relay of TCP passes 0.9 to 1.2",
    },
    {
      what: "MySQL to MySQL, bytes of rows of 8 KB; of a hundred bytes",
      target: "≥ 0.8 GB/s",
      figure: "1.6 to 2.0 GB/s; 1.3 to 2.3",
      met: true,
      floor: "as above",
    },
    {
      what: "A policy, guard or script that is configured and not met by the query",
      target: "≤ 5 µs",
      figure: "0.3 to 1.9 µs",
      met: true,
      floor: "",
    },
  ];
}
