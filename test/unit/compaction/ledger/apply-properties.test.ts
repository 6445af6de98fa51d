import fc from 'fast-check';
import { expect, test } from 'vitest';
import { applyOperations } from '#shared/compaction/ledger/operations/apply-operations.ts';
import { isGuiding } from '#shared/compaction/ledger/operations/guiding-sections.ts';
import type { Operation } from '#shared/compaction/ledger/prompt/operation.ts';
import {
  constraintSection,
  singleSections,
  workingItems,
  type ArchivedItem,
  type Item,
  type Snapshot,
} from '#shared/conversation/documents/snapshot.ts';
import { evidences, operations, snapshots } from './ledger-samples.ts';

const cases = snapshots().chain((snapshot) =>
  fc.record({
    snapshot: fc.constant(snapshot),
    asked: operations(snapshot.profile),
    evidence: evidences,
  }),
);

const namedBy = (operation: Operation): string | undefined =>
  operation.op === 'add' ? operation.supersedes : operation.id;

const keyOf = (text: string) => text.toLowerCase().replace(/[.\s]+$/u, '');

/** Where a statement may be put: what is no guidance goes to where the same words stand already. */
const placesOf = ({ section, text }: Operation & { op: 'add' }, items: readonly ArchivedItem[]) => [
  section,
  ...(isGuiding(section)
    ? items.filter((item) => keyOf(item.text) === keyOf(text)).map((item) => item.section)
    : []),
];

/** Ids of the items that an operation can touch: by id, by an equal text, as the one of its section. */
function touchable(snapshot: Snapshot, asked: readonly Operation[]): Set<string> {
  const named = new Set(asked.map(namedBy));
  const adds = asked.filter((operation) => operation.op === 'add');
  const items = workingItems(snapshot);
  const ids = items.filter(
    ({ id, section, text }) =>
      named.has(id) ||
      adds.some(
        (add) =>
          placesOf(add, items).includes(section) &&
          (singleSections.has(section) || keyOf(add.text) === keyOf(text) || add.quote === text),
      ),
  );
  return new Set(ids.map(({ id }) => id));
}

test('an item that no operation names survives byte for byte', () => {
  fc.assert(
    fc.property(cases, ({ snapshot, asked, evidence }) => {
      const after = applyOperations(snapshot, asked, evidence).snapshot;

      const touched = touchable(snapshot, asked);
      const untouched = (input: Snapshot) =>
        workingItems(input).filter(
          ({ id }) => !touched.has(id) && Number(id.slice(1)) < snapshot.nextId,
        );
      expect(JSON.stringify(untouched(after))).toBe(JSON.stringify(untouched(snapshot)));
      expect(after.archive.slice(0, snapshot.archive.length)).toEqual(snapshot.archive);
    }),
  );
});

test('no constraint is made, changed or ended without the user’s words', () => {
  fc.assert(
    fc.property(cases, ({ snapshot, asked, evidence }) => {
      const after = applyOperations(snapshot, asked, evidence).snapshot;

      const saidAfter = (last: number, quote: string | undefined) =>
        quote !== undefined &&
        [...evidence.turns].some(
          ([seq, [user]]) => seq > last && user?.speaker === 'user' && user.text.includes(quote),
        );
      const now = after.sections[constraintSection] ?? [];
      const changed = (snapshot.sections[constraintSection] ?? []).filter(
        ({ id, text }) => now.find((one) => one.id === id)?.text !== text,
      );
      const made = now.filter(({ id }) => Number(id.slice(1)) >= snapshot.nextId);
      // Without a quote the text itself is the proof.
      const proofOf = (operation: Operation) =>
        operation.quote ?? ('text' in operation ? operation.text : undefined);
      const isGranted = ({ sources }: Item) =>
        asked.some((operation) => saidAfter(sources.at(-1) ?? 0, proofOf(operation)));
      expect(changed.filter((constraint) => !isGranted(constraint))).toEqual([]);
      expect(made.filter(({ quote }) => !saidAfter(0, quote))).toEqual([]);
    }),
  );
});

test('repeating the same additions adds nothing', () => {
  fc.assert(
    fc.property(cases, ({ snapshot, asked, evidence }) => {
      const additions = asked.filter(({ op }) => op === 'add');
      const once = applyOperations(snapshot, additions, evidence).snapshot;
      const twice = applyOperations(once, additions, evidence).snapshot;

      expect(twice.nextId).toBe(once.nextId);
      expect(workingItems(twice).length).toBeLessThanOrEqual(workingItems(once).length);
    }),
  );
});

test('an item id is never reused or shared', () => {
  fc.assert(
    fc.property(cases, ({ snapshot, asked, evidence }) => {
      const after = applyOperations(snapshot, asked, evidence).snapshot;

      const ids = [...workingItems(after), ...after.archive].map(({ id }) => id);
      expect(new Set(ids).size).toBe(ids.length);
      expect(ids.every((id) => Number(id.slice(1)) < after.nextId)).toBe(true);
    }),
  );
});

test('every operation is applied or refused with a reason', () => {
  fc.assert(
    fc.property(cases, ({ snapshot, asked, evidence }) => {
      const { applied, rejected } = applyOperations(snapshot, asked, evidence);

      expect(applied + rejected.length).toBe(asked.length);
    }),
  );
});
