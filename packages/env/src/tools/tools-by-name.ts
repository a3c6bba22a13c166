import { type Environment, EnvironmentError, isRecord, OptionsError, type State } from '@rlp/core';
import type { Tool } from './tool.ts';

/** The tools by name. Throws an `OptionsError` if there is none, or two have one name. */
export function toolsByName<S extends State>(
  owner: string,
  tools: readonly Tool<S>[],
): ReadonlyMap<string, Tool<S>> {
  checkTools(owner, tools);
  const names = tools.map((tool) => tool.schema.function.name);
  const twice = names.find((name, index) => names.indexOf(name) < index);
  if (tools.length === 0) throw new OptionsError(owner, ['tools: expected at least one']);
  if (twice !== undefined) throw new OptionsError(owner, [`tools: two have the name "${twice}"`]);
  return new Map(tools.map((tool) => [tool.schema.function.name, tool]));
}

/** Throws an `OptionsError` for what is not a list of tools. */
function checkTools(owner: string, tools: unknown): asserts tools is readonly Tool[] {
  if (!Array.isArray(tools)) {
    throw new OptionsError(owner, ['tools: expected a list of tools, such as [weather]']);
  }
  const strange = tools.findIndex(
    (tool) => typeof tool?.run !== 'function' || !isRecord(tool?.schema?.function),
  );
  if (strange < 0) return;
  throw new OptionsError(owner, [
    `tools.${strange}: expected a tool; tool({ … }) makes one, toolsFromAiSdk and toolsFromMcp make lists`,
  ]);
}

/** Throws an `EnvironmentError` if the environment within a layer has a tool with a name that the layer gives to one of its tools. */
export function requireOtherNames<S extends State>(
  owner: string,
  names: readonly string[],
  environment: Environment<S, never>,
  state: S,
): void {
  const taken = environment.tools?.(state).find((tool) => names.includes(tool.function.name));
  if (taken === undefined) return;
  throw new EnvironmentError(
    `${owner}: the environment within has a tool "${taken.function.name}" already; rename one of the two`,
  );
}
