import type { EngineHost } from '../protocol.ts';
import { scaleModel } from './models.ts';

/** Test program that keeps a parameter on the device over several updates. */
export default function device(host: EngineHost) {
  return {
    async halve(updates: number) {
      const store = host.store('policy');
      const session = await host.createSession(scaleModel([2, 3], 0.5), { deviceOutputs: ['y'] });
      const locations = [store.tensor('w').location];
      for (let update = 0; update < updates; update++) {
        const { y } = await session.run({ x: store.tensor('w') });
        store.replace('w', y!);
        locations.push(store.tensor('w').location);
      }
      await session.release();
      return { residency: store.residency, locations, values: [...(await store.read('w'))] };
    },
    async download() {
      const store = host.store('policy');
      const session = await host.createSession(scaleModel([2, 3], 3));
      const { y } = await session.run({ x: store.tensor('w') });
      const given = new Float32Array(6);
      const { Tensor } = await import('onnxruntime-common');
      await session.run({ x: store.tensor('w') }, { into: { y: new Tensor('float32', given, [2, 3]) } });
      await session.release();
      return { location: y!.location, values: [...(y!.data as Float32Array)], given: [...given] };
    },
    views() {
      const store = host.store('policy');
      const attempts = [
        () => store.data('w'),
        () => store.all(),
        () => store.segments(),
        () => store.kernels,
      ];
      return attempts.map((attempt) => {
        try {
          attempt();
          return 'worked';
        } catch (error) {
          return (error as Error).name;
        }
      });
    },
  };
}

/** Methods of the program, for its callers. */
export type Device = ReturnType<typeof device>;
