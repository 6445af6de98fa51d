import type { Aim, BenchCase, BenchResult } from '../bench-case.ts';

/** The middle of `values`, or the mean of the two in the middle; NaN of none, and where one of them is. */
export function median(values: readonly number[]): number {
  if (values.some(Number.isNaN)) return Number.NaN;
  const sorted = values.toSorted((a, b) => a - b);
  const middle = Math.floor(sorted.length / 2);
  const upper = sorted[middle] ?? Number.NaN;
  return sorted.length % 2 === 1 ? upper : ((sorted[middle - 1] ?? Number.NaN) + upper) / 2;
}

/** Whether a ratio keeps its aim; a ratio that is no number never does. */
export const isMet = (ratio: number, { direction, aim }: Aim): boolean =>
  direction === 'atMost' ? ratio <= aim : ratio >= aim;

/** What was promised, if anything. */
export const aimOf = ({ direction, aim }: Partial<Aim>): Aim | undefined =>
  direction === undefined || aim === undefined ? undefined : { direction, aim };

/** The result of a case from its samples. Throws RangeError without samples. */
export function resultOf(
  benchCase: BenchCase,
  {
    group,
    ...samples
  }: {
    group: string;
    ours: readonly number[];
    reference: readonly number[];
    sdksAlone?: readonly number[];
  },
): BenchResult {
  if (samples.ours.length === 0 || samples.reference.length === 0)
    throw new RangeError(`${benchCase.name} has no samples`);
  const ours = median(samples.ours);
  const reference = median(samples.reference);
  const ratio = ours / reference;
  const aim = aimOf(benchCase);
  const { sdksAlone = [] } = samples;
  return {
    name: benchCase.name,
    group,
    unit: benchCase.unit,
    ours,
    reference,
    referenceName: benchCase.referenceName,
    ratio,
    ...(aim && { ...aim, met: isMet(ratio, aim) }),
    samples: samples.ours.length,
    spread: (Math.max(...samples.ours) - Math.min(...samples.ours)) / (ours || 1),
    ...(sdksAlone.length > 0 && {
      alone: { value: median(sdksAlone), ratio: median(sdksAlone) / reference },
    }),
    ...(benchCase.point && { point: benchCase.point }),
    ...(benchCase.note !== undefined && {
      note: typeof benchCase.note === 'string' ? benchCase.note : benchCase.note(),
    }),
  };
}
