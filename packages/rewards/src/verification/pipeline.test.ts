import { expect, it } from 'vitest';
import { createDefaultVerifierPipeline } from './create-pipeline.ts';

it('judges with the default pipeline', async () => {
  const [good, empty] = await createDefaultVerifierPipeline().verifyBatch([
    { prompt: 'Where is Paris?', response: 'Paris is in France.' },
    { prompt: 'Where is Paris?', response: '' },
  ]);
  expect(good).toMatchObject({ result: 'pass', score: 1 });
  expect(empty).toMatchObject({ result: 'fail' });
});
