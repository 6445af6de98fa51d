import { createQuota } from '#functions/quota/create-quota.ts';
import { createMemoryDocumentStore } from '#infra/local/embedded/memory-document-store.ts';
import { turnPath } from '#shared/conversation/documents/paths.ts';
import { messageListResponse, sendMessageResponse } from '#shared/wire/resources/messages.ts';
import { usageResponse } from '#shared/wire/resources/usage.ts';
import { chatDependencies } from '#test/support/chat/chat-dependencies.ts';
import {
  startChatServer,
  type ChatServer,
  createConversation,
  readAs,
} from '#test/support/chat/chat-server.ts';
import { eventually } from '#test/support/eventually.ts';
import { startModelServer } from '#test/support/processes/model-server.ts';
import {
  ANSWER,
  EXAMPLE,
  groundedAnswer,
  sendGrounded,
  UEFA,
} from '#test/support/tools/grounded.ts';
import { startWireServer } from '#test/support/wire/wire-server.ts';
import { hash, randomUUID } from 'node:crypto';
import { afterAll, expect, onTestFinished, test } from 'vitest';

const server = await startWireServer({ environment: { GROUNDING: 'search,url' } });
afterAll(() => server.stop());

const newId = (): string => randomUUID();

const post = (
  to: ChatServer,
  text: string,
  { conversationId = newId(), accept = 'application/json', id = newId() } = {},
) =>
  to.call(`/v1/conversations/${conversationId}/messages`, {
    headers: { accept },
    body: { message: { id, parts: [{ type: 'text', text }] } },
  });

test('an answer as JSON names its sources with the words that each bears out, and none that is no link', async () => {
  const text = `Who won? ${randomUUID()}`;
  const { body } = await sendGrounded(server, text);

  expect(server.callsOf(text)[0]?.request.grounding).toEqual(['search', 'url']);
  expect(body.message.sources?.map(({ id, url, title }) => ({ id, url, title }))).toEqual([
    { id: 's1.1', url: UEFA, title: 'uefa.com' },
    { id: 's1.2', url: EXAMPLE, title: 'example.org' },
  ]);
  const said = body.message.sources?.flatMap(({ spans = [] }) =>
    spans.map(({ start, end }) => ANSWER.slice(start, end)),
  );
  expect(said).toEqual(['España won Euro 2024.', 'The final was in Berlin.']);
  expect(body.message.searched).toEqual({
    queries: ['who won Euro 2024'],
    suggestions: '<div>chips</div>',
  });
});

test('the transcript and both exports name the sources of an answer', async () => {
  const { conversationId, body } = await sendGrounded(server);
  const path = `/v1/conversations/${conversationId}`;

  const listed = await server.call(`${path}/messages?order=asc`);
  const { messages } = await readAs(messageListResponse, listed);
  const jsonl = await (await server.call(`${path}:export?format=jsonl`)).text();
  const markdown = await (await server.call(`${path}:export?format=markdown`)).text();

  const { sources } = body.message;
  expect(messages.map((message) => message.sources)).toEqual([undefined, sources]);
  expect(JSON.parse(jsonl.trim().split('\n').at(-1) ?? '')).toMatchObject({ sources });
  expect(markdown).toContain(
    `Sources:\n\n1. [uefa.com](<${UEFA}>)\n2. [example.org](<${EXAMPLE}>)`,
  );
});

test('a stream and its replay tell the sources at the same ids, before the finish', async () => {
  const id = randomUUID();
  const text = `Who won? ${id}`;
  const request = { conversationId: randomUUID(), accept: 'text/event-stream', id };
  const sent = post(server, text, request);
  await groundedAnswer(server, text);

  const live = await (await sent).text();
  const replay = await (await post(server, text, request)).text();

  const sourcesIn = (stream: string) =>
    [...stream.matchAll(/id: (\d+)\ndata: (\{"type":"source-url".*)$/gm)].map(
      ([, at, chunk = '']) => ({ at, ...JSON.parse(chunk) }),
    );
  expect(sourcesIn(live)).toMatchObject([
    { sourceId: 's1.1', url: UEFA, title: 'uefa.com' },
    { sourceId: 's1.2', url: EXAMPLE, title: 'example.org' },
  ]);
  expect(sourcesIn(replay)).toEqual(sourcesIn(live));
  expect(live).toMatch(/"type":"source-url"[^]*"type":"data-searched"[^]*"type":"finish"/);
});

test('the cost of an answer has its searches and what was read for it, in its usage and in the user’s quota', async () => {
  const environment = {
    GROUNDING: 'search,url',
    MODEL: 'gemini-3.8-flash',
    MODEL_PRICES: JSON.stringify({ 'gemini-3.8-flash': { input: 1.5, cached: 0.15, output: 9 } }),
    USER_DAILY_USD: '5',
  };
  /** 1.5 dollars a million read, 9 written; 14 dollars a thousand searches. */
  const costMicros = 1.5 * (100 + 40) + 9 * 10 + 2 * 14_000;
  const store = createMemoryDocumentStore();
  const quota = createQuota(chatDependencies({ store }, environment));
  const paid = await startWireServer({ environment, overrides: { quota, store } });
  onTestFinished(() => paid.stop());
  const sent = post(paid, 'Who won?');
  const call = await paid.callOf('Who won?');
  call.say('Spain.');
  call.ground({ sources: [], queries: ['euro winner', 'euro winner', 'euro final'] });
  const tokens = { promptTokens: 100, cachedTokens: 0, outputTokens: 10, thoughtsTokens: 0 };
  call.end({ ...tokens, toolTokens: 40 });

  const { usage } = await readAs(sendMessageResponse, await sent);
  const used = await eventually('the cost is in the quota', async () => {
    const day = await readAs(usageResponse, await paid.call('/v1/users/me/usage'));
    return day.limits.costMicrosPerDay.used || undefined;
  });

  expect(usage).toMatchObject({ searches: 2, toolTokens: 40, costMicros });
  expect(used).toBe(costMicros);
  const line = paid.logs.find(({ event }) => event === 'turn_finished');
  expect(line?.fields).toMatchObject({ searches: 2, costMicros });
});

test('what Google’s own tools were asked is no part of the transcript and of later prompts', async () => {
  const { server: fakeGemini, model } = await startModelServer();
  const chat = await startChatServer({
    overrides: { model },
    environment: { GROUNDING: 'search', CLIENT_WRITABLE: 'tools' },
  });
  onTestFinished(() => chat.stop());
  const tools = [{ name: 'find_boat', parameters: { type: 'object' } }];
  const { id: conversationId } = await createConversation(chat, { body: { tools } });
  const call = { id: 'search-1', toolType: 'GOOGLE_SEARCH_WEB' };
  fakeGemini.registerAnswers({
    userHash: hash('sha256', 'Who won?'),
    ordinal: 1,
    contents: [{ role: 'model', parts: [{ toolCall: call }, { text: 'España won.' }] }],
    metadata: {
      groundingMetadata: { groundingChunks: [{ web: { uri: 'https://uefa.com/', title: 'x' } }] },
    },
  });

  const first = await post(chat, 'Who won?', { conversationId });
  const { message } = await readAs(sendMessageResponse, first);
  await (await post(chat, 'Thank you.', { conversationId })).text();

  const [turn] = await chat.dependencies.store.get([turnPath(conversationId, 1)]);
  const [one, two] = [1, 2].map((n) => JSON.stringify(fakeGemini.requestBody(n)));
  expect(one).toContain('includeServerSideToolInvocations');
  expect(message.sources).toHaveLength(1);
  expect(message.parts).toEqual([{ type: 'text', text: 'España won.' }]);
  expect(turn?.fields['answerJson']).not.toContain('toolCall');
  expect(two).toContain('España won.');
  expect(two).not.toContain('toolCall');
});
