/** Starts projects that train language models. */
export { createFromProcess } from './create-from-process.ts';
export {
  type CreatedProject,
  type CreateProjectOptions,
  createProject,
  nextSteps,
  type TemplateName,
  templates,
} from './create-project.ts';
