import {
  autoRequest,
  buildDue,
  compactOnce,
  see,
  geminiCliBench,
} from '#test/support/compaction/compacted-conversation.ts';
import { createScriptedModel, snapshotAnswer } from '../fakes/scripted-model.ts';
import { describe, expect, test } from 'vitest';

const good = snapshotAnswer();
const without = (...texts: string[]) => texts.reduce((text, cut) => text.replace(cut, ''), good);

/** Answers from which no snapshot can be read that could be trusted. */
const unreadable: { shape: string; answer: string }[] = [
  { shape: 'prose', answer: 'The user plans a trip and eats no meat. They asked about places.' },
  {
    shape: 'sections without their root',
    answer: without('<state_snapshot>', '</state_snapshot>'),
  },
  { shape: 'a cut within a section', answer: good.slice(0, good.indexOf('no meat')) },
  {
    shape: 'a section twice',
    answer: good.replace(
      '<recent_actions>',
      '<overall_goal>Another goal altogether.</overall_goal><recent_actions>',
    ),
  },
];

/** Answers that miss something a snapshot can do without. */
const imperfect: { shape: string; answer: string }[] = [
  { shape: 'words before and after', answer: `Here it is:\n${good}\nI hope that helps.` },
  { shape: 'no end of the root', answer: without('</state_snapshot>') },
  { shape: 'no file_system_state', answer: without('<file_system_state></file_system_state>') },
  { shape: 'an unescaped <', answer: good.replace('eats no meat', 'eats < 3 kinds of meat') },
];

async function compactWith(answer: string) {
  const bench = geminiCliBench({ model: createScriptedModel({ answers: [answer] }) });
  const conversationId = await buildDue(bench);
  const before = await see(bench.store, conversationId);
  const result = await compactOnce(bench, conversationId);
  return { result, before, after: await see(bench.store, conversationId) };
}

describe('S13: a summary in the shape of', () => {
  test.each(unreadable)(
    'refuses a summary in the shape of $shape and keeps every turn',
    async ({ answer }) => {
      const { result, before, after } = await compactWith(answer);

      expect(result.kind).toBe('retry');
      expect(after.conversation).toMatchObject({
        generation: 0,
        compactionRequests: autoRequest(),
      });
      expect(after.items).toEqual(before.items);
      expect(after.job?.records[0]?.state).toMatch(/^FAILED_(VERIFICATION|EMPTY_SUMMARY)$/);
    },
  );
});

describe('S13: a summary with', () => {
  test.each(imperfect)(
    'takes a summary with $shape, which a snapshot can do without',
    async (bad) => {
      const { result, after } = await compactWith(bad.answer);

      expect(result).toMatchObject({ state: 'COMPACTED' });
      expect(after.conversation.generation).toBe(1);
      expect(after.text).toContain('meat');
    },
  );

  test('a broken first and a good second answer is taken from the second', async () => {
    const model = createScriptedModel({ answers: ['I cannot help.', good] });
    const bench = geminiCliBench({ model });
    const conversationId = await buildDue(bench);

    expect(await compactOnce(bench, conversationId)).toMatchObject({ state: 'COMPACTED' });
  });
});
