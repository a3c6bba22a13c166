import { algorithmOptions, algorithmSchemas } from '@rlp/algorithms';
import { preferenceLossNames, readsReference } from '@rlp/algorithms/preference';
import { isRecord } from '@rlp/core';
import { modeOf, modes, type StageName } from './modes.ts';

type Given = Readonly<Record<string, unknown>>;

/** Options of stages that read the first policy, or move it, where their backend keeps none. */
export function referenceProblems({ backend, ...config }: Given): string[] {
  const mode = modeOf(config);
  const stages: readonly StageName[] = mode === undefined ? [] : modes[mode];
  const hasNone = (stage: Given) => {
    const own = isRecord(stage.backend) ? stage.backend : {};
    return { ...(isRecord(backend) && backend), ...own }.reference === 'none';
  };
  const { algorithm, preference = {} } = config;
  return [
    ...(isRecord(algorithm) && hasNone(algorithm) ? ofAlgorithm(algorithm) : []),
    ...(stages.includes('preference') && isRecord(preference) && hasNone(preference)
      ? ofPreference(preference)
      : []),
  ];
}

function ofAlgorithm({ name = 'grpo', ...given }: Given): string[] {
  if (typeof name !== 'string' || !Object.hasOwn(algorithmSchemas, name)) return []; // The schema lists the names.
  const written = algorithmReaders(given);
  const all = algorithmReaders(algorithmOptions(name as keyof typeof algorithmSchemas, given) as Given);
  return [
    ...written.map(
      (option) =>
        `algorithm.${option}: needs the reference policy, which reference: 'none' of the backend drops; leave one of them out`,
    ),
    ...all
      .filter((option) => !written.includes(option))
      .map(
        (option) =>
          `algorithm.preset: '${given.preset}' sets ${option}, which needs the reference policy that reference: 'none' of the backend drops; ` +
          'leave reference out, or choose another preset',
      ),
  ];
}

/** Options of an algorithm that need a reference policy. */
function algorithmReaders(options: Given): string[] {
  const { loss, klControl, rewardKl, referenceKl, referenceUpdate, advantages } = options;
  const { klCoefficient = 0 } = isRecord(loss) ? loss : {};
  const { needs } = isRecord(advantages) ? advantages : {};
  return [
    ...(klCoefficient === 0 ? [] : ['loss.klCoefficient']),
    ...(klControl === undefined ? [] : ['klControl']),
    ...(rewardKl === undefined ? [] : ['rewardKl']),
    ...(referenceKl === 'always' ? ['referenceKl'] : []),
    ...(moves(referenceUpdate) ? ['referenceUpdate'] : []),
    ...(Array.isArray(needs) && needs.includes('referenceLogprobs') ? ['advantages'] : []),
  ];
}

function moves(referenceUpdate: unknown): boolean {
  const { method = 'none' } = isRecord(referenceUpdate) ? referenceUpdate : {};
  return method !== 'none';
}

const independent = preferenceLossNames.filter((kind) => !readsReference({ kind }));

function ofPreference({ loss = 'sigmoid', referenceUpdate }: Given): string[] {
  const kinds = [loss].flat().map((term: unknown) => (isRecord(term) ? term.kind : term));
  const reading = preferenceLossNames.find((kind) => kinds.includes(kind) && readsReference({ kind }));
  return [
    ...(reading === undefined
      ? []
      : [
          `preference.loss: '${reading}' reads the reference policy, which reference: 'none' of the backend drops; ` +
            `leave reference out, or choose a loss without one (${independent.join(', ')})`,
        ]),
    ...(moves(referenceUpdate)
      ? [
          "preference.referenceUpdate: moves the reference policy, which reference: 'none' of the backend drops; leave one of them out",
        ]
      : []),
  ];
}
