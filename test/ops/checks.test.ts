import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import {
  checkMasks,
  checkOnce,
  checkShown,
  checkStanding,
} from '#infra/ops/verify/check-context.ts';
import { checkHistories } from '#infra/ops/verify/check-histories.ts';
import { faults } from '#infra/ops/verify/finding.ts';
import {
  toStoredHistory,
  toStoredTurn,
  type StoredHistory,
} from '#infra/ops/verify/load/loaded.ts';
import { assembleContext } from '#shared/conversation/context/assemble-context.ts';
import { decodeHistory, type History } from '#shared/conversation/documents/history.ts';
import { conversationPath, historyPath, turnPath } from '#shared/conversation/documents/paths.ts';
import { readConversation, readTurns } from '#shared/conversation/context/read-conversation.ts';
import type { Item } from '#shared/conversation/documents/snapshot.ts';
import { planted } from './planted.ts';
import { compactedThrice, verifyWorld } from '../support/compaction/verifying.ts';

/** A conversation whose turns 29 and 30 stand behind a snapshot, with a pin. */
async function loaded() {
  const world = verifyWorld();
  const { store } = world;
  const conversationId = await compactedThrice(world);
  const conversation = (await readConversation(store, conversationId))?.value;
  const [document] = await store.get([historyPath(conversationId, 3)]);
  if (!conversation || !document) throw new Error('the conversation was not compacted');
  const history = decodeHistory(document);
  const turns = (await readTurns(store, conversationId, [29, 30])).map(({ value }) => value);
  const items = assembleContext({ ...conversation, history, turns });
  const context = { history, turns, items, expected: items, shown: undefined };
  const stored = turns.map((turn) => toStoredTurn(conversationId, turn));
  return { conversationId, conversation, history, turns, stored, context };
}

const input = await loaded();
const told = (findings: readonly { name: string; path: string }[]) =>
  findings.map(({ name, path }) => `${name} ${path}`);
const atConversation = (name: string) => [`${name} ${conversationPath(input.conversationId)}`];

describe('the check that each content stands in the context once', () => {
  test('the check for duplicated content finds nothing in an assembled context', () => {
    expect(checkOnce({ ...input, turns: input.stored })).toEqual([]);
  });

  test.each([
    ['left out', input.context.items.filter(({ seq }) => seq !== 30)],
    ['cut short', input.context.items.slice(0, -1)],
    [
      'shown twice',
      [...input.context.items, ...input.context.items.filter(({ seq }) => seq === 30)],
    ],
  ])('the check for duplicated content finds a turn that was %s', (_, items) => {
    const findings = checkOnce({
      ...input,
      turns: input.stored,
      context: { ...input.context, items },
    });

    expect(told(findings)).toEqual([`not-once-in-context ${turnPath(input.conversationId, 30)}`]);
  });

  test('the check for duplicated content finds a turn both folded and shown', () => {
    const conversation = { coveredThrough: { seq: 29, contentIndex: 0 } };

    expect(told(checkOnce({ ...input, conversation, turns: input.stored }))).toEqual([
      `not-once-in-context ${turnPath(input.conversationId, 29)}`,
    ]);
  });
});

const withHistory = (changes: Partial<History>) => ({
  ...input,
  context: { ...input.context, history: { ...input.history, ...changes } },
});

test.each([
  ['a part that is there', { seq: 30, contentIndex: 1, partIndex: 0 }, []],
  ['a content that is not there', { seq: 30, contentIndex: 7, partIndex: 0 }, ['mask-astray']],
  ['a part that is not there', { seq: 30, contentIndex: 0, partIndex: 3 }, ['mask-astray']],
  ['a turn that is folded', { seq: 3, contentIndex: 0, partIndex: 0 }, []],
])('the check of truncated outputs: %s', (_, mask, names) => {
  const findings = checkMasks(withHistory({ masks: [mask] }));

  expect(findings.map(({ name }) => name)).toEqual(names);
});

describe('the check of what stands always', () => {
  const item: Item = {
    id: 'i90',
    text: 'Never write "<b>" & never mention rivals.',
    sources: [3],
    importance: 3,
    by: 'model',
  };
  const snapshot = input.history.snapshot ?? { sections: {} };
  const withConstraint = (snapshotText: string) =>
    withHistory({
      snapshotText,
      snapshot: {
        schemaVersion: 1,
        profile: 'assistant',
        archive: [],
        nextId: 91,
        sections: { ...snapshot.sections, active_constraints: [item] },
      },
    });

  test.each([
    ['written as XML', 'x\n- Never write "&lt;b&gt;" &amp; never mention rivals.\n'],
    ['written as it is', 'x Never write "<b>" & never mention\nrivals.'],
  ])('verification recognises a constraint %s', (_, text) => {
    expect(checkStanding(withConstraint(text))).toEqual([]);
  });

  test('verification reports a constraint missing from the text by its id alone', () => {
    const findings = checkStanding(withConstraint('Nothing of the kind.'));

    expect(told(findings)).toEqual(atConversation('constraint-not-in-context'));
    expect(JSON.stringify(findings)).not.toContain('rivals');
  });

  test('verification reports a pin missing from the context', () => {
    const items = input.context.items.filter(({ kind }) => kind !== 'pin');

    expect(told(checkStanding({ ...input, context: { ...input.context, items } }))).toEqual(
      atConversation('pin-not-in-context'),
    );
  });
});

describe('the check of what /context shows', () => {
  const shown = (changes: object) => ({
    ...input,
    context: { ...input.context, shown: { generation: 3, items: input.context.items, ...changes } },
  });
  const system = { kind: 'system', content: 'Be kind.' };

  test.each([
    ['the same', {}],
    ['the same behind an instruction', { items: [system, ...input.context.items] }],
  ])('the check of /context accepts %s', (_, changes) => {
    expect(checkShown(shown(changes))).toEqual([]);
  });

  test.each([
    ['another generation', { generation: 2 }],
    ['an item less', { items: input.context.items.slice(1) }],
    ['an item more', { items: [...input.context.items, ...input.context.items] }],
  ])('the check of /context finds %s', (_, changes) => {
    expect(told(checkShown(shown(changes)))).toEqual(atConversation('context-differs'));
  });
});

test('a history that names a missing blob is reported with the blob’s name', () => {
  const stored: StoredHistory = {
    ...toStoredHistory(input.conversationId, { ...input.history, generation: 1, parent: 0 }),
    brokenBlobs: ['a'.repeat(64)],
  };
  const conversation = { ...input.conversation, generation: 1 };

  const [found] = checkHistories({ ...input, conversation, histories: [stored] });

  expect(found).toMatchObject({ name: 'blob-missing', invariant: 'I3' });
  expect(found?.is).toContain('a'.repeat(64));
});

test('every named fault is planted or tried by itself', () => {
  const byThemselves = [
    'not-once-in-context',
    'mask-astray',
    'constraint-not-in-context',
    'context-differs',
    'blob-missing',
  ];
  const tried = new Set([...planted.map(({ name }) => name), ...byThemselves]);

  expect(Object.keys(faults).filter((name) => !tried.has(name))).toEqual([]);
});

test('the guide to ops names every finding beside its invariant', () => {
  const guide = readFileSync(new URL('../../docs/guides/ops.md', import.meta.url), 'utf8');
  const named = [...guide.matchAll(/^- \*\*(I\d)\*\* .*$/gmu)].flatMap(([entry, invariant]) =>
    [...entry.matchAll(/`([a-z-]+)`/gu)].map(([, name]) => `${invariant} ${name}`),
  );

  expect(named.toSorted()).toEqual(
    Object.entries(faults)
      .map(([name, { invariant }]) => `${invariant} ${name}`)
      .toSorted(),
  );
});
