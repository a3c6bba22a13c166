/** Comments of options, as they stand above the fields of zod schemas in the source. */
import ts from '../typescript.mjs';

/** The comment above a property's first declaration that has one, without its delimiters. */
function commentOf(property: ts.Symbol): string | undefined {
  for (const declaration of property.declarations ?? []) {
    const comment = ts.getJSDocCommentsAndTags(declaration).filter(ts.isJSDoc).at(-1);
    if (comment !== undefined)
      return comment
        .getText()
        .replace(/^\/\*\*|\*\/$/g, '')
        .replace(/^\s*\* ?/gm, ' ')
        .trim();
  }
  return;
}

/** A type's arguments in the order in which a declaration writes them. */
function argumentsOf(
  type: ts.Type,
  node: ts.NodeWithTypeArguments,
  checker: ts.TypeChecker,
): readonly ts.Type[] {
  const name = ts.isTypeReferenceNode(node) ? node.typeName.getText().split('.').at(-1) : undefined;
  if (type.aliasSymbol !== undefined && type.aliasSymbol.name === name) return type.aliasTypeArguments ?? [];
  const isReference = ((type as ts.ObjectType).objectFlags & ts.ObjectFlags.Reference) !== 0;
  return isReference ? checker.getTypeArguments(type as ts.TypeReference) : [];
}

/** Text that goes into a declaration, and where. */
interface Insertion {
  readonly at: number;
  readonly text: string;
}

function inMembers(node: ts.TypeLiteralNode, type: ts.Type, checker: ts.TypeChecker): Insertion[] {
  return node.members.filter(ts.isPropertySignature).flatMap((member) => {
    const name =
      ts.isIdentifier(member.name) || ts.isStringLiteral(member.name) ? member.name.text : undefined;
    const property = name === undefined ? undefined : type.getProperty(name);
    if (property === undefined) return [];
    const comment = ts.getJSDocCommentsAndTags(member).length > 0 ? undefined : commentOf(property);
    const own =
      comment === undefined
        ? []
        : [{ at: member.getStart(), text: `/** ${comment.replace(/\s+/g, ' ')} */ ` }];
    const below =
      member.type === undefined ? [] : insertions(member.type, checker.getTypeOfSymbol(property), checker);
    return [...own, ...below];
  });
}

/** Written parts of a union, each with the type that has its fields. */
function inUnion(node: ts.UnionTypeNode, type: ts.Type, checker: ts.TypeChecker): Insertion[] {
  const parts = type.isUnion() ? type.types : [type];
  return node.types.filter(ts.isTypeLiteralNode).flatMap((written) => {
    const names = written.members.flatMap(({ name }) => name?.getText() ?? []);
    const part = parts.find((one) => names.every((name) => one.getProperty(name) !== undefined));
    return part === undefined ? [] : inMembers(written, part, checker);
  });
}

/** Walks a written type beside the type that the compiler sees, and finds comments that the writing lacks. */
function insertions(node: ts.TypeNode, type: ts.Type, checker: ts.TypeChecker): Insertion[] {
  if (ts.isTypeLiteralNode(node)) return inMembers(node, type, checker);
  if (ts.isUnionTypeNode(node)) return inUnion(node, type, checker);
  if (ts.isTypeOperatorNode(node) || ts.isParenthesizedTypeNode(node))
    return insertions(node.type, type, checker);
  const parts = ts.isTupleTypeNode(node)
    ? node.elements
    : ts.isTypeReferenceNode(node) || ts.isImportTypeNode(node)
      ? node.typeArguments
      : undefined;
  if (parts === undefined) return [];
  const types = ts.isTupleTypeNode(node)
    ? checker.getTypeArguments(type as ts.TypeReference)
    : argumentsOf(type, node as ts.NodeWithTypeArguments, checker);
  return parts.flatMap((part, k) => (types[k] === undefined ? [] : insertions(part, types[k], checker)));
}

/** Variables at the top of a file whose type is inferred, by name. */
function inferredVariables(file: ts.SourceFile): Map<string, ts.VariableDeclaration> {
  const declarations = file.statements
    .filter(ts.isVariableStatement)
    .flatMap(({ declarationList }) => [...declarationList.declarations]);
  return new Map(
    declarations.flatMap((declaration) =>
      declaration.type === undefined && ts.isIdentifier(declaration.name)
        ? [[declaration.name.text, declaration]]
        : [],
    ),
  );
}

/**
 * A declaration file with the comments that stand above the fields of its source's schemas.
 *
 * The compiler leaves out comments inside types that it infers. They go on the line of their field, so that lines stay those
 * of the declaration map.
 */
export function withFieldComments(
  declaration: string,
  source: ts.SourceFile,
  checker: ts.TypeChecker,
): string {
  const variables = inferredVariables(source);
  const file = ts.createSourceFile('declaration.d.ts', declaration, ts.ScriptTarget.ES2023, true);
  const found = file.statements.filter(ts.isVariableStatement).flatMap(({ declarationList }) =>
    declarationList.declarations.flatMap(({ name, type }) => {
      const variable = variables.get(name.getText());
      return variable === undefined || type === undefined || !/\bz\.Zod/.test(type.getText(file))
        ? []
        : insertions(type, checker.getTypeAtLocation(variable), checker);
    }),
  );
  let [placed, from] = ['', 0];
  for (const { at, text } of found.sort((a, b) => a.at - b.at)) {
    placed += declaration.slice(from, at) + text;
    from = at;
  }
  return placed + declaration.slice(from);
}
