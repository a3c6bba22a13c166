import { expect, it } from 'vitest';
import { type CudaPlace, cudaAdvice } from './cuda-files.ts';

const provider = ['/ort/libonnxruntime_providers_cuda.so', '/ort/libonnxruntime_providers_shared.so'];
const libraries = [
  'libcudart.so.13',
  'libcublas.so.13',
  'libcublasLt.so.13',
  'libcurand.so.10',
  'libcudnn.so.9',
];
const place = (files: readonly string[], platform = 'linux-x64'): CudaPlace => ({
  ...{ platform, folder: '/ort', version: '1.30.0', searched: ['/cuda', '/usr/lib'] },
  exists: (path) => files.includes(path),
});
const cuda = libraries.map((name) => `/cuda/${name}`);

it('names the files of the provider that are missing, where they belong and who has them', () => {
  expect(cudaAdvice(place([]))).toBe(
    "copy libonnxruntime_providers_cuda.so and libonnxruntime_providers_shared.so of PyPI's onnxruntime-gpu 1.30.0 into /ort",
  );
  expect(cudaAdvice(place([provider[0]!]))).toMatch(/^copy libonnxruntime_providers_shared\.so of/);
});

it('names the libraries that the loader does not find, and their packages', () => {
  const advice = cudaAdvice(place([...provider, ...cuda.filter((name) => !name.includes('cublas'))]));
  expect(advice).toBe(
    "put the folders of libcublas.so.13, libcublasLt.so.13 on LD_LIBRARY_PATH before Node starts; PyPI's nvidia-cublas have them",
  );
});

it('asks for the driver last, and for a card if nothing is missing', () => {
  expect(cudaAdvice(place([...provider, ...cuda]))).toContain('libcuda.so.1');
  expect(cudaAdvice(place([...provider, ...cuda, '/usr/lib/libcuda.so.1']))).toContain('nvidia-smi');
});

it.each(['darwin-arm64', 'linux-arm64', 'win32-x64'])('says that %s cannot have it', (platform) => {
  expect(cudaAdvice(place([], platform))).toBe("it needs Linux on x64; use 'webgpu' elsewhere");
});

it('looks at this machine', () => {
  expect(cudaAdvice().length).toBeGreaterThan(20);
});
