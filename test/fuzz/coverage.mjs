/**
 * Which branches of a bundle's modules were taken: V8 counts blocks while the program runs, and TypeScript's parser says
 * what the branches are. A branch is an arm of an `if` or `?:`, what stands behind `&&`, `||` and `??`, a case, a catch.
 */
import { Session } from "node:inspector/promises";
import { readFileSync } from "node:fs";
import { pathToFileURL } from "node:url";
import ts from "typescript";

/** Counts from here on. Call it before the bundle is loaded. */
export async function startCoverage() {
  const session = new Session();
  session.connect();
  await session.post("Profiler.enable");
  await session.post("Profiler.startPreciseCoverage", { callCount: true, detailed: true });
  return session;
}

/**
 * Of the bundle at `file`, whose modules begin with a comment as esbuild writes it: `{module, taken, all}` for each whose
 * path matches `wanted`.
 */
export async function branchesOf(session, file, wanted) {
  const { result } = await session.post("Profiler.takePreciseCoverage");
  const found = result.find(({ url }) => url === pathToFileURL(file).href);
  if (found === undefined) throw new Error("nothing of the bundle was counted");
  const text = readFileSync(file, "utf8");
  const modules = [...text.matchAll(/^ *\/\/ (\S+\.(?:ts|js|mjs))$/gm)].map((match) => ({
    module: match[1].replace(/^(?:\.\.\/)+/, ""),
    from: match.index,
  }));
  // The innermost range is the last one that begins before a place and ends behind it.
  const ranges = found.functions
    .flatMap((one) => one.ranges)
    .toSorted((a, b) => a.startOffset - b.startOffset || b.endOffset - a.endOffset);
  const sums = new Map();
  for (const at of armsOf(text)) {
    const owner = modules.findLast(({ from }) => from <= at)?.module;
    if (owner === undefined || !wanted.test(owner)) continue;
    const sum = sums.get(owner) ?? { module: owner, taken: 0, all: 0 };
    sum.all += 1;
    const within = ranges.filter(
      ({ startOffset, endOffset }) => startOffset <= at && at < endOffset,
    );
    if ((within.at(-1)?.count ?? 0) > 0) sum.taken += 1;
    sums.set(owner, sum);
  }
  return [...sums.values()];
}

/** How many were taken, of all and of each, as the page of evidence reads it. */
export function sayBranches(modules) {
  if (modules.length === 0) throw new Error("no module is of those whose branches are counted");
  const [taken, all] = ["taken", "all"].map((key) =>
    modules.reduce((sum, one) => sum + one[key], 0),
  );
  console.log(`ok  branches of ${modules.length} readers: ${taken} of ${all} taken`);
  for (const { module, taken: own, all: of } of modules) {
    console.log(`      ${module}: ${own} of ${of}`);
  }
}

/** Where each branch begins. */
function armsOf(text) {
  const source = ts.createSourceFile("a.js", text, ts.ScriptTarget.Latest, true, ts.ScriptKind.JS);
  const arms = [];
  const add = (node) => node !== undefined && arms.push(node.getStart(source));
  const behind = new Set([
    ts.SyntaxKind.AmpersandAmpersandToken,
    ts.SyntaxKind.BarBarToken,
    ts.SyntaxKind.QuestionQuestionToken,
  ]);
  const visit = (node) => {
    if (ts.isIfStatement(node)) {
      add(node.thenStatement);
      add(node.elseStatement);
    }
    if (ts.isConditionalExpression(node)) {
      add(node.whenTrue);
      add(node.whenFalse);
    }
    if (ts.isBinaryExpression(node) && behind.has(node.operatorToken.kind)) add(node.right);
    if (ts.isCaseOrDefaultClause(node)) add(node.statements[0]);
    if (ts.isCatchClause(node)) add(node.block.statements[0]);
    ts.forEachChild(node, visit);
  };
  visit(source);
  return arms;
}
