import { contentText } from '#shared/models/content.ts';
import {
  type ScriptedAnswer,
  createScriptedModel,
  snapshotAnswer,
} from '#test/fakes/scripted-model.ts';
import { needAgain } from '#test/support/chat/lifecycle.ts';
import {
  autoRequest,
  buildDue,
  compactOnce,
  manualRequest,
  see,
  type CompactionBench,
  compactionBench,
} from '#test/support/compaction/compacted-conversation.ts';
import {
  type ConversationToBuild,
  addTurn,
  madeUpAnswer,
  madeUpQuestion,
} from '#test/support/compaction/conversation-builder.ts';
import { writeJob } from '#test/support/compaction/past-compactions.ts';
import { describe, expect, test } from 'vitest';

const first = snapshotAnswer('The first pass says harbours.');
const second = snapshotAnswer('The second pass says markets.');

const profile = { profile: 'gemini-cli', settings: { thresholdTokens: 1_000 } } as const;

/** A conversation of the profile `gemini-cli`, compacted by a worker whose setting is another strategy. */
async function compact(
  answers: readonly ScriptedAnswer[] = [first, second],
  options: Partial<ConversationToBuild> = {},
) {
  const bench = compactionBench({ model: createScriptedModel({ answers }) });
  const conversation = { ...profile, compactionRequests: autoRequest(), ...options.conversation };
  const conversationId = await buildDue(bench, { ...options, conversation });
  await compactOnce(bench, conversationId);
  return { bench, conversationId, ...(await see(bench.store, conversationId)) };
}

/** The content with which the summariser is asked, below the history. */
const requestOf = ({ bench }: { bench: CompactionBench }, call = 0): string =>
  contentText(bench.model.calls[call]?.contents.at(-1) ?? { role: 'user', parts: [] });

describe('the two passes of Gemini CLI’s algorithm', () => {
  test('the first pass asks for a snapshot, the second shows it and asks what it lacks', async () => {
    const { bench, history, text } = await compact();

    const [asked, again, ...more] = bench.model.calls;
    expect(more).toEqual([]);
    expect(asked).toMatchObject({ promptId: 'request-1', role: 'utility_compressor' });
    expect(again).toMatchObject({ promptId: 'request-1-verify', role: 'utility_compressor' });
    expect(again?.systemInstruction).toBe(asked?.systemInstruction);
    expect(again?.contents).toEqual([
      ...(asked?.contents ?? []),
      { role: 'model', parts: [{ text: first }] },
      { role: 'user', parts: [{ text: expect.stringContaining('What did it omit') }] },
    ]);
    expect(history).toMatchObject({
      strategy: 'gemini-cli',
      promptVersion: expect.stringMatching(/^gemini-cli-\d+$/),
      modelCalls: 2,
    });
    expect(history).not.toHaveProperty('variant');
    expect(text).toContain('state_snapshot');
    expect(text).not.toContain('scratchpad');
  });

  test('what Gemini CLI’s passes say is compared with no turn, and names none', async () => {
    const { history, text } = await compact([snapshotAnswer('The deposit is 7,350 won.')]);

    const items = Object.values(history?.snapshot?.sections ?? {}).flat();
    expect(text).toContain('7,350 won');
    expect(items.length).toBeGreaterThan(3);
    expect(items.flatMap(({ sources }) => sources)).toEqual([]);
  });

  test('the next compaction is told of the earlier snapshot', async () => {
    const { bench, conversationId, conversation } = await compact();
    for (let seq = 21; seq <= 40; seq++) {
      const turn = { user: madeUpQuestion(seq), answer: madeUpAnswer(seq) };
      await addTurn(bench.store, conversationId, turn);
    }
    bench.clock.advance(60_000);
    await needAgain(bench, conversationId, 'request-2');

    await compactOnce(bench, conversationId);

    const { history } = await see(bench.store, conversationId);
    expect(conversation.generation).toBe(1);
    expect(history).toMatchObject({ generation: 2, parent: 1 });
    expect(requestOf({ bench }, 2)).toMatch(/earlier snapshot\. Integrate it/u);
    expect(JSON.stringify(bench.model.calls[2]?.contents)).toContain('pass says markets');
  });
});

test.each([
  ['data that cannot end its frame', 'a </focus> b', '<focus>a &lt;/focus&gt; b</focus>'],
  ['nothing when it is blank', ' ', ''],
])('a user’s focus is %s', async (_, focus, shown) => {
  const compactionRequests = manualRequest('m-1', focus);

  const request = requestOf(await compact([first], { conversation: { compactionRequests } }));

  expect(request).toContain(shown);
  expect(request.includes('<focus>')).toBe(shown !== '');
});

test('the gemini-cli profile folds one summariser call’s worth, and the rest next time', async () => {
  const turns = Array.from({ length: 30 }, () => ({ answer: 'word '.repeat(1_000) }));
  const settings = { thresholdTokens: 1_000, windowTokens: 32_000 };

  const { conversation, text } = await compact([first], { turns, conversation: { settings } });

  expect(conversation.coveredThrough.seq).toBeGreaterThan(5);
  expect(conversation.coveredThrough.seq).toBeLessThan(21);
  expect(text).toContain('Question 30:');
  expect(conversation.compactionRequests.auto).toBeDefined();
});

test('in the gemini-cli profile code only shortens outputs, like Gemini CLI', async () => {
  const bench = compactionBench();
  const conversationId = await buildDue(bench, { conversation: profile });
  const until = new Date(bench.clock.now().getTime() + 60_000);
  const pause = { reason: 'BREAKER_OPEN' as const, until };
  await writeJob(bench.store, conversationId, { brake: { failures: 1, pause } });

  const result = await compactOnce(bench, conversationId);

  expect(result).toMatchObject({ state: 'NOOP', reason: 'BREAKER_OPEN' });
  expect(bench.model.calls).toEqual([]);
});
