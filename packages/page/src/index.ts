export { chartFigure } from './chart-figure.ts';
export { dataTable, type TableContent } from './data-table.ts';
export { eventsScript } from './events-script.ts';
export { type Html, html } from './html.ts';
export { type ChartOptions, lineChart, type Mark, type Point, type Series } from './line-chart.ts';
export {
  contentSecurityPolicy,
  type PageContent,
  type PageScript,
  renderPage,
  summaryList,
} from './page.ts';
export { shortNumber, ticks } from './scale.ts';
export { type ValueRow, valueTable } from './value-table.ts';
