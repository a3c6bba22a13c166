/** A tool that is offered to a policy, in the shape of the OpenAI API. Chat templates print it. */
export interface ToolSchema {
  readonly type: 'function';
  readonly function: {
    readonly name: string;
    readonly description?: string | undefined;
    /** JSON Schema of the arguments, an object. */
    readonly parameters?: Readonly<Record<string, unknown>> | undefined;
  };
}
