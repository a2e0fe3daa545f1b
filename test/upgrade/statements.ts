/**
 * The statements of a program, with what the database of its time answered: recorded once, and asked again of each
 * later schema. What differs from run to run (moments, leases) is compared by where it stands.
 */
import type {
  Database,
  DatabaseError,
  Parameter,
  StatementResult,
} from "@gateway/control/store/database.ts";
import type { Result } from "@gateway/core/result.ts";
import { z } from "zod";

const written = z.union([
  z.string(),
  z.number(),
  z.boolean(),
  z.null(),
  z.strictObject({ base64: z.string() }),
]);

const statementSchema = z.strictObject({
  sql: z.string(),
  parameters: z.array(written),
  /** Rows and the number of those touched, or the SQLSTATE. PGlite in this process reads lists of text itself. */
  answer: z.union([
    z.strictObject({ rows: z.array(z.array(z.unknown())), count: z.number() }),
    z.strictObject({ refused: z.string() }),
  ]),
});

export const recordingSchema = z.strictObject({
  /** Whose statements they are. */
  commit: z.string(),
  schema: z.string(),
  statements: z.array(statementSchema),
});

export type Recording = z.output<typeof recordingSchema>;
type Recorded = Recording["statements"][number];

/** The same database, which notes what it is asked. */
export function recordingOf(database: Database): {
  readonly database: Database;
  readonly statements: readonly Recorded[];
} {
  const statements: Recorded[] = [];
  const run = async (sql: string, parameters: readonly Parameter[] = []) => {
    const answer = await database.run(sql, parameters);
    statements.push({ sql, parameters: parameters.map(toWritten), answer: answerOf(answer) });
    return answer;
  };
  const { listen: _none, ...rest } = { ...database, listen: undefined };
  const noted: Database = {
    ...rest,
    run,
    // No step of the store may need one: Neon's HTTP driver has none.
    transaction: () => Promise.reject(new Error("a transaction is not recorded")),
    [Symbol.asyncDispose]: () => database[Symbol.asyncDispose](),
  };
  return { database: noted, statements };
}

/** One line for each statement that is answered in another way than before. */
export async function differences(
  database: Database,
  { statements }: Recording,
): Promise<readonly string[]> {
  /** What stands here for a moment or a lease of the recording. */
  const names = new Map<string, string>();
  const lines: string[] = [];
  for (const { sql, parameters, answer } of statements) {
    const given = parameters.map((parameter) => renamed(parameter, names));
    const now = answerOf(await database.run(sql, given));
    learn(answer, now, names);
    const [before, after] = [shapeOf(answer), shapeOf(now)];
    if (before !== after) lines.push(`${sql.slice(0, 200)}\n  was ${before}\n  is  ${after}`);
  }
  return lines;
}

/** A moment in milliseconds, a hash, an id. */
const changing =
  /\b\d{13}(?:\.\d+)?\b|\b[0-9a-f]{16,}\b|\b[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}\b/g;

function learn(before: Recorded["answer"], after: Recorded["answer"], names: Map<string, string>) {
  const [old, new_] = [before, after].map((one) => JSON.stringify(one).match(changing) ?? []);
  for (const [index, name] of (old ?? []).entries()) names.set(name, new_?.[index] ?? name);
}

function shapeOf(answer: Recorded["answer"]): string {
  return JSON.stringify(answer).replaceAll(changing, "<…>");
}

function renamed(parameter: z.output<typeof written>, names: ReadonlyMap<string, string>) {
  if (typeof parameter === "string") {
    return parameter.replaceAll(changing, (name) => names.get(name) ?? name);
  }
  if (typeof parameter !== "object" || parameter === null) return parameter;
  return Uint8Array.from(Buffer.from(parameter.base64, "base64"));
}

function toWritten(parameter: Parameter): z.output<typeof written> {
  if (!(parameter instanceof Uint8Array)) return parameter;
  return { base64: Buffer.from(parameter).toString("base64") };
}

function answerOf(answer: Result<StatementResult, DatabaseError>): Recorded["answer"] {
  if (!answer.ok) return { refused: answer.error.code };
  const { rows, count } = answer.value;
  return { rows: rows.map((row) => [...row]), count };
}
