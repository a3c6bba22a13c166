import { existsSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { delimiter, dirname, join } from 'node:path';

/** Where the files of the provider `cuda` are looked for. */
export interface CudaPlace {
  readonly platform: string;
  /** Folder of `libonnxruntime.so.1`. */
  readonly folder: string;
  /** Release of onnxruntime-node. */
  readonly version: string;
  /** Folders that the loader searches. */
  readonly searched: readonly string[];
  readonly exists: (path: string) => boolean;
}

const providerFiles = ['libonnxruntime_providers_cuda.so', 'libonnxruntime_providers_shared.so'];
/** What the provider is linked with, and the package of PyPI that has it. */
const libraries = {
  'libcudart.so.13': 'nvidia-cuda-runtime',
  'libcublas.so.13': 'nvidia-cublas',
  'libcublasLt.so.13': 'nvidia-cublas',
  'libcurand.so.10': 'nvidia-curand',
  'libcudnn.so.9': 'nvidia-cudnn-cu13',
};
const driver = 'libcuda.so.1';

/** What to do so that the provider `cuda` loads: the files that are missing, and who has them. */
export function cudaAdvice({ platform, folder, version, searched, exists }: CudaPlace = here()): string {
  if (platform !== 'linux-x64') return "it needs Linux on x64; use 'webgpu' elsewhere";
  const found = (name: string) => searched.some((place) => exists(join(place, name)));
  const absent = providerFiles.filter((name) => !exists(join(folder, name)));
  if (absent.length > 0) {
    return `copy ${absent.join(' and ')} of PyPI's onnxruntime-gpu ${version} into ${folder}`;
  }
  const unknown = Object.entries(libraries).filter(([name]) => !found(name));
  if (unknown.length > 0) {
    const packages = [...new Set(unknown.map(([, name]) => name))];
    return `put the folders of ${unknown.map(([name]) => name).join(', ')} on LD_LIBRARY_PATH before Node starts; PyPI's ${packages.join(', ')} have them`;
  }
  if (!found(driver)) return `install the driver of the card, which has ${driver}`;
  return 'all files are there; check that the driver knows the card (`nvidia-smi`)';
}

/** Folder of onnxruntime-node. */
function runtimeFolder(): string {
  const require = createRequire(import.meta.url);
  return join(dirname(require.resolve('onnxruntime-node')), '..');
}

const libraryFolder = 'bin/napi-v6/linux/x64';

/** Path of ONNX Runtime's library, which finds its providers in its own folder. */
export function runtimeLibrary(): string {
  return join(runtimeFolder(), libraryFolder, 'libonnxruntime.so.1');
}

function here(): CudaPlace {
  const root = runtimeFolder();
  const { version } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as { version: string };
  return {
    platform: `${process.platform}-${process.arch}`,
    folder: join(root, libraryFolder),
    version,
    searched: [
      ...(process.env.LD_LIBRARY_PATH ?? '').split(delimiter).filter(Boolean),
      ...['/usr/lib/x86_64-linux-gnu', '/usr/lib64', '/usr/local/cuda/lib64', '/usr/local/nvidia/lib64'],
    ],
    exists: existsSync,
  };
}
