/**
 * Functions of ONNX Runtime's C interface: their places in its table, and their arguments.
 *
 * The table only ever grows at its end (onnxruntime_c_api.h), so a place holds for all later releases. Each returns a status, which is
 * null on success, unless it is a `Release…` or a `Clear…`.
 */
export const functions = {
  GetErrorMessage: [2, 'str', ['void *']],
  CreateEnv: [3, 'status', ['int', 'str', 'void *']],
  CreateSessionFromArray: [8, 'status', ['void *', 'void *', 'size_t', 'void *', 'void *']],
  CreateSessionOptions: [10, 'status', ['void *']],
  EnableProfiling: [14, 'status', ['void *', 'str']],
  DisableMemPattern: [17, 'status', ['void *']],
  SetSessionLogSeverityLevel: [22, 'status', ['void *', 'int']],
  SetSessionGraphOptimizationLevel: [23, 'status', ['void *', 'int']],
  SetIntraOpNumThreads: [24, 'status', ['void *', 'int']],
  SessionGetInputCount: [30, 'status', ['void *', 'void *']],
  SessionGetOutputCount: [31, 'status', ['void *', 'void *']],
  SessionGetInputName: [36, 'status', ['void *', 'size_t', 'void *', 'void *']],
  SessionGetOutputName: [37, 'status', ['void *', 'size_t', 'void *', 'void *']],
  CreateTensorWithDataAsOrtValue: [
    49,
    'status',
    ['void *', 'void *', 'size_t', 'void *', 'size_t', 'int', 'void *'],
  ],
  GetTensorMutableData: [51, 'status', ['void *', 'void *']],
  GetTensorElementType: [60, 'status', ['void *', 'void *']],
  GetDimensionsCount: [61, 'status', ['void *', 'void *']],
  GetDimensions: [62, 'status', ['void *', 'void *', 'size_t']],
  GetTensorTypeAndShape: [65, 'status', ['void *', 'void *']],
  CreateMemoryInfo: [68, 'status', ['str', 'int', 'int', 'int', 'void *']],
  AllocatorFree: [76, 'status', ['void *', 'void *']],
  GetAllocatorWithDefaultOptions: [78, 'status', ['void *']],
  ReleaseStatus: [93, 'void', ['void *']],
  ReleaseSession: [95, 'void', ['void *']],
  ReleaseValue: [96, 'void', ['void *']],
  ReleaseTensorTypeAndShapeInfo: [99, 'void', ['void *']],
  ReleaseSessionOptions: [100, 'void', ['void *']],
  SessionEndProfiling: [110, 'status', ['void *', 'void *', 'void *']],
  AddSessionConfigEntry: [130, 'status', ['void *', 'str', 'str']],
  RunWithBinding: [133, 'status', ['void *', 'void *', 'void *']],
  CreateIoBinding: [134, 'status', ['void *', 'void *']],
  ReleaseIoBinding: [135, 'void', ['void *']],
  BindInput: [136, 'status', ['void *', 'str', 'void *']],
  BindOutput: [137, 'status', ['void *', 'str', 'void *']],
  BindOutputToDevice: [138, 'status', ['void *', 'str', 'void *']],
  GetBoundOutputValues: [140, 'status', ['void *', 'void *', 'void *', 'void *']],
  ClearBoundInputs: [141, 'void', ['void *']],
  ClearBoundOutputs: [142, 'void', ['void *']],
  SynchronizeBoundInputs: [202, 'status', ['void *']],
  AppendCudaProvider: [204, 'status', ['void *', 'void *']],
  CreateCUDAProviderOptions: [205, 'status', ['void *']],
  UpdateCUDAProviderOptions: [206, 'status', ['void *', 'const char **', 'const char **', 'size_t']],
  ReleaseCUDAProviderOptions: [208, 'void', ['void *']],
} as const satisfies Readonly<
  Record<string, readonly [number, 'status' | 'void' | 'str', readonly string[]]>
>;

/** Name of a function. */
export type FunctionName = keyof typeof functions;
