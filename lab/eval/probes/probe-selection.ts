import type { Probe, Script } from '../replay/recording.ts';

/** A question whose answer was said in turns that a compaction has folded. */
export interface ChosenProbe {
  id: string;
  question: string;
  answer: string;
  category: string;
}

/** Which turn (from 1) each content of the recording went into. */
export function turnsOfContents(script: Pick<Script, 'exchanges'>): Map<number, number> {
  return new Map(
    script.exchanges.flatMap(({ recordedIndexes }, index) =>
      recordedIndexes.map((recordedIndex) => [recordedIndex, index + 1] as const),
    ),
  );
}

/**
 * The probes that have an answer and whose evidence lies wholly in turns up to `foldedThrough`.
 * Adversarial ones ask for what was never said and are left out.
 */
export function foldedProbes(options: {
  probes: readonly Probe[];
  script: Pick<Script, 'exchanges'>;
  foldedThrough: number;
}): ChosenProbe[] {
  const turns = turnsOfContents(options.script);
  return options.probes.flatMap(({ id, question, answer, category, evidenceTurnIndexes }) => {
    const evidence = (evidenceTurnIndexes ?? []).map((index) => turns.get(index));
    const isFolded = evidence.every((turn) => turn !== undefined && turn <= options.foldedThrough);
    if (answer === undefined || answer === null || category === 'adversarial') return [];
    if (evidence.length === 0 || !isFolded) return [];
    return [{ id, question, answer: String(answer), category: category ?? 'none' }];
  });
}

/** `count` of the items, evenly spaced; all of them when there are fewer. */
export function evenly<T>(items: readonly T[], count: number): T[] {
  if (items.length <= count) return [...items];
  return Array.from({ length: count }, (_, index) => {
    const item = items[Math.floor((index * items.length) / count)];
    return item === undefined ? [] : [item];
  }).flat();
}
