/** The reference page: what is translated under `strict`, and what `bestEffort` makes other rows of. */
import { constructs } from "./constructs.mjs";
import { byText } from "./words.mjs";

const names = {
  clickhouse: "ClickHouse",
  duckdb: "DuckDB",
  mysql: "MySQL",
  postgres: "PostgreSQL",
  trino: "Trino",
};

export function pageOf(pairs) {
  const dialects = [...new Set([...pairs.keys()].flatMap((pair) => pair.split(" ")))].toSorted(
    byText,
  );
  return `# Tested translations

Written by the differential suite (\`test/translate/run.mjs\`): each construct ran as it is on an engine of its dialect
and translated on the engines of the others, over the same small tables, and the rows were compared. How statements are
translated stands in [../translation.md](../translation.md).

## Under strict

For each dialect of a client, the engines to which a statement with this construct is translated under \`strict\`. The
rows were equal there, and of nothing that the construct is made of did any statement give other rows. \`–\`: the dialect
has no such construct, or means something else by it.

${strictTable(pairs, dialects)}

## Other rows

Constructs whose translation gave other rows on some engine. Under \`bestEffort\` they are sent all the same; under
\`strict\` they are refused, but for those of the last list.

${differences(pairs, "differs")}

## Refused

Constructs that are not translated, or whose translation the engine did not take. Under \`strict\` they are refused
before.

${differences(pairs, "refused")}

## What no statement tells

The difference lies in the values, so \`strict\` lets these pass:

${unseenList(pairs)}
`;
}

function strictTable(pairs, dialects) {
  const head = `| Construct | ${dialects.map((dialect) => names[dialect]).join(" | ")} |`;
  const line = `| --- |${" --- |".repeat(dialects.length)}`;
  const rows = constructs.map(({ name }) => {
    const cells = dialects.map((source) => strictCell(pairs, dialects, source, name));
    return `| ${escaped(name)} | ${cells.join(" | ")} |`;
  });
  return [head, line, ...rows].join("\n");
}

function strictCell(pairs, dialects, source, name) {
  const targets = dialects.filter((target) => pairs.has(`${source} ${target}`));
  const of = (target) => {
    const { judged, tested } = pairs.get(`${source} ${target}`);
    const known = new Set(tested);
    const one = judged.find((each) => each.name === name);
    if (one === undefined || one.state === "none") return "none";
    return one.state === "same" && one.features.every((word) => known.has(word)) ? "passes" : "no";
  };
  const found = targets.map((target) => [target, of(target)]);
  if (found.every(([, state]) => state === "none")) return "–";
  const passing = found.filter(([, state]) => state === "passes").map(([target]) => names[target]);
  if (passing.length === targets.length) return "all";
  return passing.length === 0 ? "none" : passing.join(", ");
}

function differences(pairs, state) {
  const rows = constructs.flatMap(({ name }) => {
    const where = [...pairs].flatMap(([pair, { judged }]) =>
      judged.some((one) => one.name === name && one.state === state) ? [shown(pair)] : [],
    );
    return where.length === 0 ? [] : [`| ${escaped(name)} | ${where.join(", ")} |`];
  });
  return ["| Construct | From and to |", "| --- | --- |", ...rows].join("\n");
}

function unseenList(pairs) {
  const lines = constructs.flatMap(({ name }) => {
    const where = [...pairs].filter(([, { unseen }]) => unseen.includes(name));
    if (where.length === 0) return [];
    return [`- ${name}: ${where.map(([pair]) => shown(pair)).join(", ")}`];
  });
  return lines.join("\n");
}

function shown(pair) {
  const [source, target] = pair.split(" ");
  return `${names[source]} to ${names[target]}`;
}

function escaped(text) {
  return text.replaceAll("|", "\\|");
}
