import { describe, expect, test } from 'vitest';
import { joinAnswers, readAnswer, type Operation } from '#shared/compaction/operations.ts';

const add = { op: 'add', section: 'decisions', text: 'Take the train', sources: [4] };
const answer = (...operations: unknown[]) => JSON.stringify({ scratchpad: 'notes', operations });

test.each([
  ['JSON', answer(add)],
  ['JSON in a code fence', `\`\`\`json\n${answer(add)}\n\`\`\``],
  ['a bare list', JSON.stringify([add])],
])('operations are read from %s', (_, text) => {
  expect(readAnswer(text)).toMatchObject({ ok: true, operations: [add], skipped: 0 });
});

test('unreadable operations are skipped and counted one by one', () => {
  const read = readAnswer(answer(add, { op: 'rename', id: 'i1' }, add, { ...add, text: ' ' }));

  expect(read).toMatchObject({ ok: true, operations: [add, add], skipped: 2 });
});

test.each([
  ['MOSTLY_INVALID', answer(add, 'x', 7)],
  ['MOSTLY_INVALID', `${'['.repeat(5_000)}${']'.repeat(5_000)}`],
  ['NOT_JSON', 'I cannot do that.'],
  ['NOT_JSON', answer(add).slice(0, -3)],
  ['NOT_JSON', `${answer(add)}${answer(add)}`],
  ['NOT_JSON', '\u0000'.repeat(100)],
  ['NOT_JSON', '<!DOCTYPE html><html><body>502</body></html>'],
  ['NO_OPERATIONS', 'null'],
  ['NO_OPERATIONS', '{"scratchpad":"notes"}'],
  ['NO_OPERATIONS', '"text"'],
  ['TOO_LONG', ' '.repeat(400_001)],
])('operations are refused with %s', (problem, text) => {
  expect(readAnswer(text)).toEqual({ ok: false, problem });
});

test('operations beyond the limit are skipped', () => {
  const read = readAnswer(answer(...Array.from({ length: 510 }, () => add)));

  expect(read).toMatchObject({ ok: true, skipped: 10 });
});

describe('items that are added in a group', () => {
  const { op, section, ...first } = add;
  const second = { text: 'Leave at 9', sources: [5], quote: 'at 9', status: 'todo', importance: 3 };
  const group = { op, section, items: [first, second] };
  const flat = [add, { op, section, ...second }];
  const update = { op: 'update', id: 'i1', text: 'By bus', sources: [6] };

  test.each<[string, unknown[], unknown[]]>([
    ['a group', [group], flat],
    ['a group between other operations', [update, group, add], [update, ...flat, add]],
    ['an item with a section of its own', [{ op, items: [add] }], [add]],
    [
      'turns said for all of them',
      [{ ...group, sources: [4], items: [{ text: first.text }] }],
      [add],
    ],
  ])('a group of added items is one operation an item: %s', (_, stated, operations) => {
    expect(readAnswer(answer(...stated))).toMatchObject({ ok: true, operations, skipped: 0 });
  });

  test.each<[string, unknown]>([
    ['words alone', 'Take the train'],
    ['a blank text', { ...first, text: ' ' }],
    ['another operation without its id', { ...first, op: 'update' }],
  ])('unreadable items of a group are skipped one by one: %s', (_, item) => {
    const read = readAnswer(answer({ ...group, items: [first, item, second] }));

    expect(read).toMatchObject({ ok: true, operations: flat, skipped: 1 });
  });
});

const readOne = (fields: object) => {
  const read = readAnswer(answer({ ...add, ...fields }));
  return read.ok ? read.operations[0] : undefined;
};

test.each<[what: string, written: object, read: object]>([
  ['numbers of turns as text', { sources: ['12', ' [13] '] }, { sources: [12, 13] }],
  ['turns that are no list', { sources: 4 }, { sources: [] }],
  ['an unknown status', { status: 'open' }, { status: undefined }],
])('an operation may be written with %s', (_what, written, read) => {
  expect(readOne(written)).toMatchObject(read);
});

const topic = { title: 'The train', from: 1, through: 4 };
const topicsIn = (topics: unknown) => {
  const read = readAnswer(JSON.stringify({ operations: [], topics }));
  return read.ok ? read.topics : read.problem;
};

test.each<[what: string, topics: unknown, read: unknown]>([
  ['are read', [topic], [topic]],
  ['are left out one by one', [{ title: ' ', from: 1, through: 4 }, 'x', topic], [topic]],
  ['may be missing', undefined, []],
  [
    'are bounded',
    Array.from({ length: 510 }, () => topic),
    Array.from({ length: 500 }, () => topic),
  ],
])('topics %s', (_what, topics, read) => {
  expect(topicsIn(topics)).toEqual(read);
});

describe('the answers of chunks', () => {
  const added = (text: string): Operation => ({
    op: 'add',
    section: 'decisions',
    text,
    sources: [1],
  });
  const update = (id: string, text: string): Operation => ({
    op: 'update',
    id,
    text,
    sources: [1],
  });
  const remove = (id: string): Operation => ({ op: 'remove', id, reason: 'over', sources: [1] });

  test.each([
    [
      'keep their order',
      [[added('a'), added('b')], [added('c')]],
      [added('a'), added('b'), added('c')],
    ],
    [
      'update an item by the later one, the other stands beside it',
      [[update('i1', 'a')], [update('i1', 'b')]],
      [{ ...update('i1', 'a'), isBeside: true as const }, update('i1', 'b')],
    ],
    [
      'update rather than remove, later',
      [[remove('i1')], [update('i1', 'b')]],
      [update('i1', 'b')],
    ],
  ])('operations of chunks %s', (_, chunks, merged) => {
    const answers = chunks.map((operations) => ({ operations, topics: [] }));

    expect(joinAnswers(answers).operations).toEqual(merged);
  });
});
