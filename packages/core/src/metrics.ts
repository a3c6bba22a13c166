/** Numbers by name, such as `reward/mean`; the vocabulary is documented in `docs/metrics.md`. */
export type Metrics = Readonly<Record<string, number>>;
