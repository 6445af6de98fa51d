import { applyAnswer } from '#shared/compaction/apply.ts';
import { everyItem, constraintSection } from '#shared/conversation/documents/snapshot.ts';
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
