/**
 * Fails on files and functions too large to hold in the head. Only lines with code count: nobody saves lines by deleting
 * documentation. A function's count includes the functions inside it. Tests may have functions of any size.
 *
 * Fails also on parameters of exported functions that are not called `options` and `inputs` after their types.
 */
import { readFileSync } from 'node:fs';
import ts from './typescript.mjs';
import { conclude, isTest, sourceFiles } from './workspace.ts';

const limits = { file: { warn: 250, fail: 400 }, function: { warn: 40, fail: 60 } } as const;

/** Lines that hold more than a comment, as a running count: `count[n]` of them come before line `n`. */
function codeLines(text: string): number[] {
  const count = [0];
  let comment = false;
  for (const line of text.split('\n')) {
    const words = line.trim();
    comment ||= words.startsWith('/*');
    count.push(count.at(-1)! + (comment || words === '' || words.startsWith('//') ? 0 : 1));
    comment &&= !words.endsWith('*/');
  }
  return count;
}

interface Measured {
  readonly kind: keyof typeof limits;
  readonly where: string;
  readonly lines: number;
}

function nameOf(node: ts.SignatureDeclaration, source: ts.SourceFile): string {
  const named = node.name ?? (ts.isVariableDeclaration(node.parent) ? node.parent.name : undefined);
  return named?.getText(source) ?? (ts.isConstructorDeclaration(node) ? 'constructor' : 'anonymous function');
}

function functionsIn(source: ts.SourceFile, path: string, count: readonly number[]): Measured[] {
  const measured: Measured[] = [];
  const visit = (node: ts.Node): void => {
    if (ts.isFunctionLike(node) && 'body' in node && node.body !== undefined) {
      const first = source.getLineAndCharacterOfPosition(node.getStart(source)).line;
      const last = source.getLineAndCharacterOfPosition(node.getEnd()).line;
      const lines = count[last + 1]! - count[first]!;
      measured.push({ kind: 'function', where: `${path}:${first + 1} ${nameOf(node, source)}`, lines });
    }
    ts.forEachChild(node, visit);
  };
  visit(source);
  return measured;
}

interface Findings {
  readonly measured: readonly Measured[];
  readonly misnamed: readonly string[];
}

function examine(path: string): Findings {
  const text = readFileSync(path, 'utf8');
  const count = codeLines(text);
  const file: Measured = { kind: 'file', where: path, lines: count.at(-1)! };
  if (isTest(path)) return { measured: [file], misnamed: [] };
  const source = ts.createSourceFile(path, text, ts.ScriptTarget.Latest, true);
  return {
    measured: [file, ...functionsIn(source, path, count)],
    misnamed: path.startsWith('packages/') ? misnamedParameters(source, path) : [],
  };
}

/** Parameters of exported functions whose type is `…Options` or `…Inputs`, and whose name is another. */
function misnamedParameters(source: ts.SourceFile, path: string): string[] {
  const found: string[] = [];
  const visit = (node: ts.Node): void => {
    if (ts.isBlock(node) || (ts.isMethodDeclaration(node) && ts.isPrivateIdentifier(node.name))) return;
    if (
      ts.isParameter(node) &&
      ts.isIdentifier(node.name) &&
      node.type &&
      ts.isTypeReferenceNode(node.type)
    ) {
      const wanted = /(Options|Inputs)$/.exec(node.type.typeName.getText(source))?.[1]?.toLowerCase();
      if (wanted === undefined || wanted === node.name.text) return;
      found.push(`${path}: parameter ${node.getText(source)}: call it ${wanted}`);
    }
    ts.forEachChild(node, visit);
  };
  const isExported = (node: ts.Statement) => ts.canHaveModifiers(node) && ts.getModifiers(node)?.[0]?.kind;
  for (const node of source.statements) if (isExported(node) === ts.SyntaxKind.ExportKeyword) visit(node);
  return found;
}

const files = sourceFiles();
const findings = files.map(examine);
const measured = findings.flatMap((found) => found.measured);
const exceeding = (bound: 'warn' | 'fail') =>
  measured.filter(({ kind, lines }) => lines > limits[kind][bound]).sort((a, b) => b.lines - a.lines);

const tooLarge = new Set(exceeding('fail'));
for (const { kind, where, lines } of exceeding('warn').filter((found) => !tooLarge.has(found))) {
  console.log(
    `warning: ${where}: ${lines} lines of code, a ${kind} should have at most ${limits[kind].warn}`,
  );
}
conclude(
  [
    ...findings.flatMap(({ misnamed }) => misnamed),
    ...[...tooLarge].map(
      ({ kind, where, lines }) => `${where}: ${lines} lines of code, a ${kind} may have ${limits[kind].fail}`,
    ),
  ],
  `${files.length} files within their limits`,
);
