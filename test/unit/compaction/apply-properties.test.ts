import { applyAnswer } from '#shared/compaction/apply.ts';
import {
  everyItem,
  constraintSection,
  goalSection,
  workingItems,
} from '#shared/conversation/documents/snapshot.ts';
import { textKey } from '#shared/text/cut.ts';
import { splitSentences } from '#shared/text/sentences.ts';
import {
  dayOf,
  evidences,
  operations,
  snapshots,
} from '#test/support/compaction/engine-samples.ts';
import { expect, test } from 'vitest';
import fc from 'fast-check';

/** A snapshot, operations on it, and the turns that they were made of. */
const cases = snapshots().chain((snapshot) =>
  fc.record({
    snapshot: fc.constant(snapshot),
    asked: operations(snapshot.profile),
    evidence: evidences,
  }),
);

test('no known statement leaves in silence', () => {
  fc.assert(
    fc.property(cases, ({ snapshot, asked, evidence }) => {
      const after = applyAnswer(snapshot, { operations: asked, topics: [] }, { evidence, dayOf });

      const held = new Set(
        [...everyItem(after.snapshot), ...after.removed].flatMap(({ text }) => [
          textKey(text),
          ...splitSentences(text).map(textKey),
        ]),
      );
      const isHeld = (text: string) =>
        held.has(textKey(text)) || splitSentences(text).every((each) => held.has(textKey(each)));
      expect(everyItem(snapshot).filter(({ text }) => !isHeld(text))).toEqual([]);
    }),
  );
});

test('an item that no operation names stays byte for byte', () => {
  fc.assert(
    fc.property(cases, ({ snapshot, asked, evidence }) => {
      const named = new Set(
        asked.flatMap((operation) =>
          operation.op === 'add'
            ? [operation.supersedes]
            : [operation.id, ...('merges' in operation ? (operation.merges ?? []) : [])],
        ),
      );
      const texts = new Set(
        asked.flatMap((operation) => ('text' in operation ? [textKey(operation.text)] : [])),
      );
      const untouched = workingItems(snapshot).filter(
        ({ id, text, section }) =>
          !named.has(id) &&
          !texts.has(textKey(text)) &&
          section !== goalSection &&
          section !== constraintSection,
      );

      const after = applyAnswer(snapshot, { operations: asked, topics: [] }, { evidence, dayOf });

      const now = new Map(workingItems(after.snapshot).map((one) => [one.id, one]));
      expect(
        untouched.filter((one) => JSON.stringify(now.get(one.id)) !== JSON.stringify(one)),
      ).toEqual([]);
    }),
  );
});

test('no constraint is made or changed without a sentence of the user', () => {
  fc.assert(
    fc.property(cases, ({ snapshot, asked, evidence }) => {
      const { snapshot: after } = applyAnswer(
        snapshot,
        { operations: asked, topics: [] },
        { evidence, dayOf },
      );

      const said = evidence.seqs.flatMap(evidence.userSentences).map(({ text }) => textKey(text));
      const before = new Map(
        (snapshot.sections[constraintSection] ?? []).map(({ id, text }) => [id, text]),
      );
      const changed = (after.sections[constraintSection] ?? []).filter(
        ({ id, text }) => before.get(id) !== text,
      );
      const isOfUser = (text: string) => said.some((sentence) => textKey(text).endsWith(sentence));
      expect(changed.filter(({ text }) => !isOfUser(text))).toEqual([]);
    }),
  );
});

test('repeating the same additions adds nothing', () => {
  fc.assert(
    fc.property(cases, ({ snapshot, asked, evidence }) => {
      // There is one goal: another takes its place, and what is known elsewhere becomes none by being said again.
      // An id that the first answer makes names another item for the second.
      const additions = asked
        .filter((one) => one.op === 'add' && one.section !== goalSection)
        .map((one) => ({ ...one, supersedes: undefined }));
      const answer = { operations: additions, topics: [] };
      const once = applyAnswer(snapshot, answer, { evidence, dayOf }).snapshot;
      const twice = applyAnswer(once, answer, { evidence, dayOf }).snapshot;

      const known = new Set(everyItem(once).map(({ id }) => id));
      expect(everyItem(twice).filter(({ id }) => !known.has(id))).toEqual([]);
      expect(workingItems(twice).length).toBeLessThanOrEqual(workingItems(once).length);
    }),
  );
});

test('an id is never used again or shared', () => {
  fc.assert(
    fc.property(cases, ({ snapshot, asked, evidence }) => {
      const after = applyAnswer(
        snapshot,
        { operations: asked, topics: [] },
        { evidence, dayOf },
      ).snapshot;

      const ids = everyItem(after).map(({ id }) => id);
      expect(new Set(ids).size).toBe(ids.length);
      expect(ids.every((id) => Number(id.slice(1)) < after.nextId)).toBe(true);
    }),
  );
});
