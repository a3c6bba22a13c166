import type { DataType } from './data-type.ts';

/** A floating-point attribute. A plain number is an integer attribute. */
export interface FloatAttribute {
  readonly float: number;
}

/** A float tensor with one element. It takes the element type of the graph value that it fills. */
export interface TensorAttribute {
  readonly type: DataType;
  readonly tensor: number;
}

/** The value of a node's attribute. Numbers are integers; write a float as `{ float: 0.5 }`. */
export type Attribute =
  | number
  | string
  | FloatAttribute
  | TensorAttribute
  | readonly number[]
  | readonly string[];

/** A node's attributes by name. */
export type Attributes = Readonly<Record<string, Attribute>>;
