import { createMemoryDocumentStore } from '#infra/local/embedded/memory-document-store.ts';
import { readTurns } from '#shared/conversation/context/read-conversation.ts';
import { contentText } from '#shared/models/content.ts';
import { isTerminal } from '#shared/conversation/documents/turn.ts';
import { StoreUnavailableError } from '#shared/lib/errors.ts';
import { errorOf, startChatServer } from '#test/support/chat/chat-server.ts';
import { eventually } from '../support/eventually.ts';
import {
  storedConversation,
  messageBody,
  messagesPath,
  startFaultStack,
} from '../support/processes/fault-stack.ts';
import { randomUUID } from 'node:crypto';
import { afterAll, expect, onTestFinished, test } from 'vitest';

const QUESTION = 'Tell me of the long way from the harbour to the temple.';
const ANSWER = Array.from({ length: 40 }, (_, stop) => `Stop ${stop} has a view of the sea.`).join(
  ' ',
);
/** About a second for the answer, in frames of 40 ms. */
const TOKENS_PER_SECOND = 400;

const stack = await startFaultStack();
stack.answerWith(QUESTION, ANSWER);
stack.fakeGemini.setTiming({ tokensPerSecond: TOKENS_PER_SECOND });
afterAll(() => stack.stop());

/** Sends over SSE and hangs up as soon as `events` of them have arrived. */
async function hangUpAfter(events: number, conversationId: string, messageId: string) {
  const leaving = new AbortController();
  const response = await stack.chat.call(messagesPath(conversationId), {
    body: messageBody(QUESTION, messageId),
    headers: { accept: 'text/event-stream' },
    signal: leaving.signal,
  });
  const reader = response.body?.pipeThrough(new TextDecoderStream()).getReader();
  for (let text = ''; text.split('\ndata: ').length - 1 < events;) {
    const chunk = await reader?.read();
    if (!chunk || chunk.done) break;
    text += chunk.value;
  }
  leaving.abort();
  await reader?.read().catch(() => undefined);
}

const finishedTurn = (conversationId: string) =>
  eventually('the end of the turn', async () => {
    const [turn] = await readTurns(stack.store, conversationId, [1]);
    return turn && isTerminal(turn.value.state) ? turn.value : undefined;
  });

test.concurrent.each([0, 2, 15])(
  'a client that hangs up after %i events finds the whole answer of one model call',
  async (events) => {
    const [id, messageId] = [randomUUID(), randomUUID()];

    await hangUpAfter(events, id, messageId);
    const turn = await finishedTurn(id);
    const replay = await stack.send(id, QUESTION, messageId);

    expect(turn).toMatchObject({ state: 'done', attempt: 1, inContext: true });
    expect(turn.contents.map(contentText)).toEqual([ANSWER]);
    expect(replay).toEqual({ http: 200, text: ANSWER });
    expect((await storedConversation(stack.store, id)).lastSeq).toBe(1);
  },
);

test('an unavailable store gives 503 with a retry time, and the message can be resent', async () => {
  let isAway = true;
  const store = createMemoryDocumentStore({
    beforeOperation: ({ name }) =>
      isAway ? Promise.reject(new StoreUnavailableError({ operation: name })) : Promise.resolve(),
  });
  const server = await startChatServer({ overrides: { store } });
  onTestFinished(() => server.stop());
  const path = messagesPath(randomUUID());
  const body = messageBody('Hello');

  const refused = await server.call(path, { body });
  isAway = false;
  const sent = await server.call(path, { body });

  expect(refused.headers.get('retry-after')).toBe('1');
  expect(await errorOf(refused)).toMatchObject({ http: 503, reason: 'STORE_UNAVAILABLE' });
  expect(sent.status).toBe(200);
});
