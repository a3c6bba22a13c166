/** A page that watches runs while they train, or that stands alone. */
export { type RunsFolderPageOptions, runsFolderPage } from './dashboard/folder-page.ts';
export { type Dashboard, type DashboardOptions, serveDashboard } from './dashboard/serve-dashboard.ts';
