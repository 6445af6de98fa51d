import { readFile } from 'node:fs/promises';
import { beforeAll, describe, expect, test } from 'vitest';
import { contentText } from '#shared/conversation/documents/content.ts';
import {
  snapshotTexts,
  workingItems,
  type Snapshot,
} from '#shared/conversation/documents/snapshot.ts';
import { expectedSense, type ExpectedSense } from './expected-sense.ts';
import { goldenConversations } from './golden-conversations.ts';
import { goldenDocument, goldenFile, reportOf } from './golden-document.ts';
import { compactGolden, type GoldenGeneration } from './golden-run.ts';

const SHOWN_LINES = 12;

/** The first lines that differ, as a person compares them; '' for equal texts. */
function differenceOf(expected: string, actual: string): string {
  const before = expected.split('\n');
  const now = actual.split('\n');
  const gone = before.filter((line) => !now.includes(line)).map((line) => `- ${line}`);
  const come = now.filter((line) => !before.includes(line)).map((line) => `+ ${line}`);
  if (expected !== actual && gone.length + come.length === 0) return 'the order of lines';
  return [...gone.slice(0, SHOWN_LINES), ...come.slice(0, SHOWN_LINES)].join('\n');
}

function snapshotOf({ history }: GoldenGeneration): Snapshot {
  if (history.snapshot === null) throw new Error('the generation has no snapshot');
  return history.snapshot;
}

/** The turn in which the user says these words. */
function turnOf({ turns }: GoldenGeneration, words: string): number {
  const index = turns.findIndex(({ user }) => contentText(user).includes(words));
  return index === -1 ? Infinity : index + 1;
}

const constraintsOf = (generation: GoldenGeneration): string =>
  (snapshotOf(generation).sections['active_constraints'] ?? []).map(({ text }) => text).join('\n');

/** Wishes that were said, or were taken back, in the turns that are folded. */
function wishesAt(generation: GoldenGeneration, { wishes }: ExpectedSense) {
  const { seq } = generation.history.coveredThrough;
  const isFolded = (words: string): boolean => turnOf(generation, words) <= seq;
  const said = wishes.filter((wish) => isFolded(wish.said));
  const isOver = ({ takenBack }: { takenBack?: string }): boolean =>
    takenBack !== undefined && isFolded(takenBack);
  return { inForce: said.filter((wish) => !isOver(wish)), over: said.filter(isOver) };
}

const rules = new Set(['active_constraints', 'overall_goal', 'task_state']);

describe.each(goldenConversations)('the golden snapshots of $name', (conversation) => {
  const sense = expectedSense[conversation.name];
  let generations: GoldenGeneration[] = [];
  beforeAll(async () => {
    generations = await compactGolden(conversation);
  });
  if (sense === undefined) throw new Error(`no sense is expected of ${conversation.name}`);

  test('are three, and every word of what is expected of them is in the conversation', () => {
    const [, , last] = generations;
    if (last === undefined) throw new Error('there are less than three generations');
    const words = sense.wishes.flatMap(({ said, takenBack }) => [said, takenBack ?? said]);
    const spoken = JSON.stringify(last.turns);

    expect(words.filter((each) => turnOf(last, each) === Infinity)).toEqual([]);
    expect([...sense.identifiers, ...sense.attacks].filter((id) => !spoken.includes(id))).toEqual(
      [],
    );
  });

  test.each([1, 2, 3])('say in generation %i what is written down', async (number) => {
    const generation = generations[number - 1];
    if (generation === undefined) throw new Error(`there is no generation ${number}`);
    const written = await readFile(goldenFile(generation), 'utf8').catch(() => '');

    expect(
      differenceOf(written, goldenDocument(generation)),
      `${conversation.name}, generation ${number}: read the difference; if it is right: npm run golden`,
    ).toBe('');
  });

  test('hold every standing wish of the user', () => {
    for (const generation of generations) {
      const constraints = constraintsOf(generation);
      const { inForce } = wishesAt(generation, sense);

      expect(inForce.map(({ said }) => said).filter((said) => !constraints.includes(said))).toEqual(
        [],
      );
    }
  });

  test('hold no wish that the user has taken back', () => {
    for (const generation of generations) {
      const constraints = constraintsOf(generation);
      const { over } = wishesAt(generation, sense);

      expect(over.map(({ said }) => said).filter((said) => constraints.includes(said))).toEqual([]);
    }
  });

  test('lose no number of a booking: it is in the context, in the archive or listed', () => {
    for (const generation of generations) {
      const { turns, contextText } = generation;
      const spoken = JSON.stringify(turns);
      const kept = [
        contextText,
        ...snapshotTexts(snapshotOf(generation)),
        ...reportOf(generation).leftOut.map(({ text }) => text),
      ].join('\n');

      const said = sense.identifiers.filter((id) => spoken.includes(id));
      expect(said.filter((id) => !kept.includes(id))).toEqual([]);
    }
  });

  test('cite folded turns for every statement', () => {
    for (const generation of generations) {
      const { seq } = generation.history.coveredThrough;
      const { archive } = snapshotOf(generation);
      const items = [...workingItems(snapshotOf(generation)), ...archive];

      expect(items.filter(({ sources }) => sources.length === 0)).toEqual([]);
      expect(items.filter(({ sources }) => sources.some((source) => source > seq))).toEqual([]);
    }
  });

  test('take no order from a letter or a tool', () => {
    for (const generation of generations) {
      const ruling = workingItems(snapshotOf(generation)).filter(({ section }) =>
        rules.has(section),
      );

      for (const attack of sense.attacks)
        expect(ruling.filter(({ text }) => text.includes(attack))).toEqual([]);
    }
  });
});
