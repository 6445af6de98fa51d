import { describe, expect, test } from 'vitest';
import { readLedgerAnswer } from '#shared/compaction/ledger/prompt/ledger-answer.ts';

const add = { op: 'add', section: 'decisions', text: 'Take the train', sources: [4] };
const answer = (...operations: unknown[]) => JSON.stringify({ scratchpad: 'notes', operations });

describe('the operations of an answer', () => {
  test.each([
    ['JSON', answer(add)],
    ['JSON in a code fence', `\`\`\`json\n${answer(add)}\n\`\`\``],
    ['JSON between sentences', `Here it is: ${answer(add)} Done.`],
    ['a bare list', JSON.stringify([add])],
    ['a bare list in a code fence', `\`\`\`\n${JSON.stringify([add])}\n\`\`\``],
  ])('ledger operations are read from %s', (_, text) => {
    expect(readLedgerAnswer(text)).toMatchObject({ ok: true, operations: [add], skipped: 0 });
  });

  test('a ledger answer may have no operations', () => {
    expect(readLedgerAnswer(answer())).toEqual({ ok: true, operations: [], skipped: 0 });
  });

  test('unreadable ledger operations are skipped and counted one by one', () => {
    const read = readLedgerAnswer(
      answer(add, { op: 'rename', id: 'i1' }, add, { ...add, text: ' ' }),
    );

    expect(read).toMatchObject({ ok: true, operations: [add, add], skipped: 2 });
  });

  test.each([
    ['MOSTLY_INVALID', answer(add, 'x', 7)],
    ['NOT_JSON', 'I cannot do that.'],
    ['NOT_JSON', answer(add).slice(0, -3)],
    ['NO_OPERATIONS', '{"scratchpad":"notes"}'],
    ['NO_OPERATIONS', '"text"'],
    ['TOO_LONG', ' '.repeat(400_001)],
  ])('ledger operations are refused with %s', (problem, text) => {
    expect(readLedgerAnswer(text)).toEqual({ ok: false, problem });
  });

  test('ledger operations beyond the limit are skipped', () => {
    const read = readLedgerAnswer(answer(...Array.from({ length: 510 }, () => add)));

    expect(read).toMatchObject({ ok: true, skipped: 10 });
  });
});

describe('items that are added in a group', () => {
  const { op, section, ...first } = add;
  const second = { text: 'Leave at 9', sources: [5], quote: 'at 9', status: 'todo', importance: 3 };
  const group = { op, section, items: [first, second] };
  const flat = [add, { op, section, ...second }];
  const update = { op: 'update', id: 'i1', text: 'By bus', sources: [6] };

  test.each<[string, unknown[], unknown[]]>([
    ['a group', [group], flat],
    ['two groups of a section', [group, group], [...flat, ...flat]],
    ['a group between other operations', [update, group, add], [update, ...flat, add]],
    ['an empty group', [update, { ...group, items: [] }], [update]],
    ['an item with a section of its own', [{ op, items: [add] }], [add]],
    [
      'turns said for all of them',
      [{ ...group, sources: [4], items: [{ text: first.text }] }],
      [add],
    ],
    ['no group, for all that', [add, { ...add, items: null }], [add, add]],
  ])('a group of added items is one operation an item: %s', (_, stated, operations) => {
    expect(readLedgerAnswer(answer(...stated))).toMatchObject({ ok: true, operations, skipped: 0 });
  });

  test.each<[string, unknown]>([
    ['words alone', 'Take the train'],
    ['a list', [first]],
    ['null', null],
    ['no text', { sources: [4] }],
    ['a blank text', { ...first, text: ' ' }],
    ['no sources', { text: 'Take the train' }],
    ['turns that are none', { ...first, sources: ['four'] }],
    ['another operation without its id', { ...first, op: 'update' }],
  ])('unreadable items of a group are skipped one by one: %s', (_, item) => {
    const read = readLedgerAnswer(answer({ ...group, items: [first, item, second] }));

    expect(read).toMatchObject({ ok: true, operations: flat, skipped: 1 });
  });

  test.each([
    ['a group without items', { op, section }],
    ['a group whose items are no list', { op, section, items: first }],
  ])('an unreadable group of added items is one operation: %s', (_, stated) => {
    expect(readLedgerAnswer(answer(group, stated))).toMatchObject({ operations: flat, skipped: 1 });
  });

  test('items added in a group each count against the limit', () => {
    const items = Array.from({ length: 300 }, () => first);

    const read = readLedgerAnswer(answer({ ...group, items }, { ...group, items }));

    expect(read).toMatchObject({ ok: true, skipped: 100 });
  });

  test('items added in a mostly unreadable group are counted one by one', () => {
    const read = readLedgerAnswer(answer(update, { ...group, items: ['x', first, 'y', 'z'] }));

    expect(read).toEqual({ ok: false, problem: 'MOSTLY_INVALID' });
  });
});
