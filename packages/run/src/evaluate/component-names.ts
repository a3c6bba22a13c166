/** Names of the components that any of the scored has, in the order in which they occur. */
export function componentNames(scored: readonly { readonly components: object }[]): readonly string[] {
  return [...new Set(scored.flatMap(({ components }) => Object.keys(components)))];
}
