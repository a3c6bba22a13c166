import { described } from './described.ts';
import { ArgumentError } from './errors.ts';
import { requireArguments } from './options/require-arguments.ts';
import type { PublishOptions } from './publication.ts';
import type { InferenceEngine } from './sampler.ts';
import type { TrainingBackend } from './training.ts';

type Publisher = Pick<TrainingBackend, 'publishes' | 'shares' | 'vocabularySize'>;
type Receiver = Pick<InferenceEngine, 'accepts' | 'refusals' | 'shares' | 'vocabularySize'>;

/**
 * Chooses how a trainer hands its weights to a sampler. Takes the first form of the trainer that the sampler accepts.
 *
 * `shared` needs the same store of the same engine. The other forms need a directory.
 *
 * @throws ArgumentError if they have no form in common or different vocabularies. The message says what to do.
 */
export function choosePublication(
  backend: Publisher,
  inference: Receiver,
  directory?: string | undefined,
): PublishOptions {
  requireArguments('choosePublication', { backend: 'object', inference: 'object' }, backend, inference);
  requireOneVocabulary(backend, inference);
  const { publishes = ['checkpoint'] } = backend;
  const { accepts } = inference;
  const refusals = inference.refusals ?? {};
  requireForms("the backend's `publishes`", publishes);
  requireForms("the sampler's `accepts`", accepts);
  const common = publishes.filter((form) => accepts.includes(form));
  const usable = common.filter((form) => form !== 'shared' || sharesStore(backend, inference));
  const files = usable.filter((form) => form !== 'shared');
  if (usable[0] === 'shared') return { as: 'shared' };
  if (files[0] !== undefined && directory !== undefined) return { as: files[0], directory };
  if (usable.includes('shared')) return { as: 'shared' };
  if (common.length === 0) {
    const remedies = publishes
      .flatMap((form) => (refusals[form] ? [`for ${form} ${refusals[form]}`] : []))
      .join('; ');
    throw new ArgumentError(
      `publish: the backend publishes ${publishes.join(', ') || 'nothing'} and the sampler accepts ` +
        `${accepts.join(', ') || 'nothing'}${remedies && ` (${remedies})`}; choose a sampler that accepts a form of this backend`,
    );
  }
  const apart =
    common.includes('shared') && `${apartness(backend, inference)}; create both in one engine with one store`;
  const remedy = files.length > 0 && 'give `publications`, a directory that both can reach';
  throw new ArgumentError(`publish: ${[apart, remedy].filter(Boolean).join(', or ')}`);
}

function requireForms(field: string, forms: unknown): void {
  if (Array.isArray(forms)) return;
  throw new ArgumentError(
    `publish: expected ${field} to be a list such as ['shared'], got ${described(forms)}`,
  );
}

function sharesStore({ shares: own }: Publisher, { shares: other }: Receiver): boolean {
  return (
    own === undefined || other === undefined || (own.engine === other.engine && own.store === other.store)
  );
}

function apartness({ shares: own }: Publisher, { shares: other }: Receiver): string {
  return own?.engine === other?.engine
    ? `the backend trains store "${own?.store}" and the sampler reads store "${other?.store}"`
    : 'the backend and the sampler live in different engines, so the sampler would never see new weights';
}

function requireOneVocabulary({ vocabularySize: own }: Publisher, { vocabularySize: other }: Receiver): void {
  if (own === undefined || other === undefined || own === other) return;
  throw new ArgumentError(
    `publish: the backend's model knows ${own} tokens and the sampler's ${other}; create both from the same model`,
  );
}
