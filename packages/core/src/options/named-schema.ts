import type * as z from 'zod';

/** A schema whose input has the name of an interface. Hovers and messages of the compiler then say the name. */
export interface NamedSchema<Input, Output> extends z.ZodType<Output, Input> {}
