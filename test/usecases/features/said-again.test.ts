import { expect, test } from 'vitest';
import { deleteMessage } from '#functions/chat/conversations/erase/delete-message.ts';
import { sendMessage } from '#functions/chat/turns/send/send-message.ts';
import type { SendRequest } from '#functions/chat/turns/send/send-request.ts';
import { chatDependencies } from '#test/support/chat/chat-dependencies.ts';
import { setConversation } from '#test/support/chat/lifecycle.ts';
import { regenerate, edit } from '#test/support/chat/replacing.ts';
import { request } from '#test/support/chat/sending.ts';
import { buildDue, compactOnce, see } from '#test/support/compaction/compacted-conversation.ts';
import { compactionBench } from '#test/support/compaction/compaction-dependencies.ts';
import type { TurnToBuild } from '#test/support/compaction/conversation-builder.ts';

const caller = { uid: 'u1', tier: 'signedIn' } as const;

const PUPPY = 'The puppy weighs 23 kg now.';

/** Twenty turns, the third of which tells what a puppy weighs. */
const turns: TurnToBuild[] = Array.from({ length: 20 }, (_, i) => (i === 2 ? { user: PUPPY } : {}));

/** Chat over a conversation that was compacted, and what its turns log. */
async function folded(environment: Record<string, string> = {}) {
  const logged: unknown[] = [];
  const chat = chatDependencies(
    {
      logger: {
        log: (_, event, { saidAgain }) =>
          void (event === 'turn_finished' && logged.push(saidAgain)),
      },
    },
    environment,
  );
  const bench = compactionBench({ store: chat.store });
  const id = await buildDue(bench, { turns });
  const before = request(id, 'Hello.');
  const send = async (sent: SendRequest) => {
    await (
      await sendMessage(chat, sent)
    ).result;
    return logged.at(-1);
  };
  await compactOnce(bench, id);
  return { chat, id, before, send, say: (text: string) => send(request(id, text)) };
}

test('a turn whose message says a folded value again is logged, without the value', async () => {
  const { chat, id, say } = await folded();
  expect((await see(chat.store, id)).text).not.toContain('23 kg');

  expect(await say('My puppy weighs 23 kilograms.')).toBe('true');
});

test('a turn whose message says something new is logged as one that does not', async () => {
  const { say } = await folded();

  expect(await say('My puppy weighs 31 kg.')).toBe('false');
});

test('a value counts once: then it stands in the context', async () => {
  const { say } = await folded();
  await say('My puppy weighs 23 kg.');

  expect(await say('Yes, the puppy weighs 23 kg.')).toBe('false');
});

test('a value that was brought back for an earlier message was given', async () => {
  const { say } = await folded();
  await say('What do you know about my puppy?');

  expect(await say('The puppy weighs 23 kg.')).toBe('false');
});

test('a value that stands in a pin was given', async () => {
  const { chat, id, say } = await folded();
  await setConversation(chat, id, { pins: [{ id: 'p', text: 'Puppy: 23 kg', source: 'api' }] });

  expect(await say('The puppy weighs 23 kg.')).toBe('false');
});

test('a value of a message that is deleted counts for nothing', async () => {
  const { chat, id, say } = await folded();
  await deleteMessage(chat, { caller, conversationId: id, messageId: 'message-3' });

  expect(await say('The puppy weighs 23 kg.')).not.toBe('true');
});

test('an edit and a regeneration say nothing again', async () => {
  const { id, before, send } = await folded();
  expect(await send(before)).toBe('false');

  const edited = edit(id, before.message.id, 'The puppy weighs 23 kg.');
  expect(await send(edited)).toBeUndefined();
  expect(await send(regenerate(id, edited.message.id))).toBeUndefined();
});

test('a turn for which the index was not read is logged without whether it says something again', async () => {
  const { say } = await folded({ RECALL_TOKENS: '0' });

  expect(await say('The puppy weighs 23 kg.')).toBeUndefined();
});
