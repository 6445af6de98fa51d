import { describe, expect, test } from 'vitest';
import type { Operation } from '#shared/compaction/operations.ts';
import type { SnapshotRoom } from '#shared/compaction/room.ts';
import { UNSAID_MARK } from '#shared/compaction/values.ts';
import { writeSnapshot, type SnapshotInput } from '#shared/compaction/write-snapshot.ts';
import {
  emptySnapshot,
  workingItems,
  type Item,
  type Snapshot,
} from '#shared/conversation/documents/snapshot.ts';
import type { Turn } from '#shared/conversation/documents/turn.ts';
import { modelItem, saidTurn, snapshotWith } from '#test/support/compaction/said-turn.ts';
import { counting } from '#test/support/compaction/engine-samples.ts';

const room: SnapshotRoom = {
  characters: 6_000,
  roomTokens: 2_000,
  ceilingTokens: 2_300,
  constraintTokens: 800,
};

const trip = saidTurn(1, {
  user: 'We plan a trip to Lyon with the dog. The budget is 540 EUR.',
  model: 'The room is 4711 then, with breakfast at 7:30.',
});
const quiet = saidTurn(2, { user: 'And the weather?', model: 'Sunny, they say.' });

const add = (text: string, sources: number[] = [1], section = 'key_knowledge'): Operation => ({
  op: 'add',
  section,
  text,
  sources,
});

const write = (
  operations: readonly Operation[],
  {
    topics = [],
    ...input
  }: Partial<SnapshotInput> & { topics?: SnapshotInput['answer']['topics'] } = {},
) =>
  writeSnapshot({
    previous: emptySnapshot('assistant'),
    answer: { operations: [...operations], topics },
    turns: [trip, quiet],
    recalled: [],
    otherTexts: [],
    room,
    counting,
    ...input,
  });

const LOOP = 'The user asks again and again and then once more for it. '.repeat(20);
const things = ['lamp', 'chair', 'bridge', 'garden', 'window', 'letter', 'ferry', 'door', 'tower'];
const places = [
  'Porto',
  'Lyon',
  'Busan',
  'Lima',
  'Oslo',
  'Riga',
  'Turin',
  'Quito',
  'Kyoto',
  'Cork',
];
/** Different clauses. */
const clauses = (count: number): string =>
  Array.from(
    { length: count },
    (_, n) => `${things[n % things.length]} and ${things[(n * 5) % 7]} in ${places[n % 10]}; `,
  ).join('');

/** The snapshot and the report of an answer that is taken. */
function written(...input: Parameters<typeof write>) {
  const result = write(...input);
  if (!result.ok) throw new Error(`refused: ${result.problem}`);
  return result;
}

const itemsOf = (snapshot: Snapshot): Item[] => workingItems(snapshot);
const textsOf = (...input: Parameters<typeof write>): string[] =>
  itemsOf(written(...input).snapshot).map(({ text }) => text);
const knownTrip = (more: Partial<Item> = {}, text = 'Ana: oboe in Porto, room 815') =>
  snapshotWith({ key_knowledge: [modelItem(7, text, { sources: [40], ...more })] });

describe('the values of a statement', () => {
  test('a statement whose values were said stays as it is', () => {
    const { snapshot, report } = written([add('Trip to Lyon: budget 540 EUR, room 4711')]);

    expect(itemsOf(snapshot)).toMatchObject([
      { text: 'Trip to Lyon: budget 540 EUR, room 4711', sources: [1] },
    ]);
    expect(report).toMatchObject({ statements: 1, values: 2, marked: [], markedCount: 0 });
  });

  test('a value that nobody said is marked, and the report names it', () => {
    const text = 'Trip to Lyon: budget 541 EUR, room 4711';

    const { snapshot, report } = written([add(text)]);

    expect(itemsOf(snapshot)).toMatchObject([
      { text: `Trip to Lyon: budget 541${UNSAID_MARK} EUR, room 4711` },
    ]);
    expect(report).toMatchObject({ marked: [{ id: 'i1', text, values: ['541'] }], markedCount: 1 });
  });

  test.each<[who: string, input: Partial<SnapshotInput>]>([
    ['a turn', { turns: [trip, saidTurn(2, { user: 'The code is 815.' })] }],
    ['a tool', { turns: [trip, saidTurn(2, { tool: 'code: 815' })] }],
    ['the surroundings of a turn', { turns: [trip, { ...quiet, surroundings: 'code 815' }] }],
    ['an excerpt that a message brought back', { recalled: ['code: 815'] }],
    ['a text that stays', { otherTexts: ['The code is 815.'] }],
    ['a known item', { previous: knownTrip() }],
    [
      'an archived item',
      {
        previous: {
          ...snapshotWith({}),
          archive: [{ ...modelItem(7, 'Code 815'), section: 'key_knowledge' }],
        },
      },
    ],
  ])('a value may be said by %s', (_who, input) => {
    expect(textsOf([add('Trip to Lyon: code 815')], input)).toContain('Trip to Lyon: code 815');
  });

  test('a statement also cites the turn that says a value of it', () => {
    const { snapshot, report } = written([add('Trip to Lyon: budget 540 EUR', [2])]);

    expect(itemsOf(snapshot)).toMatchObject([{ sources: [1, 2] }]);
    expect(report.sourcesAdded).toBe(1);
  });

  test('a statement with a value of a known item cites its turns', () => {
    const { snapshot } = written([add('Trip to Lyon, then to room 815')], {
      previous: knownTrip(),
    });

    expect(itemsOf(snapshot).at(-1)).toMatchObject({ sources: [1, 40] });
  });

  test('a statement without a turn is marked as a whole', () => {
    const { snapshot, report } = written([add('A trip to Lyon', [77])]);

    expect(itemsOf(snapshot)).toMatchObject([
      { text: `A trip to Lyon${UNSAID_MARK}`, sources: [] },
    ]);
    expect(report.withoutSource).toBe(1);
  });

  test('a picture may show what no text says', () => {
    const picture = { inlineData: { mimeType: 'image/png', data: 'AAAA' } };
    const seen: Turn = { ...trip, user: { role: 'user', parts: [{ text: 'See it.' }, picture] } };

    const text = 'Receipt of 84.20 EUR';

    expect(textsOf([add(text, [1]), add(`${text} again`, [2])], { turns: [seen, quiet] })).toEqual([
      text,
      `Receipt of 84.20${UNSAID_MARK} EUR again`,
    ]);
  });

  test('a marked value of a known item bears nothing out', () => {
    const previous = knownTrip({}, `Ana: oboe in Porto, room 815${UNSAID_MARK}`);

    const texts = textsOf([add('Trip to Lyon, then to room 815')], { previous });

    expect(texts).toContain(`Trip to Lyon, then to room 815${UNSAID_MARK}`);
  });

  test('a reworded item is marked again where its value was not said', () => {
    const previous = knownTrip({}, `Ana: oboe in Porto, room 815${UNSAID_MARK}`);
    const update: Operation = {
      op: 'update',
      id: 'i7',
      text: 'Ana: room 815, oboe; likes Lyon',
      sources: [1],
    };

    expect(textsOf([update], { previous })).toEqual([
      `Ana: room 815${UNSAID_MARK}, oboe; likes Lyon`,
    ]);
  });

  test('marks that a model writes are taken away', () => {
    const text = `Trip to Lyon${UNSAID_MARK}: budget 540${UNSAID_MARK} EUR`;

    expect(textsOf([add(text)])).toEqual(['Trip to Lyon: budget 540 EUR']);
  });

  test('a topic that names what another turn says cites that turn, too', () => {
    const topics = [
      { title: 'Room 4711', from: 1, through: 1 },
      { title: 'Room 4711 again', from: 2, through: 2 },
    ];

    expect(itemsOf(written([], { topics }).snapshot)).toMatchObject([
      { text: 'Room 4711', sources: [1], through: 1 },
      { text: 'Room 4711 again', sources: [2, 1], through: 2 },
    ]);
  });
});

describe('S13: an answer is refused', () => {
  const invented = Array.from({ length: 5 }, (_, n) => add(`Somebody paid ${40_000 + n} dollars`));

  test.each<[problem: string, operations: Operation[]]>([
    ['EMPTY', []],
    ['EMPTY', [add('A rule', [1], 'mood')]],
    ['EMPTY', [add(LOOP)]],
    ['FOREIGN_ANSWER', [...invented, add('Trip to Lyon: 540 EUR, room 4711')]],
  ])('S13: an answer is refused with %s', (problem, operations) => {
    expect(write(operations)).toEqual({ ok: false, problem });
  });

  test('two invented values are slips, however few there are', () => {
    expect(write(invented.slice(0, 2)).ok).toBe(true);
  });

  test('half of the values may be invented', () => {
    const said = ['540 EUR', '4711', '540 EUR for room 4711'].map((text) => add(`Trip: ${text}`));

    expect(write([...invented.slice(0, 4), ...said]).ok).toBe(true);
  });
});

describe('an answer is taken', () => {
  test('an answer that says nothing new leaves what was known', () => {
    const previous = knownTrip();

    const { snapshot, report } = written([], { previous });

    expect(snapshot).toEqual({ ...previous, folds: 1, roomCharacters: room.characters });
    expect(report).toMatchObject({ statements: 0, refused: {}, droppedCount: 0 });
  });

  test('a statement that runs in a loop goes alone, and is told', () => {
    const { snapshot, report } = written([add(LOOP), add('Trip to Lyon')]);

    expect(itemsOf(snapshot)).toMatchObject([{ text: 'Trip to Lyon' }]);
    expect(report.refused).toEqual({ REPETITIVE: 1 });
  });

  test('an update that runs in a loop leaves the known words to be found', () => {
    const update: Operation = {
      op: 'update',
      id: 'i7',
      text: LOOP,
      sources: [1],
    };

    const { snapshot, report } = written([update, add('Trip')], { previous: knownTrip() });

    expect(snapshot.archive).toMatchObject([{ text: 'Ana: oboe in Porto, room 815' }]);
    expect(report.refused).toEqual({ REPETITIVE: 1 });
  });

  test('a constraint is not checked: it is what the user says', () => {
    const text = 'The budget is 540 EUR.';

    const { snapshot, report } = written([add(text, [1], 'active_constraints')]);

    expect(itemsOf(snapshot)).toMatchObject([{ text, quote: text }]);
    expect(report.statements).toBe(0);
  });

  test('folds are counted, and the room is noted for the next', () => {
    const { snapshot } = written([add('Trip')], { previous: { ...knownTrip(), folds: 4 } });

    expect(snapshot).toMatchObject({ folds: 5, roomCharacters: room.characters });
  });

  test('the report counts what was refused, removed and shortened', () => {
    const remove: Operation = {
      op: 'remove',
      id: 'i7',
      reason: 'over',
      sources: [1],
    };
    const long = `Trip to Lyon; ${clauses(200)}`;

    const { report } = written([remove, add('x', [1], 'mood'), add(long)], {
      previous: knownTrip(),
    });

    expect(report).toMatchObject({
      refused: { UNKNOWN_SECTION: 1 },
      refusedTexts: [{ text: 'x', reason: 'UNKNOWN_SECTION' }],
      removed: [{ text: 'Ana: oboe in Porto, room 815', reason: 'over' }],
      removedCount: 1,
    });
    expect(report.shortened).toHaveLength(1);
  });

  test('the lists of a report are bounded, its counts complete', () => {
    const refused = Array.from({ length: 80 }, () => add('x '.repeat(300), [1], 'mood'));

    const { report } = written([...refused, add('Trip to Lyon')]);

    expect(report.refused).toEqual({ UNKNOWN_SECTION: 80 });
    expect(report.refusedTexts).toHaveLength(50);
    expect(report.refusedTexts[0]?.text.length).toBeLessThanOrEqual(200);
  });

  test('what finds no room is told', () => {
    const items = Array.from({ length: 60 }, (_, n) => add(`Trip to Lyon, part ${'a'.repeat(n)}`));

    const { report, snapshot } = written(items, { room: { ...room, ceilingTokens: 300 } });

    expect(report.archived).toBe(snapshot.archive.length);
    expect(report.archived).toBeGreaterThan(20);
    expect(report.droppedCount).toBe(0);
  });
});

test('an updated item of 810 characters, importance 3, is there a generation later', () => {
  const long = `Ana: ${clauses(41)}room 815`;
  const previous = knownTrip({ importance: 3 });
  const update: Operation = {
    op: 'update',
    id: 'i7',
    text: long,
    sources: [1],
    importance: 3,
  };
  const first = written([update], { previous }).snapshot;
  const many = Array.from({ length: 40 }, (_, n) => add(`Trip to Lyon, part ${'b'.repeat(n + 1)}`));

  const { snapshot, report } = written(many, {
    previous: first,
    room: { ...room, ceilingTokens: 900 },
  });

  expect(long.length).toBeGreaterThanOrEqual(800);
  expect(itemsOf(snapshot).find(({ id }) => id === 'i7')?.text).toBe(long);
  expect(report.droppedCount).toBe(0);
});
