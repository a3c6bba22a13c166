/** Starts projects that train language models. */
export { createFromProcess } from './create-from-process.ts';
export {
  type CreatedProject,
  type CreateProjectOptions,
  createProject,
  nextSteps,
} from './create-project.ts';
