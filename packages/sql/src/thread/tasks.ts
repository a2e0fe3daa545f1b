/** What the thread does for each kind of request. The parser's own text about an error may hold values of a query, and stays here. */
import type { SqlTasks } from "@gateway/core/port/sql/sqlWork.ts";
import { unreachable } from "@gateway/core/result.ts";
import { kindOf, parsedOf } from "../read/parsed.ts";
import { readNodesOf } from "../read/read.ts";
import { translatedText } from "../translate/translate.ts";
import type { SqlMessage } from "./message.ts";

type Tasks = {
  readonly [Task in keyof SqlTasks]: (input: SqlTasks[Task]["input"]) => SqlTasks[Task]["output"];
};

const tasks: Tasks = {
  parse: ({ sql, dialect }) => {
    const nodes = parsedOf(sql, dialect);
    return nodes === undefined ? { parsed: false } : { parsed: true, kinds: nodes.map(kindOf) };
  },
  read: ({ sql, dialects, functions, columns }) =>
    dialects.map((dialect) => readNodesOf(parsedOf(sql, dialect), { sql, functions, columns })),
  translate: translatedText,
};

/** The answer to one request. */
export function done(message: SqlMessage): SqlTasks[keyof SqlTasks]["output"] {
  switch (message.task) {
    case "parse":
      return tasks.parse(message.input);
    case "read":
      return tasks.read(message.input);
    case "translate":
      return tasks.translate(message.input);
    default:
      return unreachable(message);
  }
}
