import { randomUUID } from 'node:crypto';
import { expect, test } from 'vitest';
import { z } from 'zod';
import { readBlob } from '#functions/chat/turns/tools/read-blob.ts';
import { estimateContentTokens } from '#shared/tokens/token-estimate.ts';
import { contentSchema, type Content } from '#shared/conversation/documents/content.ts';
import { say, useToolModel, tool, toolChat } from '#test/support/tools/tool-world.ts';

const BUDGET_TOKENS = 50_000;
const OUTPUT_CHARACTERS = 30_000;

const { fakeGemini, model } = await useToolModel();

/** Different for each page, and nothing that anybody could guess. */
const listing = (page: number) =>
  `page ${page}: ${'another row of this list '.repeat(2_000)}`.slice(0, OUTPUT_CHARACTERS);

const tools = [
  tool('list', { page: z.number() }, ({ page }) => Promise.resolve({ output: listing(page) })),
];

const environment = { THRESHOLD_TOKENS: '400000', TOOL_ROUNDS: '20' };

/** A message that orders `rounds` rounds of `calls` calls each, from `first` on. */
const order = (first: number, { rounds, calls }: { rounds: number; calls: number }) =>
  Array.from({ length: rounds }, (_round, round) =>
    Array.from(
      { length: calls },
      (_, at) => `call list {"page":${first + round * calls + at}}`,
    ).join('\n'),
  ).join('\nthen\n');

const bodySchema = z.looseObject({ contents: z.array(contentSchema) });

const outputTokens = (contents: readonly Content[]) =>
  contents
    .flatMap(({ role, parts }) =>
      parts.flatMap((part) => (part.functionResponse ? [{ role, parts: [part] }] : [])),
    )
    .reduce((sum, content) => sum + estimateContentTokens(content, { rule: 'character-class' }), 0);

const namesIn = (contents: readonly Content[]) =>
  new Set(
    [...JSON.stringify(contents).matchAll(/read_blob\(\\"([0-9a-f]{64})\\"\)/gu)].map(
      (found) => found[1] ?? '',
    ),
  );

test(
  'a hundred long outputs stay within the budget and are readable in their conversation alone',
  { timeout: 120_000 },
  async () => {
    const { chat } = toolChat(model, { tools, environment });
    const [conversationId, other] = [randomUUID(), randomUUID()];
    for (let turn = 0; turn < 5; turn++)
      await say(chat, conversationId, order(turn * 10, { rounds: 2, calls: 5 }));
    const { turn } = await say(chat, conversationId, order(50, { rounds: 10, calls: 5 }));
    await say(chat, other, 'Hello.');

    expect(turn.state).toBe('done');
    const prompts = fakeGemini
      .journal()
      .filter(({ operation }) => operation === 'streamGenerateContent')
      .map(({ n }) => bodySchema.parse(fakeGemini.requestBody(n)).contents);
    expect(fakeGemini.journal().flatMap(({ refusal }) => refusal ?? [])).toEqual([]);
    expect(prompts.length).toBeGreaterThanOrEqual(26);
    expect(Math.max(...prompts.map(outputTokens))).toBeLessThanOrEqual(BUDGET_TOKENS);

    const names = namesIn(prompts.flat());
    expect(names.size).toBeGreaterThan(80);
    const read = readBlob(chat);
    const run = (input: string, id: string, fromCharacter: number) =>
      read.run(read.parameters.parse({ id, fromCharacter }), {
        caller: { uid: 'u1', tier: 'signedIn' },
        conversationId: input,
        seq: 7,
        key: 't_7:0',
        isApproved: false,
        signal: new AbortController().signal,
      });
    const texts = new Set<string>();
    for (const name of names) {
      const [first, second] = [
        await run(conversationId, name, 0),
        await run(conversationId, name, 20_000),
      ];
      texts.add(`${String(first['text'])}${String(second['text'])}`);
      await expect(run(other, name, 0)).rejects.toMatchObject({ reason: 'BLOB_NOT_FOUND' });
    }
    const pages = new Set(Array.from({ length: 100 }, (_, page) => listing(page)));
    expect(texts.size).toBe(names.size);
    expect([...texts].every((text) => pages.has(text))).toBe(true);
  },
);
