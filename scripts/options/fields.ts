/** Fields of options types, as an editor sees them: with or without a sentence, and with the default of their schema. */
import ts from '../typescript.mjs';
import { defaultOf } from './field-defaults.ts';

/** One field of an options type. */
export interface Field {
  /** From the type on, such as `RolloutOptions.sampling.topP`. */
  readonly path: string;
  /** What the hover says. Empty if nothing. */
  readonly text: string;
  /** As it should stand in the hover, if the schema gives one that is a literal. */
  readonly fallback: string | undefined;
}

/** Types nested deeper are not counted. */
const deepest = 4;

function isForeign(symbol: ts.Symbol): boolean {
  const declarations = symbol.declarations ?? [];
  return (
    declarations.length > 0 &&
    declarations.every((declaration) => declaration.getSourceFile().fileName.includes('/node_modules/'))
  );
}

/** Whether a type is an interface that a schema gives its fields. */
function isOfSchema({ symbol }: ts.Type): boolean {
  return (symbol?.declarations ?? []).some(
    (declaration) =>
      ts.isInterfaceDeclaration(declaration) &&
      /\bz\.(?:in|out)put</.test(declaration.heritageClauses?.[0]?.getText() ?? ''),
  );
}

/** Object types inside a type that are options, too: written in place, or named. */
function nestedTypes(type: ts.Type, checker: ts.TypeChecker): readonly ts.Type[] {
  if (type.isUnion()) return type.types.flatMap((part) => nestedTypes(part, checker));
  if (checker.isArrayType(type))
    return checker.getTypeArguments(type as ts.TypeReference).flatMap((part) => nestedTypes(part, checker));
  const isOwn = type.symbol?.name === '__type' || type.symbol?.name === '__object' || isOfSchema(type);
  const isObject = (type.flags & ts.TypeFlags.Object) !== 0 && type.getCallSignatures().length === 0;
  return isObject && isOwn && checker.getIndexInfosOfType(type).length === 0 ? [type] : [];
}

/** Fields of a type and of the object types inside it. */
export function fieldsOf(type: ts.Type, path: string, checker: ts.TypeChecker, depth = 0): Field[] {
  const parts = type.isUnion() ? type.types : [type];
  const properties = parts.flatMap((part) =>
    (part.flags & ts.TypeFlags.Object) === 0 && !part.isIntersection() ? [] : part.getProperties(),
  );
  return properties
    .filter((property) => !isForeign(property))
    .flatMap((property) => {
      const text = ts.displayPartsToString(property.getDocumentationComment(checker)).trim();
      const own: Field = { path: `${path}.${property.name}`, text, fallback: defaultOf(property, checker) };
      // A key of a record is not declared. Only what it holds is options.
      const fields = property.declarations === undefined ? [] : [own];
      if (depth === deepest) return fields;
      const nested = nestedTypes(checker.getTypeOfSymbol(property), checker);
      return [...fields, ...nested.flatMap((inner) => fieldsOf(inner, own.path, checker, depth + 1))];
    });
}
