import { expect, test } from 'vitest';
import type { Topic } from '#shared/compaction/operations.ts';
import { writeSnapshot } from '#shared/compaction/write-snapshot.ts';
import { emptySnapshot } from '#shared/conversation/documents/snapshot.ts';
import { saidTurn } from '#test/support/compaction/said-turn.ts';

const turns = [
  saidTurn(1, { user: 'My order is QX-771905.', model: 'Thank you.' }),
  saidTurn(2, { user: 'What is a ferry?', model: 'A ship.' }),
  saidTurn(3, { user: 'Where is that order?', model: 'On its way.' }),
  saidTurn(4, { user: 'It is number 90210 at the depot.', model: 'I see.' }),
];

/** The timeline of the four turns, as a summariser has divided them. */
function timelineOf(topics: Topic[]) {
  const written = writeSnapshot({
    previous: emptySnapshot('assistant'),
    answer: { operations: [], topics },
    turns,
    recalled: [],
    otherTexts: [],
    room: { characters: 5_000, roomTokens: 2_000, ceilingTokens: 2_000, constraintTokens: 500 },
    counting: { rule: 'character-class' },
  });
  return written.ok ? (written.snapshot.sections['timeline'] ?? []) : [];
}

test('topics stand in the order of their turns, whatever order they are named in', () => {
  const timeline = timelineOf([
    { title: 'ferries', from: 2, through: 2 },
    { title: 'order delayed', from: 3, through: 4 },
    { title: 'order named', from: 1, through: 1 },
  ]);

  expect(timeline.map(({ text }) => text)).toEqual(['order named', 'ferries', 'order delayed']);
});

test('a topic begins where it began and cites the earlier turn whose value its title has, too', () => {
  const [topic] = timelineOf([{ title: 'order QX-771905 looked for', from: 3, through: 4 }]);

  expect(topic).toMatchObject({ sources: [3, 1], through: 4 });
});

test('a topic cites no turn for a value that a turn of its stretch says', () => {
  const [topic] = timelineOf([{ title: 'order at the depot, 90210', from: 3, through: 4 }]);

  expect(topic).toMatchObject({ text: 'order at the depot, 90210', sources: [3], through: 4 });
});
