import type { BenchCase, BenchGroup, BenchResult } from './bench-case.ts';
import { resultOf } from './report/bench-result.ts';

const SAMPLES = 7;

/** What is told while it is measured. */
export interface BenchListener {
  started(name: string): void;
  sampled(sample: number, samples: number): void;
  measured(result: BenchResult): void;
  /** `isRepeated`: it had failed before, and is not tried again. */
  failed(name: string, failure: { error: unknown; isRepeated: boolean }): void;
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
  const sdksAlone: number[] = [];
  for (let sample = 0; sample < samples; sample++) {
    ours.push(await benchCase.ours());
    reference.push(await benchCase.reference());
    listener.sampled(sample + 1, samples);
  }
  // Behind them: between two of ours it would let processes go cold.
  for (let sample = 0; benchCase.sdksAlone && sample < samples; sample++)
    sdksAlone.push(await benchCase.sdksAlone());
  return resultOf(benchCase, { group, ours, reference, sdksAlone });
}

/** A case that throws is measured once more: a host that was slow to start says nothing about what it runs. */
async function measureTwice(
  benchCase: BenchCase,
  run: Parameters<typeof measureCase>[1],
): Promise<BenchResult | undefined> {
  for (const isRepeated of [false, true]) {
    try {
      return await measureCase(benchCase, run);
    } catch (error) {
      run.listener.failed(benchCase.name, { error, isRepeated });
    }
  }
  return undefined;
}

/**
 * Measures one group after the other, each case by itself, and closes what a group has opened. A case that throws
 * twice has no result; the others are measured all the same.
 */
export async function measureGroups(
  groups: readonly BenchGroup[],
  { mostSamples, listener }: { mostSamples: number; listener: BenchListener },
): Promise<BenchResult[]> {
  const results: BenchResult[] = [];
  for (const { name: group, cases, close } of groups) {
    try {
      for (const each of cases) {
        const result = await measureTwice(each, { group, mostSamples, listener });
        if (!result) continue;
        listener.measured(result);
        results.push(result);
      }
    } finally {
      await close?.();
    }
  }
  return results;
}

/** The groups with only the cases that are chosen; groups without any are left out. */
export const groupsWith = (
  groups: readonly BenchGroup[],
  isChosen: (benchCase: BenchCase, group: string) => boolean,
): BenchGroup[] =>
  groups
    .map((group) => ({ ...group, cases: group.cases.filter((each) => isChosen(each, group.name)) }))
    .filter(({ cases }) => cases.length > 0);
