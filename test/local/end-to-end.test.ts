import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { z } from 'zod';
import { startEmbeddedHost, type EmbeddedHost } from '#infra/local/embedded/host.ts';
import { startFakeGemini } from '#infra/fake-gemini/server/start-fake-gemini.ts';
import { localProjectId, stackEnvironment } from '#infra/local/stack/stack-environment.ts';
import { unsignedToken } from '#infra/local/processes/unsigned-token.ts';
import { contextResponse } from '#shared/wire/resources/context.ts';
import { conversationWithContextResponse } from '#shared/wire/resources/conversations.ts';
import { messageListResponse } from '#shared/wire/resources/messages.ts';
import { eventually } from '../support/eventually.ts';

let fakeGemini: Awaited<ReturnType<typeof startFakeGemini>>;
let host: EmbeddedHost;
beforeAll(async () => {
  fakeGemini = await startFakeGemini();
  host = await startEmbeddedHost({
    environment: stackEnvironment({
      shell: {},
      model: { kind: 'stand-in' },
      fakeGeminiUrl: fakeGemini.url,
      settings: { THRESHOLD_TOKENS: '1500', SYSTEM_INSTRUCTION: 'You work for a flower shop.' },
    }),
    overrides: { logger: { log: () => undefined } },
  });
});
afterAll(async () => {
  await host.stop();
  await fakeGemini.close();
});

const token = unsignedToken({ uid: 'ada', projectId: localProjectId, now: new Date() });

async function call(path: string, body?: object): Promise<unknown> {
  const response = await fetch(`${host.chatUrl}${path}`, {
    ...(body && { method: 'POST', body: JSON.stringify(body) }),
    headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
  });
  expect(response.status).toBeLessThan(300);
  return response.json();
}

const sentSchema = z.object({
  message: z.object({ parts: z.array(z.object({ text: z.string() })) }),
});

async function send(conversationId: string, text: string): Promise<string> {
  const sent = await call(`/v1/conversations/${conversationId}/messages`, {
    message: { id: randomUUID(), parts: [{ type: 'text', text }] },
  });
  const { parts } = sentSchema.parse(sent).message;
  return parts.map((part) => part.text).join('');
}

const orderText = (i: number) =>
  `Order ORD-70${i} is ${i + 3} roses for the door number ${i}. ${'It is a gift and should look like one. '.repeat(6)}`;

/** Talks past the threshold and until no compaction is on its way; returns what was said. */
async function talk(conversationId: string): Promise<string[]> {
  const said: string[] = [];
  for (let i = 10; i < 32; i++) {
    said.push(orderText(i));
    await send(conversationId, orderText(i));
  }
  await eventually('the end of every compaction', async () => {
    const { context } = conversationWithContextResponse.parse(
      await call(`/v1/conversations/${conversationId}`),
    );
    return context.compaction?.state === 'COMPACTED' ? context : undefined;
  });
  return said;
}

describe('a conversation that grows past its threshold', () => {
  test('a conversation past its threshold is compacted by itself and still knows what was said', async () => {
    const id = randomUUID();
    const said = await talk(id);

    const transcript = messageListResponse.parse(
      await call(`/v1/conversations/${id}/messages?pageSize=100`),
    );
    const userTexts = transcript.messages
      .filter(({ role }) => role === 'user')
      .map(({ parts }) => parts.map((part) => ('text' in part ? part.text : '')).join(''));
    expect(userTexts).toEqual(said);
    expect(await send(id, 'Which order has 13 roses for the door number 10?')).toContain(
      'ORD-7010',
    );
  });

  test('/context shows exactly what the next prompt holds before the new message', async () => {
    const id = randomUUID();
    await talk(id);

    const context = contextResponse.parse(await call(`/v1/conversations/${id}/context`));
    fakeGemini.clearJournal();
    await send(id, 'Thank you.');

    const entry = fakeGemini.journal().find(({ role }) => role === 'chat');
    const prompt = z
      .object({
        contents: z.array(z.unknown()),
        systemInstruction: z.unknown(),
        tools: z.array(z.object({ functionDeclarations: z.array(z.unknown()) })),
      })
      .parse(fakeGemini.requestBody(entry?.n ?? 0));
    const shown = context.items
      .filter(({ kind }) => kind !== 'system' && kind !== 'tools')
      .map(({ content }) => content);
    const tools = context.items.find(({ kind }) => kind === 'tools');
    expect(context.items[0]).toMatchObject({
      kind: 'system',
      content: 'You work for a flower shop.',
    });
    expect(JSON.stringify(prompt.systemInstruction)).toContain('You work for a flower shop.');
    expect(prompt.tools[0]?.functionDeclarations).toEqual(tools?.content);
    expect(prompt.contents.slice(0, -1)).toEqual(shown);
    expect(shown.length).toBeLessThan(44);
  });
});
