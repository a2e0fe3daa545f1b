/**
 * Which of the compiler's lines are about our sources.
 *
 * SST's components are source files and do not meet our flags, so lines about them are left out. A
 * check that leaves things out can go blind: the canary is a file of mistakes that it has to find.
 */

/** Each line is one mistake that only the real types can see. */
export const canary = [
  {
    what: "a misspelt option",
    code: 'export const a = new sst.aws.Function("A", { handler: "x.y", stremaing: true });',
  },
  {
    what: "a wrong value",
    code: 'export const b = new sst.aws.Service("B", { cluster: 5 });',
  },
  {
    what: "an AWS resource",
    code: 'export const c = new aws.lambda.Invocation("C", { input: 5, functionName: "c" });',
  },
  { what: "an output taken for its value", code: "export const d: number = a.url;" },
];

const canaryFile = "infra/canary.ts";
const ours = /^(?:sst\.config\.ts|infra\/[^(]+)\(\d+,\d+\): error /;

/** Errors in `sst.config.ts` and `infra/`. */
export function ownDiagnostics(output) {
  return output.split("\n").filter((line) => ours.test(line) && !line.startsWith(canaryFile));
}

/** What the canary holds and the compiler did not see. */
export function unseen(output) {
  return canary
    .filter((_mistake, index) => !output.includes(`${canaryFile}(${index + 1},`))
    .map(({ what }) => what);
}
