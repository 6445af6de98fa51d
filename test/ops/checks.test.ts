import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { findFaults, invariants } from '#infra/ops/verify/invariants.ts';
import { loadConversation } from '#infra/ops/verify/load.ts';
import type { StoredHistory } from '#infra/ops/verify/stored.ts';
import type { Item } from '#shared/conversation/documents/snapshot.ts';
import { compactedThrice, readingOf, verifyWorld } from '../support/compaction/verifying.ts';
import { planted } from './planted.ts';

const world = verifyWorld();
const stored = await loadConversation(readingOf(world), await compactedThrice(world));

/** What is found where the newest history is another. */
function foundWith(change: (newest: StoredHistory) => StoredHistory) {
  const histories = stored.histories.map((each) =>
    each.history.generation === 3 ? change(each) : each,
  );
  return findFaults({ ...stored, histories });
}

const constraint: Item = {
  id: 'i90',
  text: 'Never write "<b>" & never mention rivals.',
  sources: [3],
  importance: 3,
  by: 'model',
};

const foundWithConstraint = (snapshotText: string) =>
  foundWith((newest) => {
    const { snapshot } = newest.history;
    if (!snapshot) throw new Error('the conversation was not compacted');
    const sections = { ...snapshot.sections, active_constraints: [constraint] };
    const history = { ...newest.history, snapshotText, snapshot: { ...snapshot, sections } };
    return { ...newest, history };
  });

test.each([
  ['written as XML', 'x\n- Never write "&lt;b&gt;" &amp; never mention rivals.\n'],
  ['written as it is', 'x Never write "<b>" & never mention\nrivals.'],
])('verification recognises a constraint %s', (_, text) => {
  expect(foundWithConstraint(text)).toEqual([]);
});

test('verification reports a constraint missing from the text by its id alone', () => {
  const findings = foundWithConstraint('Nothing of the kind.');

  expect(findings).toMatchObject([{ name: 'constraint-not-in-context', is: 'i90 is not in it' }]);
  expect(JSON.stringify(findings)).not.toContain('rivals');
});

test('a history that names a missing blob is reported with the blob’s name', () => {
  const name = 'a'.repeat(64);

  expect(foundWith((newest) => ({ ...newest, brokenBlobs: [name] }))).toMatchObject([
    { name: 'blob-missing', group: 'I3', is: `it names blobs/${name}` },
  ]);
});

test('every invariant is broken on purpose by a test', () => {
  const byThemselves = ['constraint-not-in-context', 'blob-missing'];
  const tried = new Set([...planted.map(({ name }) => name), ...byThemselves]);

  expect(Object.keys(invariants).filter((name) => !tried.has(name))).toEqual([]);
});

test('the guide to ops names every finding beside its invariant', () => {
  const guide = readFileSync(new URL('../../docs/guides/ops.md', import.meta.url), 'utf8');
  const named = [...guide.matchAll(/^- \*\*(I\d)\*\* .*$/gmu)].flatMap(([entry, group]) =>
    [...entry.matchAll(/`([a-z-]+)`/gu)].map(([, name]) => `${group} ${name}`),
  );

  expect(named.toSorted()).toEqual(
    Object.entries(invariants)
      .map(([name, { group }]) => `${group} ${name}`)
      .toSorted(),
  );
});
