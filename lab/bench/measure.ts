import type { BenchCase, BenchGroup, BenchResult } from './bench-case.ts';
import { resultOf } from './report/bench-result.ts';

const SAMPLES = 7;

/** What is told while it is measured. */
export interface BenchListener {
  started(name: string): void;
  sampled(sample: number, samples: number): void;
  measured(result: BenchResult): void;
  failed(name: string, error: unknown): void;
}

async function measureCase(
  benchCase: BenchCase,
  { group, mostSamples, listener }: { group: string; mostSamples: number; listener: BenchListener },
): Promise<BenchResult> {
  const samples = Math.min(benchCase.samples ?? SAMPLES, mostSamples);
  listener.started(benchCase.name);
  // Once each to warm up; then in turns.
  if (samples > 1) {
    await benchCase.ours();
    await benchCase.reference();
  }
  const ours: number[] = [];
  const reference: number[] = [];
  for (let sample = 0; sample < samples; sample++) {
    ours.push(await benchCase.ours());
    reference.push(await benchCase.reference());
    listener.sampled(sample + 1, samples);
  }
  return resultOf(benchCase, { group, ours, reference });
}

/**
 * Measures one group after the other, each case by itself, and closes what a group has opened. A case that throws
 * has no result; the others are measured all the same.
 */
export async function measureGroups(
  groups: readonly BenchGroup[],
  { mostSamples, listener }: { mostSamples: number; listener: BenchListener },
): Promise<BenchResult[]> {
  const results: BenchResult[] = [];
  for (const { name: group, cases, close } of groups) {
    try {
      for (const each of cases) {
        try {
          const result = await measureCase(each, { group, mostSamples, listener });
          listener.measured(result);
          results.push(result);
        } catch (error) {
          listener.failed(each.name, error);
        }
      }
    } finally {
      await close?.();
    }
  }
  return results;
}

/** The groups with only the cases whose name holds `part`; groups without any are left out. */
export const groupsWith = (groups: readonly BenchGroup[], part = ''): BenchGroup[] =>
  groups
    .map((group) => ({ ...group, cases: group.cases.filter(({ name }) => name.includes(part)) }))
    .filter(({ cases }) => cases.length > 0);
