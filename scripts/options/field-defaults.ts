/** Defaults of schema fields, read from the source: the argument of `.default(…)`. */
import ts from '../typescript.mjs';

function literalText(type: ts.Type, checker: ts.TypeChecker): string | undefined {
  if (type.isStringLiteral()) return `'${type.value}'`;
  if (type.isNumberLiteral()) return String(type.value);
  return type.flags & ts.TypeFlags.BooleanLiteral ? checker.typeToString(type) : undefined;
}

/** The innermost call chain of a field's schema: its own, or that of the constant it names. */
function schemaOf(declaration: ts.Declaration, checker: ts.TypeChecker): ts.Expression | undefined {
  if (ts.isPropertyAssignment(declaration)) return declaration.initializer;
  if (!ts.isShorthandPropertyAssignment(declaration)) return;
  const named = checker.getShorthandAssignmentValueSymbol(declaration)?.valueDeclaration;
  return named !== undefined && ts.isVariableDeclaration(named) ? named.initializer : undefined;
}

/** A field's default as documents write it, if its schema gives one that is a literal. */
export function defaultOf(property: ts.Symbol, checker: ts.TypeChecker): string | undefined {
  const [declaration] = property.declarations ?? [];
  let chain = declaration === undefined ? undefined : schemaOf(declaration, checker);
  while (chain !== undefined && ts.isCallExpression(chain)) {
    const { expression } = chain;
    if (!ts.isPropertyAccessExpression(expression)) return;
    const [given] = chain.arguments;
    if (expression.name.text === 'default' && given !== undefined)
      return literalText(checker.getTypeAtLocation(given), checker);
    chain = expression.expression;
  }
  return;
}

/** Whether a sentence states a default, `Default 8.` or ``Default `'keep'`.`` */
export function states(text: string, fallback: string): boolean {
  const plain = text
    .replaceAll('`', '')
    .replace(/\s+/g, ' ')
    .replace(/(?<=\d)[\s_,\u202f\u00a0](?=\d{3})/g, '');
  const at = plain.lastIndexOf(`Default ${fallback}`);
  return at !== -1 && !/^[\w']|^\.\d/.test(plain.slice(at + `Default ${fallback}`.length));
}
