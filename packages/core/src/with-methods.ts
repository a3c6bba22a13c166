import type * as z from 'zod';

/**
 * Refuses a part that lacks a method that it will be asked for.
 *
 * @param schema - Says what the part is. Its own problem comes alone.
 * @param remedy - What has these methods, such as `'extend BaseEnvironment of @rlp/env'`.
 */
export function withMethods<Value extends object>(
  schema: z.ZodType<Value>,
  methods: readonly (keyof Value & string)[],
  remedy: string,
): z.ZodType<Value> {
  return schema.superRefine((value, context) => {
    if (!schema.safeParse(value).success) return;
    const missing = methods.filter((method) => typeof value[method] !== 'function');
    if (missing.length === 0) return;
    context.addIssue({
      code: 'custom',
      message: `must have the methods ${methods.join(', ')}, got none named ${missing.join(', ')}; ${remedy}`,
    });
  });
}
