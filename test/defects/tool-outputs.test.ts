import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import { estimatePartTokens } from '#shared/tokens/token-estimate.ts';
import { blobsCollection } from '#shared/conversation/documents/paths.ts';
import type { Content, Part } from '#shared/conversation/documents/content.ts';
import { snapshotAnswer } from '../fakes/scripted-model.ts';
import {
  buildDue,
  compactOnce,
  see,
  type Seen,
} from '../support/compaction/compacted-conversation.ts';
import { worldWith } from '../support/compaction/compacting-world.ts';
import { modelText, type TurnToBuild } from '../support/compaction/conversation-builder.ts';
import type { Lifecycle } from '../support/chat/lifecycle.ts';
import { openBreaker } from '../support/tools/tool-conversation.ts';

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

const responsesIn = ({ items }: Seen): Part[] =>
  items.flatMap(({ content }) => content.parts.filter(({ functionResponse }) => functionResponse));

const tokensOf = (parts: readonly Part[]) =>
  parts.reduce((sum, part) => sum + estimatePartTokens(part, 'character-class'), 0);

/** The full texts that were stored beside a conversation, by name. */
async function blobsOf({ documents }: Pick<Lifecycle, 'documents'>, conversationId: string) {
  const below = `${blobsCollection(conversationId)}/`;
  const pieces = (await documents()).filter(({ path }) => path.startsWith(below));
  return pieces.map(({ path, fields }) => ({
    name: path.slice(below.length).replace(/-0$/u, ''),
    text: z.string().parse(fields['text']),
  }));
}

/** A conversation whose outputs are shortened without a model. */
async function shortened(world: Lifecycle, outputs: readonly string[]): Promise<string> {
  const conversationId = await buildDue(world, {
    turns: outputs.map(toolTurn),
    conversation: { settings: { thresholdTokens: THRESHOLD_TOKENS } },
  });
  await openBreaker(world.bench, conversationId);
  expect(await compactOnce(world.bench, conversationId)).toMatchObject({
    state: 'CONTENT_TRUNCATED',
  });
  return conversationId;
}

describe('D7: a budget for each output and none for all', () => {
  const outputs = Array.from({ length: 100 }, (_, index) => output(`file ${index}`));

  test('D7: a hundred long outputs fit the total budget', async () => {
    const world = worldWith('ledger', [snapshotAnswer()]);
    const conversationId = await buildDue(world, {
      turns: outputs.map(toolTurn),
      conversation: { settings: { thresholdTokens: THRESHOLD_TOKENS } },
    });
    const before = tokensOf(responsesIn(await see(world.store, conversationId)));
    await openBreaker(world.bench, conversationId);

    await compactOnce(world.bench, conversationId);

    const after = responsesIn(await see(world.store, conversationId));
    expect(before).toBeGreaterThan(500_000);
    expect(after).toHaveLength(100);
    expect(tokensOf(after)).toBeLessThanOrEqual(BUDGET_TOKENS);
    expect(tokensOf(after)).toBeGreaterThan(0.8 * BUDGET_TOKENS);
  });

  test('D7: only shortened outputs are stored, whole, under the name that replaces them', async () => {
    const world = worldWith('ledger', [snapshotAnswer()]);

    const conversationId = await shortened(world, ['a short one', ...outputs]);

    const seen = await see(world.store, conversationId);
    const full = new Set(outputs);
    const cut = responsesIn(seen).filter(
      ({ functionResponse }) => !full.has(String(functionResponse?.response?.['output'])),
    );
    const blobs = await blobsOf(world, conversationId);
    expect(cut.length).toBeGreaterThan(80);
    expect(cut.length).toBeLessThan(101);
    // The short one is not among the outputs above and was left as it is.
    expect(blobs).toHaveLength(cut.length - 1);
    expect(blobs.every(({ text }) => full.has(text))).toBe(true);
    for (const { name } of blobs) expect(seen.text).toContain(name);
  });
});

describe('D8: two sessions that write one file', () => {
  test('D8: two conversations whose first search was shortened each read their own output', async () => {
    const world = worldWith('ledger', [snapshotAnswer()]);
    const outputsOf = (owner: string) =>
      Array.from({ length: 60 }, (_, index) => output(`${owner} ${index}`));

    const one = await shortened(world, outputsOf('Alice'));
    const two = await shortened(world, outputsOf('Bob'));

    for (const [conversationId, owner] of [
      [one, 'Alice'],
      [two, 'Bob'],
    ] as const) {
      const blobs = await blobsOf(world, conversationId);
      const { text } = await see(world.store, conversationId);
      expect(blobs.map((blob) => blob.text)).toContain(output(`${owner} 0`));
      expect(blobs.every((blob) => blob.text.startsWith(owner))).toBe(true);
      for (const { name, text: stored } of blobs) {
        expect(name).toBe(world.bench.sha256(stored));
        expect(text).toContain(name);
      }
    }
  });
});
