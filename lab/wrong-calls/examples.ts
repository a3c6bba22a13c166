/** Calls of exported functions and classes that fit their types, as JavaScript. They are built from the types alone. */
import ts from '../../scripts/typescript.mjs';

/** Arguments that fit a signature. */
export interface ExampleCall {
  /** JavaScript of the list of arguments. `made` makes what has no literal. */
  readonly text: string;
  /** Paths of arguments and fields that may be left out, such as `1.discount`. */
  readonly optional: readonly string[];
}

/** Deeper than this, fields that may be left out are. */
const deepest = 5;

const nullish = ts.TypeFlags.Undefined | ts.TypeFlags.Null | ts.TypeFlags.Void;

/** Values of types of the platform. */
const known: Readonly<Record<string, string>> = {
  Map: 'new Map()',
  ReadonlyMap: 'new Map()',
  Set: 'new Set()',
  ReadonlySet: 'new Set()',
  Promise: 'Promise.resolve()',
  Date: 'new Date(0)',
  RegExp: '/a/',
  Error: "new Error('example')",
  URL: "new URL('http://127.0.0.1:9')",
  Request: "new Request('http://127.0.0.1:9')",
  Response: 'new Response()',
  Headers: 'new Headers()',
  AbortSignal: 'new AbortController().signal',
  ArrayBuffer: 'new ArrayBuffer(8)',
  Buffer: 'Buffer.alloc(8)',
  Uint8Array: 'new Uint8Array(2)',
  Int8Array: 'new Int8Array(2)',
  Uint16Array: 'new Uint16Array(2)',
  Int32Array: 'new Int32Array(2)',
  Float32Array: 'new Float32Array(2)',
  Float64Array: 'new Float64Array(2)',
  BigInt64Array: 'new BigInt64Array(2)',
  Variable: 'made.Variable()',
  TensorOps: 'made.TensorOps()',
  RandomStream: 'made.RandomStream()',
};

interface Place {
  readonly path: string;
  readonly depth: number;
  readonly optional: string[];
}

/** Reads examples off the types of one compilation. */
export class Examples {
  readonly #checker: ts.TypeChecker;

  constructor(checker: ts.TypeChecker) {
    this.#checker = checker;
  }

  /** Undefined if the symbol cannot be called. */
  callOf(symbol: ts.Symbol, at: ts.Node): ExampleCall | undefined {
    const type = this.#checker.getTypeOfSymbolAtLocation(symbol, at);
    const [signature] = [...type.getConstructSignatures(), ...type.getCallSignatures()];
    return signature && this.#callOf(signature, at);
  }

  #callOf(signature: ts.Signature, at: ts.Node): ExampleCall {
    const optional: string[] = [];
    const texts = signature.parameters.map((parameter, index) => {
      const path = String(index);
      if (this.#isOptional(parameter)) optional.push(path);
      const type = this.#checker.getTypeOfSymbolAtLocation(parameter, at);
      const isRest = (parameter.valueDeclaration as ts.ParameterDeclaration | undefined)?.dotDotDotToken;
      const [inner = type] = isRest ? this.#checker.getTypeArguments(type as ts.TypeReference) : [];
      return this.#textOf(inner, { path, depth: 0, optional }, at);
    });
    return { text: `[${texts.join(', ')}]`, optional };
  }

  #isOptional(symbol: ts.Symbol): boolean {
    const declaration = symbol.valueDeclaration as ts.ParameterDeclaration | undefined;
    return (
      (symbol.flags & ts.SymbolFlags.Optional) !== 0 ||
      (declaration !== undefined &&
        ts.isParameter(declaration) &&
        this.#checker.isOptionalParameter(declaration))
    );
  }

  #textOf(given: ts.Type, place: Place, at: ts.Node): string {
    // In this repository a bare type parameter T of a function is a tensor.
    if (given.flags & ts.TypeFlags.TypeParameter && given.symbol.name === 'T') return 'made.Variable()';
    const type = this.#checker.getBaseConstraintOfType(given) ?? given;
    const simple = simpleText(type);
    if (simple !== undefined) return simple;
    if (type.isUnion()) {
      const parts = type.types.filter((part) => (part.flags & nullish) === 0);
      return parts.length === 0 ? 'undefined' : this.#textOf(preferred(parts), place, at);
    }
    const name = type.symbol?.name ?? '';
    if (known[name] !== undefined) return known[name];
    if (this.#checker.isTupleType(type)) {
      const parts = this.#checker.getTypeArguments(type as ts.TypeReference);
      return `[${parts.map((part, k) => this.#textOf(part, below(place, k), at)).join(', ')}]`;
    }
    if (this.#checker.isArrayType(type) || ['ArrayLike', 'Iterable', 'AsyncIterable'].includes(name)) {
      const [element] = this.#checker.getTypeArguments(type as ts.TypeReference);
      const text = element === undefined ? "'a'" : this.#textOf(element, below(place, 0), at);
      return `[${text}, ${text}]`;
    }
    const [call] = type.getCallSignatures();
    if (call !== undefined)
      return `() => (${this.#textOf(call.getReturnType(), { ...below(place, 'returned'), optional: [] }, at)})`;
    if (type.getConstructSignatures().length > 0) return 'class {}';
    if (type.isClass() && type.symbol.name !== '__type') return `made.instance('${name}')`;
    return this.#isForeign(type) ? '{}' : this.#objectText(type, place, at);
  }

  /** Whether a type comes from a library whose values no text can make. */
  #isForeign({ symbol }: ts.Type): boolean {
    const [declaration] = symbol?.declarations ?? [];
    return declaration?.getSourceFile().fileName.includes('/node_modules/') === true;
  }

  #objectText(type: ts.Type, place: Place, at: ts.Node): string {
    if (place.depth > deepest) return '{}';
    const fields = type.getProperties().flatMap((property) => {
      if (property.name.startsWith('__@')) return [];
      const path = `${place.path}.${property.name}`;
      if (this.#isOptional(property)) {
        place.optional.push(path);
        return [];
      }
      const inner = this.#checker.getTypeOfSymbolAtLocation(property, at);
      return [`${JSON.stringify(property.name)}: ${this.#textOf(inner, below(place, property.name), at)}`];
    });
    return `{ ${fields.join(', ')} }`;
  }
}

function below({ path, depth, optional }: Place, key: number | string): Place {
  return { path: `${path}.${key}`, depth: depth + 1, optional };
}

/** Of the parts of a union, a literal or a primitive if there is one. */
function preferred(parts: readonly ts.Type[]): ts.Type {
  return parts.find((part) => simpleText(part) !== undefined) ?? parts[0]!;
}

function simpleText(type: ts.Type): string | undefined {
  if (type.isStringLiteral()) return JSON.stringify(type.value);
  if (type.isNumberLiteral()) return String(type.value);
  const { flags } = type;
  if (flags & ts.TypeFlags.BooleanLike) return 'true';
  if (flags & ts.TypeFlags.NumberLike) return '1';
  if (flags & ts.TypeFlags.StringLike) return "'a'";
  if (flags & ts.TypeFlags.BigIntLike) return '1n';
  if (flags & ts.TypeFlags.ESSymbolLike) return 'Symbol()';
  if (flags & (ts.TypeFlags.Undefined | ts.TypeFlags.Void | ts.TypeFlags.Never)) return 'undefined';
  if (flags & ts.TypeFlags.Null) return 'null';
  if (flags & (ts.TypeFlags.Any | ts.TypeFlags.Unknown | ts.TypeFlags.TypeParameter)) return "'a'";
  return undefined;
}
