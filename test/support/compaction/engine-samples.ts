import fc from 'fast-check';
import type { Operation } from '#shared/compaction/operations.ts';
import { toEvidence, type TurnEvidence, type TurnSpeech } from '#shared/compaction/whose-words.ts';
import {
  emptySnapshot,
  snapshotSections,
  statuses,
  type Item,
  type Snapshot,
  type SnapshotProfile,
} from '#shared/conversation/documents/snapshot.ts';

export const counting = { rule: 'character-class' } as const;

export const item = (id: string, text: string, more: Partial<Item> = {}): Item => ({
  id,
  text,
  sources: [1],
  importance: 2,
  by: 'model',
  ...more,
});

/** A snapshot of the assistant's profile; the next id is one above the number of items. */
export function snapshotWith(
  sections: Record<string, Item[]>,
  more: Partial<Snapshot> = {},
): Snapshot {
  const count = Object.values(sections).flat().length;
  return { ...emptySnapshot('assistant'), sections, nextId: count + 1, ...more };
}

type Speech = readonly [speaker: TurnSpeech['speaker'], text: string];

/** Turns by number: what the user said, or what each said in order. */
export const evidenceOf = (turns: Record<number, string | readonly Speech[]>): TurnEvidence =>
  toEvidence(
    new Map(
      Object.entries(turns).map(([seq, said]) => {
        const speeches: readonly Speech[] = typeof said === 'string' ? [['user', said]] : said;
        return [Number(seq), speeches.map(([speaker, text]) => ({ speaker, text }))];
      }),
    ),
  );

export const dayOf = (seq: number): string => `2026-11-${String(seq).padStart(2, '0')}`;

/** Few words, so that texts, quotes and turns meet. */
const phrase = fc
  .array(fc.constantFrom('no', 'meat', 'please', 'Order', '4711', '<b>', '予約', 'done.'), {
    minLength: 1,
    maxLength: 4,
  })
  .map((words) => words.join(' '));
const seqs = fc.uniqueArray(fc.integer({ min: 1, max: 9 }), { maxLength: 3 });
const maybe = <T>(arbitrary: fc.Arbitrary<T>) => fc.option(arbitrary, { nil: undefined });
/** One more than any snapshot has, so that some ids are unknown. */
const ids = fc.integer({ min: 1, max: 13 }).map((number) => `i${number}`);

export const operations = (profile: SnapshotProfile): fc.Arbitrary<Operation[]> =>
  fc.array(
    fc.oneof(
      fc.record({
        op: fc.constant('add' as const),
        section: fc.constantFrom<string>(...snapshotSections[profile], 'unknown'),
        text: phrase,
        sources: seqs,
        quote: maybe(phrase),
        status: maybe(fc.constantFrom(...statuses)),
        importance: maybe(fc.integer({ min: 1, max: 3 })),
        supersedes: maybe(ids),
      }),
      fc.record({
        op: fc.constant('update' as const),
        id: ids,
        text: phrase,
        sources: seqs,
        quote: maybe(phrase),
        status: maybe(fc.constantFrom(...statuses)),
        importance: fc.constant(undefined),
        merges: maybe(fc.array(ids, { maxLength: 2 })),
      }),
      fc.record({
        op: fc.constant('remove' as const),
        id: ids,
        reason: fc.constant('over'),
        sources: seqs,
        quote: maybe(phrase),
      }),
    ),
    { maxLength: 12 },
  );

/** Items `i1`… in any section, of any text. */
export const snapshots = (texts: fc.Arbitrary<string> = phrase): fc.Arbitrary<Snapshot> =>
  fc
    .constantFrom<SnapshotProfile>('assistant', 'coding')
    .chain((profile) =>
      fc
        .array(
          fc.record({
            section: fc.constantFrom<string>(...snapshotSections[profile]),
            text: texts,
            sources: seqs,
            importance: fc.integer({ min: 1, max: 3 }),
            status: maybe(fc.constantFrom(...statuses)),
            isArchived: fc.boolean(),
          }),
          { maxLength: 12 },
        )
        .map((drawn) => ({ profile, drawn })),
    )
    .map(({ profile, drawn }) => {
      const snapshot: Snapshot = { ...emptySnapshot(profile), nextId: drawn.length + 1 };
      for (const [index, { section, isArchived, sources, ...rest }] of drawn.entries()) {
        const sorted = sources.toSorted((a, b) => a - b);
        const made: Item = { ...rest, id: `i${index + 1}`, sources: sorted, by: 'model' };
        if (isArchived) snapshot.archive.push({ ...made, section });
        else snapshot.sections[section] = [...(snapshot.sections[section] ?? []), made];
      }
      return snapshot;
    });

/** What the user and the model say in turns 1 to 9. */
export const evidences: fc.Arbitrary<TurnEvidence> = fc
  .array(fc.tuple(phrase, phrase), { minLength: 9, maxLength: 9 })
  .map((texts) =>
    evidenceOf(
      Object.fromEntries(
        texts.map(([user, model], index) => [
          index + 1,
          [['user', user] as const, ['model', model] as const],
        ]),
      ),
    ),
  );
