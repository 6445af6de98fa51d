import { expect, test } from 'vitest';
import { showContext } from '../../functions/src/chat/context/show-context.ts';
import { sendMessage } from '../../functions/src/chat/send/send-message.ts';
import type { LogFields } from '../../shared/ports.ts';
import { scriptedStreamer, textAnswer } from '../fakes/scripted-streamer.ts';
import { chatDependencies } from '../support/chat-dependencies.ts';
import { buildConversation, modelText } from '../support/conversation-builder.ts';
import { request } from '../support/sending.ts';
import { storedTurn } from '../support/streaming.ts';

/** A turn whose call was never answered, as an import or another version may have left it. */
const brokenTurn = {
  answer: [
    { role: 'model' as const, parts: [{ functionCall: { name: 'find', args: {} } }] },
    modelText('Done.'),
  ],
};

test('a stored turn that no model takes is mended in the prompt, shown, recorded and told', async () => {
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
