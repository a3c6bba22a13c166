import { createEngine } from '@rlp/onnx/web';
import { learnLetter } from './train-in-page.fixture.ts';

async function learn() {
  const engine = await createEngine({ assets: '/onnx/' });
  const rows = await learnLetter(engine);
  await engine.close();
  return { rows, threads: engine.threads };
}

Object.assign(globalThis, { learned: learn().catch((error: Error) => ({ failed: error.stack })) });
