export * from './training-backend.ts';
