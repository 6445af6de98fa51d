import { viewOfNextCall } from '#functions/context/next-call.ts';
import { worldWith } from '../support/chat/lifecycle.ts';
import type { Content, Part } from '#shared/models/content.ts';
import { estimatePartTokens } from '#shared/tokens/token-estimate.ts';
import { snapshotAnswer } from '#test/fakes/scripted-model.ts';
import type { Lifecycle } from '#test/support/chat/lifecycle.ts';
import { see } from '#test/support/compaction/compacted-conversation.ts';
import {
  buildConversation,
  modelText,
  type TurnToBuild,
} from '#test/support/compaction/conversation-builder.ts';
import { expect, test } from 'vitest';

/** A threshold at which tool outputs have the whole 50,000 tokens. */
const THRESHOLD_TOKENS = 300_000;
const BUDGET_TOKENS = 50_000;

const toolTurn = (output: string): TurnToBuild => {
  const contents: Content[] = [
    { role: 'model', parts: [{ functionCall: { name: 'grep', args: { n: 1 } } }] },
    { role: 'user', parts: [{ functionResponse: { name: 'grep', response: { output } } }] },
    modelText('Read.'),
  ];
  return { user: 'Search.', answer: contents };
};

/** 30,000 characters that no other output has. */
const output = (input: string) =>
  `${input}: ${'plain words of a file '.repeat(2_000)}`.slice(0, 30_000);

/** The tool outputs as the next call sends them. */
const outputsSent = async ({ bench }: Lifecycle, conversationId: string): Promise<Part[]> => {
  const seen = await see(bench.store, conversationId);
  const { items } = viewOfNextCall(bench, { ...seen.conversation, ...seen });
  return items.flatMap(({ content }) =>
    content.parts.filter(({ functionResponse }) => functionResponse),
  );
};

const tokensOf = (parts: readonly Part[]) =>
  parts.reduce((sum, part) => sum + estimatePartTokens(part, 'character-class'), 0);

test('D7: a hundred long outputs fit the total budget', async () => {
  const world = worldWith('ledger', [snapshotAnswer()]);
  const outputs = Array.from({ length: 100 }, (_, index) => output(`file ${index}`));
  const { conversationId } = await buildConversation(world.store, {
    turns: outputs.map(toolTurn),
    conversation: { settings: { thresholdTokens: THRESHOLD_TOKENS } },
  });

  const sent = await outputsSent(world, conversationId);

  expect(sent).toHaveLength(100);
  expect(tokensOf(sent)).toBeLessThanOrEqual(BUDGET_TOKENS);
  expect(tokensOf(sent)).toBeGreaterThan(0.8 * BUDGET_TOKENS);
});
