/** Whether two answers to a statement say the same to a client, and what that leaves out. */
import type { Answer } from "./postgresWays.ts";

/** `refused`: the gateway says by a standard code that it can not, where the server could. */
export type Compared =
  | { readonly kind: "equal" }
  | { readonly kind: "refused"; readonly reason: string }
  | { readonly kind: "different"; readonly how: string };

/** Compares what the server said with what came through the gateway. */
export function compared(direct: Answer, through: Answer): Compared {
  const refused = refusalOf(direct, through);
  if (refused !== undefined) return { kind: "refused", reason: refused };
  const found = differencesOf(direct, through).filter(([, one, other]) => one !== other);
  if (found.length === 0) return { kind: "equal" };
  const lines = found.map(([what, one, other]) => `  ${what}: ${one} direct, ${other} through`);
  return { kind: "different", how: lines.join("\n") };
}

/** Codes that say what is not possible here: a feature, a value, a type, a privilege. */
const refusing: ReadonlySet<string> = new Set([
  "0A000",
  "22003",
  "22008",
  "22021",
  // A value of a setting that no client of the gateway may choose, and an isolation chosen behind the first query.
  "22023",
  "25001",
  "22P02",
  "22P03",
  "42501",
  "42704",
  "42883",
  "42P18",
]);

/** A text that can not be read, a place without a value: the server reads all of a message before it runs any of it. */
const early: ReadonlySet<string> = new Set(["42601", "42P02"]);

/** What the server says only of a text that it can read, and the gateway before it asks: of the transaction, of a table. */
const first: ReadonlySet<string> = new Set(["25P02", "25006", "42P01"]);

function refusalOf({ error: own }: Answer, { error }: Answer): string | undefined {
  const code = error?.["C"];
  if (code === undefined || code === own?.["C"]) return undefined;
  const late = early.has(own?.["C"] ?? "");
  const known = refusing.has(code) || late || (own !== undefined && first.has(code));
  return known ? `${code} ${error?.["M"] ?? ""}` : undefined;
}

type Side = string | undefined;

function differencesOf(direct: Answer, through: Answer): (readonly [string, Side, Side])[] {
  // Where the gateway finds the fault itself, its message is another one, with no hint.
  const same = direct.error?.["M"] === through.error?.["M"];
  const told = same && direct.error?.["C"] !== "22023";
  const fields = (told ? "CDHscdnt" : "C").split("").map((field) => {
    const [one, other] = [direct.error?.[field], through.error?.[field]];
    return [`error ${field}`, withoutId(one), withoutId(other)] as const;
  });
  const outcome: (readonly [string, Side, Side])[] = [
    ...(early.has(direct.error?.["C"] ?? "")
      ? []
      : [["tags", direct.tags.join(), through.tags.join()] as const]),
    ["status", direct.status, through.status],
    ...fields,
  ];
  // How much of a result comes before its error is the time's to decide.
  if (direct.error !== undefined && through.error !== undefined) return outcome;
  return [
    ...outcome,
    ["names", namesOf(direct), namesOf(through)],
    ...direct.columns.map(({ name, type }, index) => {
      const shown = through.columns[index]?.type;
      return [`type of ${name}`, `${type}`, `${standsFor(type, shown) ? type : shown}`] as const;
    }),
    ["rows", cellsOf(direct, direct, through), cellsOf(through, direct, through)],
  ];
}

/** A sequence takes nothing back, also not what a statement took that was refused here and not there. */
function withoutId(detail: string | undefined): string | undefined {
  return detail?.replace(/^Failing row contains \(\d+,/, "Failing row contains (…,");
}

function namesOf({ columns }: Answer): string {
  return JSON.stringify(columns.map(({ name }) => name));
}

/** Without the binary cells of columns that have another type on each side. */
function cellsOf({ rows }: Answer, direct: Answer, through: Answer): string {
  const skipped = direct.columns.map(
    ({ type, binary }, index) => binary && through.columns[index]?.type !== type,
  );
  return JSON.stringify(rows.map((row) => row.filter((_, index) => skipped[index] !== true)));
}

const text = 25;
const texts = 1009;
const numeric = 1700;

/** The first number of a type that users made (FirstNormalObjectId). */
const ownTypes = 16_384;

/** Types that go through as another one which says the same of every value. */
const standIns: Readonly<Record<number, readonly number[]>> = {
  /** An oid that a client named as the type of a parameter. */
  26: [20],
  1028: [1016],
  /** jsonb as json, and their arrays. */
  3802: [114],
  3807: [199],
};

function standsFor(type: number, shown: number | undefined): boolean {
  if (shown === undefined) return false;
  // The same type has another number in each database that made it.
  if (type >= ownTypes && shown >= ownTypes) return true;
  // Nobody reads a number as a text.
  if (type === numeric) return false;
  return shown === text || shown === texts || (standIns[type]?.includes(shown) ?? false);
}
