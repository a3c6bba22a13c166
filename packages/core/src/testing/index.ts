export * from './environment.ts';
export * from './metrics-logger.ts';
export * from './reward-computer.ts';
export * from './task-source.ts';
export * from './training-backend.ts';
