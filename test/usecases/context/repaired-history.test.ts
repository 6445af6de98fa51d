import { expect, test } from 'vitest';
import { showContext } from '#functions/chat/context/show-context.ts';
import { sendMessage } from '#functions/chat/turns/send/send-message.ts';
import type { LogFields } from '#shared/ports/ports.ts';
import { scriptedStreamer, textAnswer } from '#test/fakes/scripted-streamer.ts';
import { chatDependencies } from '#test/support/chat/chat-dependencies.ts';
import { buildConversation, modelText } from '#test/support/compaction/conversation-builder.ts';
import { request } from '#test/support/chat/sending.ts';
import { storedTurn } from '#test/support/chat/streaming.ts';

/** A turn whose call was never answered, as an import or another version may have left it. */
const brokenTurn = {
  answer: [
    { role: 'model' as const, parts: [{ functionCall: { name: 'find', args: {} } }] },
    modelText('Done.'),
  ],
};

test('a stored turn that no model accepts is repaired in the prompt, shown and logged', async () => {
  const streamer = scriptedStreamer(textAnswer('Fine.'));
  const logged: { event: string; fields: LogFields }[] = [];
  const logger = {
    log: (_: string, event: string, fields: LogFields) => void logged.push({ event, fields }),
  };
  const chat = chatDependencies({ model: streamer.model, logger });
  const { conversationId } = await buildConversation(chat.store, { turns: [brokenTurn] });
  const caller = { uid: 'u1', tier: 'signedIn' } as const;

  const shown = await showContext(chat, { caller, conversationId });
  await (
    await sendMessage(chat, request(conversationId, 'And now?'))
  ).result;

  const sent = JSON.stringify(streamer.requests.at(-1)?.contents);
  expect(sent).not.toContain('functionCall');
  expect(sent).toContain('Done.');
  expect(shown.items.find(({ kind }) => kind === 'turn')).toMatchObject({
    repairs: { orphanCall: 1 },
  });
  expect((await storedTurn(chat, conversationId, 2)).repairs).toEqual({ orphanCall: 1 });
  expect(logged).toContainEqual({
    event: 'history_mended',
    fields: expect.objectContaining({ promptId: 't_2', orphanCall: 1 }),
  });
});
