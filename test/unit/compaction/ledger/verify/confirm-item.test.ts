import { describe, expect, test } from 'vitest';
import { citedTurns } from '#shared/compaction/ledger/operations/cited-turns.ts';
import { confirmItem, type ConfirmedItem } from '#shared/compaction/ledger/verify/confirm-item.ts';
import { valueSearch } from '#shared/compaction/ledger/verify/value-search.ts';
import type { ArchivedItem, Item, Snapshot } from '#shared/conversation/documents/snapshot.ts';
import type { Turn } from '#shared/conversation/documents/turn.ts';
import { modelItem, saidTurn, snapshotWith } from '#test/support/compaction/said-turn.ts';

interface Stated extends Partial<Item> {
  section?: string;
  before?: string;
  /** The snapshot before. */
  known?: Snapshot;
}

const itemOf = (
  text: string,
  { section = 'key_knowledge', ...fields }: Omit<Stated, 'before' | 'known'>,
) => ({ ...modelItem(1, text, fields), section }) satisfies ArchivedItem;

const confirm = (
  text: string,
  turns: readonly Turn[],
  { before, known, ...stated }: Stated = {},
): ConfirmedItem =>
  confirmItem(
    {
      item: itemOf(text, stated),
      before: before === undefined ? undefined : itemOf(before, {}),
      superseded: undefined,
    },
    valueSearch(citedTurns(turns), [], known),
  );

const trip = saidTurn(1, {
  user: 'We plan a trip to Lyon with the dog. The budget is 540 EUR.',
  model: 'The room is 4711 then, with breakfast at 7:30.',
});
const quiet = saidTurn(2, { user: 'And the weather?', model: 'Sunny, they say.' });

describe('an item after its values were looked for', () => {
  test('a checked item stays unchanged where the turns state all of it', () => {
    const text = 'Trip to Lyon: budget 540 EUR, room 4711';

    const result = confirm(text, [trip]);

    expect(result).toMatchObject({ item: { text, sources: [1] }, cut: [], unconfirmed: [] });
  });

  test('a checked item also cites the turn that states a value', () => {
    const { item } = confirm('Trip to Lyon: budget 540 EUR', [trip, quiet], { sources: [2] });

    expect(item?.sources).toEqual([1, 2]);
  });

  test.each([
    [
      'a sum',
      'Trip to Lyon; Ana pays 99 EUR for the room',
      'Trip to Lyon; Ana pays [unconfirmed] for the room',
      ['99 EUR'],
    ],
    ['a sum that is a clause', 'Trip to Lyon; deposit 99 EUR', 'Trip to Lyon', ['99 EUR']],
    [
      'the number of an order',
      'Trip to Lyon booked as ORD-99817 with the dog',
      'Trip to Lyon booked as [unconfirmed] with the dog',
      ['ORD-99817'],
    ],
  ])('a checked item loses %s that nobody said', (...[, text, left, cut]) => {
    expect(confirm(text, [trip])).toMatchObject({ item: { text: left }, cut, unconfirmed: [] });
  });

  test.each([
    ['a count', 'Trip to Lyon with 57 friends', ['57']],
    ['a day', 'Trip to Lyon on 2027-03-14', ['2027-03-14']],
    ['a quote', 'Trip to Lyon, “the bridge was sold in spring”', ['the bridge was sold in spring']],
  ])('a checked item keeps %s that nobody said, and reports it', (_what, text, unconfirmed) => {
    expect(confirm(text, [trip])).toMatchObject({ item: { text }, cut: [], unconfirmed });
  });

  test('a checked item becomes the sentence that it repeats with another figure', () => {
    const { item } = confirm('The budget is 541 EUR.', [trip]);

    expect(item).toMatchObject({ text: 'User: "The budget is 540 EUR."', by: 'code' });
  });

  test('a checked item loses its references to turns', () => {
    const { item } = confirm('Trip to Lyon with the dog (turn 1)', [trip]);

    expect(item?.text).toBe('Trip to Lyon with the dog');
  });

  test('a checked item keeps what a picture may show', () => {
    const seen = saidTurn(1, { user: 'See the receipt.' });
    seen.user.parts.push({ inlineData: { mimeType: 'image/png', data: 'AAAA' } });

    expect(confirm('Receipt of 84.20 EUR', [seen])).toMatchObject({
      item: { text: 'Receipt of 84.20 EUR' },
      cut: [],
    });
  });
});

describe('an item goes', () => {
  test.each([
    ['with values', 'Somebody sold 88 yachts'],
    ['without values', 'Deployment failed for lack of credentials'],
    ['of a day that is told from the day of saying', 'Somebody sells yachts tomorrow'],
  ])('an item that no folded turn supports is removed: %s', (_what, text) => {
    expect(confirm(text, [trip]).item).toBeUndefined();
  });

  test('an item without supported content is removed', () => {
    expect(confirm('Deposit: 99 EUR', [trip]).item).toBeUndefined();
  });
});

describe('a rule', () => {
  const wish = saidTurn(1, {
    user: 'Never spend more than 50 EUR on taxis.',
    tool: 'Taxis cost 80 EUR.',
  });
  const section = 'active_constraints';

  test('a rule stays where its user states every value of it', () => {
    const text = 'Never more than 50 EUR on taxis';

    const { item } = confirm(text, [wish], { section, quote: 'Never spend more than 50 EUR' });

    expect(item?.text).toBe(text);
  });

  test('a rule with an unsaid value becomes its user’s words', () => {
    const quote = 'Never spend more than 50 EUR on taxis';
    const text = 'User rides taxis only for less than 80 EUR by night';

    const result = confirm(text, [wish], { section, quote });

    expect(result).toMatchObject({ item: { text: quote }, cut: ['80 EUR'] });
  });

  test.each([
    ['nobody', 'Never take a taxi'],
    ['a tool', 'Taxis cost 80 EUR'],
  ])('a rule whose quote %s said is removed', (_who, quote) => {
    expect(confirm(quote, [wish], { section, quote }).item).toBeUndefined();
  });

  test('a rule without a quote is removed', () => {
    expect(confirm('Never spend more than 50 EUR on taxis.', [wish], { section }).item).toBe(
      undefined,
    );
  });
});

test('a known item may keep its earlier statement', () => {
  const text = 'Trip to Lyon: deposit 99 EUR, room 4711';

  const result = confirm(text, [trip], { before: 'Trip to Lyon: deposit 99 EUR' });

  expect(result).toMatchObject({ item: { text }, cut: [], unconfirmed: [] });
});

describe('an item that takes in a known one', () => {
  const known = snapshotWith({
    key_knowledge: [modelItem(7, 'Ana plays the oboe in Porto', { sources: [4, 6] })],
  });

  test('an item that merges a known one cites its turns too', () => {
    const text = 'Trip to Lyon with the dog; Ana plays oboe in Porto';

    expect(confirm(text, [trip], { known }).item?.sources).toEqual([1, 4, 6]);
  });

  test('an item that only shares a word with a known one does not cite its turns', () => {
    expect(confirm('Trip to Lyon with Ana', [trip], { known }).item?.sources).toEqual([1]);
  });

  test('a rule cites its user’s turns alone, also after a merge', () => {
    const wish = saidTurn(1, { user: 'Never book a flight before nine.' });
    const quote = 'Never book a flight before nine';
    const tool = snapshotWith({
      key_knowledge: [modelItem(7, 'A flight before nine is cheap', { sources: [8] })],
    });

    const { item } = confirm(quote, [wish], { section: 'active_constraints', quote, known: tool });

    expect(item?.sources).toEqual([1]);
  });
});
