import protobuf from 'protobufjs/minimal.js';

type Writer = protobuf.Writer;

interface PassResult {
  readonly loss_fn_output_type: string;
  readonly loss_fn_outputs: readonly { readonly logprobs: { readonly data: readonly number[] } }[];
  readonly metrics: Readonly<Record<string, number>>;
}

interface SampleResult {
  readonly sequences: readonly {
    readonly stop_reason: 'stop' | 'length';
    readonly tokens: readonly number[];
    readonly logprobs: readonly number[];
  }[];
  readonly prompt_logprobs?: readonly (number | null)[];
  readonly topk_prompt_logprobs?: readonly (readonly (readonly [token: number, logprob: number])[] | null)[];
}

/**
 * A result as `tinker_public.ForwardBackwardOutput` or `SampleResponse`, which clients since version 0.25 take only so.
 * `undefined` for any other result: that one stays JSON.
 */
export function protobufResult(result: object): Uint8Array<ArrayBuffer> | undefined {
  const writer = protobuf.Writer.create();
  if ('loss_fn_outputs' in result) pass(writer, result as PassResult);
  else if ('sequences' in result) samples(writer, result as SampleResult);
  else return undefined;
  return new Uint8Array(writer.finish());
}

function pass(writer: Writer, { loss_fn_output_type, loss_fn_outputs, metrics }: PassResult): void {
  writer.uint32(10).string(loss_fn_output_type);
  const rows = loss_fn_outputs.map(({ logprobs }) => logprobs.data);
  writer.uint32(18).fork();
  writer.uint32(18).fork().uint32(10).string('logprobs').uint32(18).fork();
  writer.uint32(10).bytes(float32(rows.flat())).uint32(18).bytes(offsets(rows)).uint32(24).int32(1);
  writer.ldelim().ldelim().uint32(24).int64(rows.length).ldelim();
  for (const [name, value] of Object.entries(metrics))
    writer.uint32(26).fork().uint32(10).string(name).uint32(17).double(value).ldelim();
}

/** Where each row of 4-byte numbers begins, and where the last one ends, in bytes. */
function offsets(rows: readonly (readonly number[])[]): Uint8Array {
  const found = new BigInt64Array(rows.length + 1);
  for (const [i, row] of rows.entries()) found[i + 1] = found[i]! + BigInt(4 * row.length);
  return new Uint8Array(found.buffer);
}

function samples(writer: Writer, result: SampleResult): void {
  for (const { stop_reason, tokens, logprobs } of result.sequences) {
    writer.uint32(10).fork();
    writer.uint32(8).int32(stop_reason === 'stop' ? 0 : 1);
    writer.uint32(18).bytes(int32(tokens)).uint32(26).bytes(float32(logprobs)).ldelim();
  }
  const { prompt_logprobs: scored, topk_prompt_logprobs: likely } = result;
  if (scored !== undefined) writer.uint32(18).bytes(float32(scored.map((value) => value ?? Number.NaN)));
  if (likely !== undefined) mostLikely(writer, likely);
}

/** Rows of equal length. Places without a token hold token 0 with −99999, as the client expects. */
function mostLikely(writer: Writer, rows: NonNullable<SampleResult['topk_prompt_logprobs']>): void {
  const width = Math.max(0, ...rows.map((row) => row?.length ?? 0));
  const pairs = rows.flatMap((row) =>
    Array.from({ length: width }, (_, k) => row?.[k] ?? ([0, -99999] as const)),
  );
  writer.uint32(26).fork();
  writer.uint32(10).bytes(int32(pairs.map(([token]) => token)));
  writer.uint32(18).bytes(float32(pairs.map(([, logprob]) => logprob)));
  writer.uint32(24).uint32(width).uint32(32).uint32(rows.length).ldelim();
}

const int32 = (values: readonly number[]) => new Uint8Array(Int32Array.from(values).buffer);
const float32 = (values: readonly number[]) => new Uint8Array(Float32Array.from(values).buffer);
