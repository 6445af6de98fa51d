/**
 * The smallest value that at least `percent` of the values do not exceed (nearest rank); undefined for
 * no values.
 */
export function percentile(values: readonly number[], percent: number): number | undefined {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.max(0, Math.ceil((percent / 100) * sorted.length) - 1)];
}

export interface Spread {
  n: number;
  p50Ms: number | null;
  p95Ms: number | null;
}

const rounded = (value: number | undefined): number | null =>
  value === undefined ? null : Math.round(value);

/** Count, median and 95th percentile in whole milliseconds; null where there is no value. */
export function spread(durationsMs: readonly number[]): Spread {
  return {
    n: durationsMs.length,
    p50Ms: rounded(percentile(durationsMs, 50)),
    p95Ms: rounded(percentile(durationsMs, 95)),
  };
}
