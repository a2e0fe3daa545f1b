/**
 * Several processes' metrics as one text of Prometheus: each sample gets a label `process`. They are not added up,
 * because most gauges of a process mean nothing as a sum.
 */

interface Family {
  /** HELP and TYPE. */
  readonly head: string[];
  readonly samples: string[];
}

const comment = /^# (?:HELP|TYPE) (\S+)/;
/** What a histogram's and a summary's samples have behind the name of the family. */
const suffix = /_(?:bucket|sum|count)$/;

/** `texts` by the value of the label. Each family comes once, as the format demands. */
export function mergedMetrics(texts: ReadonlyMap<string, string>): string {
  const families = new Map<string, Family>();
  for (const [process, text] of texts) {
    const first = new Set(families.keys());
    for (const line of text.split("\n")) take(line, process, { families, first });
  }
  return [...families.values()]
    .flatMap(({ head, samples }) => [...head, ...samples, ""])
    .join("\n");
}

interface Taken {
  readonly families: Map<string, Family>;
  /** Families whose head an earlier text gave. */
  readonly first: ReadonlySet<string>;
}

function take(line: string, process: string, { families, first }: Taken): void {
  const [, named] = comment.exec(line) ?? [];
  if (named !== undefined) {
    if (!first.has(named)) familyOf(families, named).head.push(line);
    return;
  }
  if (line === "" || line.startsWith("#")) return;
  const end = line.search(/[ {]/);
  const name = line.slice(0, end);
  const whole = name.replace(suffix, "");
  const family = families.get(name) ?? familyOf(families, families.has(whole) ? whole : name);
  family.samples.push(labelled(line, end, process));
}

function labelled(line: string, end: number, process: string): string {
  const label = `process="${process}"`;
  if (line[end] !== "{") return `${line.slice(0, end)}{${label}}${line.slice(end)}`;
  const separator = line[end + 1] === "}" ? "" : ",";
  return `${line.slice(0, end)}{${label}${separator}${line.slice(end + 1)}`;
}

function familyOf(families: Map<string, Family>, name: string): Family {
  const known = families.get(name);
  if (known !== undefined) return known;
  const made = { head: [], samples: [] };
  families.set(name, made);
  return made;
}
