import {
  ArgumentError,
  type ReferenceBackend,
  type ReferenceUpdate,
  requireArguments,
  requireFields,
  type TokenScorer,
  type TokenScores,
  type TrainFuture,
  type TrainingBackend,
} from '@rlp/core';

/**
 * The backend with a teacher as its reference policy, for on-policy distillation. Everything else goes to the backend.
 *
 * A run without rewards whose `rewardKl` subtracts from each token's advantage then lowers the reverse KL to the teacher, on text
 * that the policy wrote:
 *
 *     A_t = −coefficient · (ln π(y_t | …) − ln π_teacher(y_t | …))
 *
 * {@link distillationOptions} has these options. The expected gradient is that of `KL(π ‖ π_teacher)` of each token.
 *
 * @param teacher - Scores the policy's own tokens, so it must have the policy's vocabulary.
 * @see Agarwal et al. 2024, https://arxiv.org/abs/2306.13649
 * @see https://thinkingmachines.ai/blog/on-policy-distillation
 */
export function withTeacher<Backend extends TrainingBackend>(
  backend: Backend,
  teacher: TokenScorer,
): Backend & ReferenceBackend {
  requireArguments('withTeacher', { backend: 'object' }, backend);
  requireFields('withTeacher: backend', { lacks: 'list?' }, backend);
  requireFields('withTeacher: teacher', { scoreTokens: 'function' }, teacher);
  const logprobs: TrainingBackend['logprobs'] = (sequences, options = {}) =>
    options.policy === 'reference'
      ? future(taught(teacher, sequences, options))
      : backend.logprobs(sequences, options);
  const updateReference = (_update: ReferenceUpdate): TrainFuture<void> =>
    future(
      Promise.reject(new ArgumentError('withTeacher: a teacher does not move; leave out referenceUpdate')),
    );
  const own: Readonly<Record<PropertyKey, unknown>> = {
    logprobs,
    updateReference,
    lacks: backend.lacks?.filter((group) => group !== 'reference'),
  };
  return new Proxy(backend, {
    has: (target, key) => key in own || key in target,
    get(target, key) {
      if (key in own) return own[key];
      const value: unknown = Reflect.get(target, key, target);
      return typeof value === 'function' ? value.bind(target) : value;
    },
  }) as Backend & ReferenceBackend;
}

type ScoringOptions = NonNullable<Parameters<TrainingBackend['logprobs']>[1]>;

/** Scores of whole sequences. A teacher needs something before the first token, so only what follows it is asked for. */
async function taught(
  teacher: TokenScorer,
  sequences: Parameters<TrainingBackend['logprobs']>[0],
  { temperature, masks, signal }: ScoringOptions,
): Promise<readonly TokenScores[]> {
  const starts = sequences.map((tokens, row) => {
    const wanted = masks === undefined ? 1 : Array.from(masks[row]!).indexOf(1);
    return Math.max(1, wanted < 0 ? tokens.length : wanted);
  });
  const requests = sequences.map((tokens, row) => {
    return { prompt: tokens.slice(0, starts[row]), completion: tokens.slice(starts[row]) };
  });
  const asked = [...requests.keys()].filter((row) => requests[row]!.completion.length > 0);
  const scores =
    asked.length === 0
      ? []
      : await teacher.scoreTokens(
          asked.map((row) => requests[row]!),
          { ...(temperature !== undefined && { temperature }), ...(signal && { signal }) },
        );
  const whole = (values: Float32Array | undefined, row: number) => {
    const padded = new Float32Array(sequences[row]!.length);
    if (values) padded.set(values, starts[row]);
    return padded;
  };
  const found = new Map(asked.map((row, at) => [row, scores[at]!] as const));
  return sequences.map((_, row) => {
    const { logprobs, entropies } = found.get(row) ?? {};
    return { logprobs: whole(logprobs, row), entropies: whole(entropies, row) };
  });
}

function future<Value>(work: Promise<Value>): TrainFuture<Value> {
  let settled = false;
  const end = () => {
    settled = true;
  };
  work.then(end, end);
  return {
    get settled() {
      return settled;
    },
    // biome-ignore lint/suspicious/noThenProperty: a future is awaited.
    then: (done, failed) => work.then(done, failed),
  };
}

/**
 * Options of `REINFORCEAlgorithm` that make it learn from a teacher alone. Rewards have to be 0.
 *
 * @param options - `coefficient` multiplies the KL of each token. Default 1.
 */
export function distillationOptions(options: { readonly coefficient?: number | undefined } = {}) {
  requireFields('distillationOptions', { coefficient: 'number?' }, options);
  const { coefficient = 1 } = options;
  return {
    reinforce: { baseline: 'none' },
    rewardKl: { coefficient, estimator: 'k1', place: 'token' },
  } as const;
}
