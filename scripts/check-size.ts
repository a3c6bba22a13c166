/**
 * Fails on files and functions too large to hold in the head. Only lines with code count: nobody saves lines by deleting
 * documentation. A function's count includes the functions inside it. Tests may have functions of any size.
 */
import { readFileSync } from 'node:fs';
import ts from 'typescript';
import { conclude, isTest, sourceFiles } from './workspace.ts';

const limits = { file: { warn: 250, fail: 400 }, function: { warn: 40, fail: 60 } } as const;

/** Lines that hold at least one token, as a running count: `count[n]` of them come before line `n`. */
function codeLines(source: ts.SourceFile): number[] {
  const lines = new Set<number>();
  const visit = (node: ts.Node): void => {
    if (node.kind >= ts.SyntaxKind.FirstJSDocNode && node.kind <= ts.SyntaxKind.LastJSDocNode) return;
    const children = node.getChildren(source);
    if (children.length === 0 && node.getWidth(source) > 0) {
      const first = source.getLineAndCharacterOfPosition(node.getStart(source)).line;
      const last = source.getLineAndCharacterOfPosition(node.getEnd()).line;
      for (let line = first; line <= last; line++) lines.add(line);
    }
    children.forEach(visit);
  };
  visit(source);
  const count = [0];
  for (let line = 0; line < source.getLineStarts().length; line++) {
    count.push(count[line]! + (lines.has(line) ? 1 : 0));
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

function measure(path: string): Measured[] {
  const source = ts.createSourceFile(path, readFileSync(path, 'utf8'), ts.ScriptTarget.Latest, true);
  const count = codeLines(source);
  const measured: Measured[] = [{ kind: 'file', where: path, lines: count.at(-1)! }];
  const visit = (node: ts.Node): void => {
    if (ts.isFunctionLike(node) && 'body' in node && node.body !== undefined) {
      const first = source.getLineAndCharacterOfPosition(node.getStart(source)).line;
      const last = source.getLineAndCharacterOfPosition(node.getEnd()).line;
      const lines = count[last + 1]! - count[first]!;
      measured.push({ kind: 'function', where: `${path}:${first + 1} ${nameOf(node, source)}`, lines });
    }
    ts.forEachChild(node, visit);
  };
  if (!isTest(path)) visit(source);
  return measured;
}

const files = sourceFiles();
const measured = files.flatMap(measure);
const exceeding = (bound: 'warn' | 'fail') =>
  measured.filter(({ kind, lines }) => lines > limits[kind][bound]).sort((a, b) => b.lines - a.lines);

const tooLarge = new Set(exceeding('fail'));
for (const { kind, where, lines } of exceeding('warn').filter((found) => !tooLarge.has(found))) {
  console.log(
    `warning: ${where}: ${lines} lines of code, a ${kind} should have at most ${limits[kind].warn}`,
  );
}
conclude(
  [...tooLarge].map(
    ({ kind, where, lines }) => `${where}: ${lines} lines of code, a ${kind} may have ${limits[kind].fail}`,
  ),
  `${files.length} files within their limits`,
);
