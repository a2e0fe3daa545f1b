/** Small wrongs in a source, one at a time: what a test should notice. Found by TypeScript's own parser. */
import ts from "typescript";

/** Of lists: what holds for one, and what for all. */
const quantified = new Map([
  ["some", "every"],
  ["every", "some"],
]);
const swapped = new Map([
  ["===", "!=="],
  ["!==", "==="],
  ["<", "<="],
  ["<=", "<"],
  [">", ">="],
  [">=", ">"],
  ["&&", "||"],
  ["||", "&&"],
  ["+", "-"],
  ["-", "+"],
]);

/** Each is `{from, to, text, line, what}`: the characters that are replaced, and by what. */
export function mutantsOf(source) {
  const file = ts.createSourceFile("a.ts", source, ts.ScriptTarget.Latest, true);
  const found = [];
  const add = (node, text, what) => {
    const from = node.getStart(file);
    const line = file.getLineAndCharacterOfPosition(from).line + 1;
    found.push({ from, to: node.end, text, line, what });
  };
  const visit = (node) => {
    // Types, imports and what a field is called decide nothing at run time.
    if (ts.isTypeNode(node) || ts.isImportDeclaration(node)) return;
    if (ts.isInterfaceDeclaration(node) || ts.isTypeAliasDeclaration(node)) return;
    wrongs(node, file, add);
    ts.forEachChild(node, visit);
  };
  visit(file);
  return found;
}

export function mutated(source, { from, to, text }) {
  return source.slice(0, from) + text + source.slice(to);
}

function wrongs(node, file, add) {
  const said = (one) => one.getText(file);
  if (ts.isBinaryExpression(node)) {
    const sign = said(node.operatorToken);
    const other = swapped.get(sign);
    if (other !== undefined) add(node.operatorToken, other, `${sign} becomes ${other}`);
    if (sign === "??") add(node, said(node.left), "what stands after ?? is gone");
  }
  if (ts.isIfStatement(node)) {
    add(node.expression, "true", `if (${said(node.expression)}) always`);
    add(node.expression, "false", `if (${said(node.expression)}) never`);
  }
  if (ts.isConditionalExpression(node)) {
    add(node.condition, "true", `${said(node.condition)} ? always`);
    add(node.condition, "false", `${said(node.condition)} ? never`);
  }
  if (ts.isPrefixUnaryExpression(node) && node.operator === ts.SyntaxKind.ExclamationToken) {
    add(node, said(node.operand), `${said(node)} without its !`);
  }
  if (node.kind === ts.SyntaxKind.TrueKeyword && !isLiteralType(node)) {
    add(node, "false", "true becomes false");
  }
  if (node.kind === ts.SyntaxKind.FalseKeyword && !isLiteralType(node)) {
    add(node, "true", "false becomes true");
  }
  if (ts.isExpressionStatement(node) && ts.isCallExpression(node.expression)) {
    add(node, ";", `${said(node)} is gone`);
  }
  if (ts.isCallExpression(node) && ts.isPropertyAccessExpression(node.expression)) {
    const other = quantified.get(node.expression.name.text);
    if (other !== undefined)
      add(node.expression.name, other, `.${said(node.expression.name)} becomes .${other}`);
    if (node.expression.name.text === "filter") {
      add(node, said(node.expression.expression), `${said(node)} keeps everything`);
    }
  }
}

function isLiteralType(node) {
  return ts.isLiteralTypeNode(node.parent);
}
