/** Guards that judge by the text alone: what each asks of a statement, and in which words it says no. */
import type { GuardConfig } from "@gateway/contract/config/guardrail.ts";
import type { Query } from "../query/query.ts";
import { compileRegex } from "../regex/regex.ts";
import { unreachable } from "../result.ts";
import { longTextUnits } from "../sql/reading/reading.ts";
import type { Steps } from "../sql/reading/steps.ts";
import { tablesReading } from "../sql/shape/predicates.ts";
import { kindsOf, onlyReads } from "./kinds.ts";
import { predicateRule, rowKinds } from "./predicate.ts";

/** What one guard says: nothing, or why the statement does not pass. */
export type Judge = (query: Query) => Steps<string | undefined> | string | undefined;

export type Judging = Extract<
  GuardConfig,
  { type: "readOnly" | "statementKinds" | "queryRegex" | "requirePredicate" }
>;

/** Patterns were checked before. */
export function judgeOf(config: Judging): Judge {
  switch (config.type) {
    case "readOnly":
      return ({ statement }) => {
        if (onlyReads(statement)) return undefined;
        return statement.doubt === undefined
          ? "Only statements that read may run here, and this one may write."
          : `Only statements that read may run here, and ${inDoubt}.`;
      };
    case "statementKinds":
      return kindsJudge(config);
    case "queryRegex":
      return regexJudge(config);
    case "requirePredicate":
      return predicateJudge(config);
    default:
      return unreachable(config);
  }
}

const inDoubt = "engines may read this text in different ways";

function kindsJudge({ allow, deny }: Extract<Judging, { type: "statementKinds" }>): Judge {
  const allowed = new Set<string>(allow);
  const forbidden = new Set<string>(deny);
  return ({ statement }) => {
    const kinds = kindsOf(statement);
    if (kinds === undefined) {
      return "Only known kinds of statements may run here, and what this one does is not known.";
    }
    const wrong = kinds.find((kind) =>
      allow === undefined ? forbidden.has(kind) : !allowed.has(kind),
    );
    if (wrong === undefined) return undefined;
    return wrong === kinds[0]
      ? `Statements of the kind ${wrong} may not run here.`
      : `Statements of the kind ${wrong} may not run here, and this one may hold one.`;
  };
}

/** UTF-16 units that are searched. */
const searchedMax = 65_536;

function regexJudge(config: Extract<Judging, { type: "queryRegex" }>): Judge {
  const regex = compileRegex(config.regex, { ignoreCase: !config.caseSensitive });
  if (!regex.ok) throw new Error(`a pattern passed the check: ${regex.error.reason}`);
  return ({ sql }) => {
    if (sql.length > searchedMax)
      return "The text of this statement is too long for a guard to search.";
    return regex.value.test(sql) ? "The text of this statement is not allowed here." : undefined;
  };
}

function predicateJudge(config: Extract<Judging, { type: "requirePredicate" }>): Judge {
  const isBare = predicateRule(config);
  const { columns } = config;
  return function* (query): Steps<string | undefined> {
    const { statement, session, sql } = query;
    if (!rowKinds.has(statement.kind) && statement.doubt === undefined) return undefined;
    const reading = tablesReading(session.dialect);
    if (sql.length > longTextUnits) yield* reading.ahead(sql);
    const isKnown = statement.kind !== "unknown" && statement.doubt === undefined;
    const reads = isKnown ? reading(sql) : undefined;
    if (reads === undefined) {
      return "Some tables are read here with a condition only, and this statement is not understood.";
    }
    const bare = reads.find(isBare);
    if (bare === undefined) return undefined;
    const asked = columns === undefined ? "" : ` on ${columns.join(" or ")}`;
    return `The table ${bare.path.join(".")} is read here with a condition${asked} only: the WHERE beside it must hold one, in each branch of an OR.`;
  };
}
