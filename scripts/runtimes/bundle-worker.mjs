/**
 * Writes the smoke test as one module and a configuration to `runs/runtimes`. Then `npx -y workerd@1 test
 * runs/runtimes/config.capnp` runs it as Cloudflare Workers would.
 */
import { writeFileSync } from 'node:fs';
import { build } from 'esbuild';

const folder = 'runs/runtimes';

await build({
  entryPoints: ['scripts/runtimes/worker.mjs'],
  bundle: true,
  format: 'esm',
  platform: 'browser',
  conditions: ['workerd', 'worker', 'browser', 'import'],
  // Loaded on demand by features that the smoke test does not use.
  external: ['onnxruntime-node', 'eld/small', 'obscenity', 'node:*'],
  outfile: `${folder}/worker.mjs`,
  logLevel: 'warning',
  logOverride: { 'ignored-bare-import': 'silent' },
});

writeFileSync(
  `${folder}/config.capnp`,
  `using Workerd = import "/workerd/workerd.capnp";

const config :Workerd.Config = (
  services = [(name = "smoke", worker = .worker)],
);

const worker :Workerd.Worker = (
  modules = [(name = "worker", esModule = embed "worker.mjs")],
  compatibilityDate = "2026-01-01",
);
`,
);
