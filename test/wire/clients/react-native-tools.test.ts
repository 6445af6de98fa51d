import { randomUUID } from 'node:crypto';
import { afterAll, expect, test } from 'vitest';
import {
  giveResults,
  sendMessage,
  type Answer,
  type Backend,
} from '#docs/clients/recipes/react-native.ts';
import { ReactNativeEventSource } from '#test/support/wire/react-native-sse.ts';
import { conversationWithTools, startToolServer } from '#test/support/wire/tool-server.ts';

const server = await startToolServer();
afterAll(() => server.stop());

test('the React Native recipe shows an app call, its result and the whole answer', async () => {
  const conversationId = await conversationWithTools(server);
  const backend: Backend = {
    baseUrl: server.url,
    getIdToken: async () => (await server.authorization()).replace('Bearer ', ''),
    EventSource: ReactNativeEventSource,
  };
  const shown: string[] = [];
  const showing = { onChange: ({ text }: Answer) => void shown.push(text) };
  const text = 'Let me see.\ncall locate {"question":"where"}\nthen\nFound.';

  const waiting = await sendMessage(
    backend,
    { conversationId, messageId: randomUUID(), text },
    showing,
  );
  const { finishReason, calls } = waiting;
  const results = calls.map(({ toolCallId }) => ({ callId: toolCallId, output: { lat: 1 } }));
  const answer = await giveResults(
    backend,
    { conversationId, answer: waiting },
    { ...showing, results },
  );
  const again = await giveResults(backend, { conversationId, answer }, { ...showing, results });

  expect(finishReason).toBe('tool-calls');
  expect(calls).toEqual([
    { toolCallId: 't_1_c0', toolName: 'locate', input: { question: 'where' } },
  ]);
  expect(shown).toContain('Let me see.');
  expect(answer).toMatchObject({ text: 'Let me see.Found.', finishReason: 'stop', calls: [] });
  expect(again.text).toBe('Let me see.Found.');
});
