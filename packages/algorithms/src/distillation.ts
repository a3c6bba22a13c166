/** On-policy distillation: a policy learns from the probabilities that a teacher gives to its text. */
export { distillationOptions, withTeacher } from './distillation/with-teacher.ts';
