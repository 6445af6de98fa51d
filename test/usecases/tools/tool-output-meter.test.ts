import { randomUUID } from 'node:crypto';
import { expect, test } from 'vitest';
import { z } from 'zod';
import { showContext } from '#functions/chat/context/show-context.ts';
import { readConversation } from '#shared/conversation/context/read-conversation.ts';
import type { ModelChunk, ModelRequest } from '#shared/ports/ports.ts';
import { say, useToolModel, tool, toolChat } from '#test/support/tools/tool-world.ts';

const { fakeGemini, model } = await useToolModel();

const THRESHOLD_TOKENS = 100_000;
const OUTPUT_CHARACTERS = 30_000;

const tools = [
  tool('list', { page: z.number() }, ({ page }) =>
    Promise.resolve({
      output: `page ${page}: ${'another row of this list '.repeat(2_000)}`.slice(
        0,
        OUTPUT_CHARACTERS,
      ),
    }),
  ),
  tool('dump', { page: z.number() }, ({ page }) =>
    Promise.resolve({ output: `dump ${page}: ${'some more of it all '.repeat(5_000)}` }),
  ),
];

const calls = (name: string, pages: readonly number[]) =>
  pages.map((page) => `call ${name} {"page":${page}}`).join('\n');

const pagesFrom = (first: number, count: number) =>
  Array.from({ length: count }, (_, at) => first + at);

/** The model, but it tells nobody what an answer took. */
async function* silently(request: ModelRequest, signal: AbortSignal): AsyncIterable<ModelChunk> {
  for await (const { usage: _usage, ...chunk } of model.stream(request, signal)) yield chunk;
}

const caller = { uid: 'u1', tier: 'signedIn' as const };

/** What the model was sent last, as it counted it. */
const lastPrompt = () => {
  const prompts = fakeGemini
    .journal()
    .filter(({ operation }) => operation === 'streamGenerateContent');
  return prompts.at(-1)?.promptTokens ?? 0;
};

/** What the app sees after a turn, what `/context` says, and what the conversation document asks for. */
async function meters(chat: ReturnType<typeof toolChat>['chat'], conversationId: string) {
  const conversation = await readConversation(chat.store, conversationId);
  const shown = await showContext(chat, { caller, conversationId });
  return {
    meter: conversation?.value.context,
    shown: shown.contextTokens,
    items: shown.items.reduce((sum, { tokens }) => sum + tokens, 0),
    need: conversation?.value.compactionRequests.auto,
  };
}

test(
  'a hundred long outputs request no compaction while the sent prompts stay small',
  { timeout: 120_000 },
  async () => {
    const environment = { THRESHOLD_TOKENS: String(THRESHOLD_TOKENS), TOOL_ROUNDS: '20' };
    const { chat } = toolChat(model, { tools, environment });
    const conversationId = randomUUID();

    for (let turn = 0; turn < 10; turn++) {
      await say(chat, conversationId, calls('list', pagesFrom(turn * 10, 10)));
      const { meter, shown, need } = await meters(chat, conversationId);
      expect(need).toBeUndefined();
      expect(meter?.source).toBe('reported');
      expect(meter?.tokens).toBe(shown);
      expect(lastPrompt()).toBeLessThan(THRESHOLD_TOKENS);
    }
    const before = await meters(chat, conversationId);
    await say(chat, conversationId, 'Thanks.');

    expect(Math.abs(lastPrompt() - before.shown)).toBeLessThan(20);
  },
);

test.each([
  ['cut by itself', calls('dump', [1])],
  ['shortened by the budget', calls('list', pagesFrom(0, 12))],
])('the meter without reports estimates what is sent: an output %s', async (_, message) => {
  const environment = { THRESHOLD_TOKENS: String(THRESHOLD_TOKENS) };
  const { chat } = toolChat(model, { tools, environment });
  const unreported = { ...chat, model: { ...model, stream: silently } };
  const conversationId = randomUUID();

  await say(unreported, conversationId, `Look.\n${message}`);
  const before = await meters(unreported, conversationId);
  await say(chat, conversationId, 'Thanks.');

  expect(before.meter).toMatchObject({ source: 'estimated', tokens: before.shown });
  // The declarations of functions are weighed by another rule there.
  expect(Math.abs(before.items - before.shown)).toBeLessThan(60);
  expect(Math.abs(before.shown - lastPrompt()) / lastPrompt()).toBeLessThan(0.25);
});
