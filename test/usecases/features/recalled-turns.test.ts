import { randomUUID } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import { deleteMessage } from '#functions/chat/conversations/erase/delete-message.ts';
import { sendMessage } from '#functions/chat/turns/send/send-message.ts';
import type { SendRequest } from '#functions/chat/turns/send/send-request.ts';
import { indexConversation } from '#functions/recall/index-conversation.ts';
import { recallPath } from '#shared/conversation/documents/paths.ts';
import { contentText } from '#shared/conversation/documents/content.ts';
import { chatDependencies } from '#test/support/chat/chat-dependencies.ts';
import {
  buildDue,
  compactOnce,
  neverAborted,
  see,
} from '#test/support/compaction/compacted-conversation.ts';
import { compactionBench } from '#test/support/compaction/compaction-dependencies.ts';
import type {
  ConversationToBuild,
  TurnToBuild,
} from '#test/support/compaction/conversation-builder.ts';
import { scriptedStreamer, textAnswer } from '#test/fakes/scripted-streamer.ts';

const caller = { uid: 'u1', tier: 'signedIn' } as const;

const usage = { promptTokens: 700, cachedTokens: 0, outputTokens: 10, thoughtsTokens: 0 };

const PARROTS = 'The landlady keeps green parrots, which wake me early.';

/** Twenty turns, the third of which tells of parrots, the fourth of a cat. */
const told: TurnToBuild[] = Array.from({ length: 20 }, (_, i) => {
  if (i === 2) return { user: PARROTS, answer: 'Earplugs may help.' };
  return i === 3 ? { user: 'Our cat Biscuit needs drops twice a day.' } : {};
});

/** Chat and worker on one store, and a conversation that was compacted once. */
async function folded(
  options: Partial<ConversationToBuild> = {},
  environment: Record<string, string> = {},
) {
  const streamer = scriptedStreamer(textAnswer('Fine.', usage));
  const logged: { event: string; fields: object }[] = [];
  const chat = chatDependencies(
    {
      model: streamer.model,
      logger: { log: (_severity, event, fields) => void logged.push({ event, fields }) },
    },
    environment,
  );
  const bench = compactionBench({ store: chat.store });
  const conversationId = await buildDue(bench, { turns: told, ...options });
  await compactOnce(bench, conversationId);
  return {
    chat,
    bench,
    conversationId,
    logged,
    /** What the model reads as the last content of the first call. */
    ask: async (text: string, request: Partial<SendRequest> = {}) => {
      const message = { id: randomUUID(), parts: [{ text }] };
      const handle = await sendMessage(chat, { caller, conversationId, message, ...request });
      const { turn, context } = await handle.result;
      const last = streamer.requests.at(-1)?.contents.at(-1);
      return { text: last ? contentText(last) : '', turn, context };
    },
  };
}

describe('a message about what was folded', () => {
  test('a message about folded turns is answered with their records, day and speaker named', async () => {
    const { ask } = await folded();
    const asked = await ask('Who keeps parrots?');
    expect(asked.text).toContain(`\n2026-01-02\nuser: ${PARROTS}\n`);
    expect(asked.text.endsWith('Who keeps parrots?')).toBe(true);
  });

  test('a recalling message’s context names the source turns and keeps no word', async () => {
    const { ask, chat, conversationId } = await folded();
    const { context, turn } = await ask('Who keeps parrots?');
    expect(context.recalled?.turns).toContain('t_3');
    expect(context.recalled?.count).toBe(context.recalled?.turns.length);
    expect(context.recalled?.tokens).toBeGreaterThan(20);
    expect(JSON.stringify(turn)).not.toContain('green parrots');
    expect((await see(chat.store, conversationId)).text).not.toContain('<recalled>');
  });

  test('a message without matching folded turns recalls nothing', async () => {
    const { ask } = await folded();
    const { text, context } = await ask('Which chess opening suits a beginner?');
    expect(text).toBe('Which chess opening suits a beginner?');
    expect(context.recalled).toBeUndefined();
  });

  test('a message without content of its own recalls by the last answer', async () => {
    const { ask } = await folded();
    await ask('Our cat Biscuit is back from the vet. Tell me about her drops.');
    expect((await ask('Thanks, and then?')).text).not.toContain('<recalled>');
  });

  test('recalled records count in the request and never for the threshold', async () => {
    const [plain, recalling] = await Promise.all([folded({}, { RECALL_TOKENS: '0' }), folded()]);
    const text = 'Who keeps parrots?';
    // Both models report the same prompt: what was brought back is a part of it, and not of the next one.
    const [whole, without] = [(await plain.ask(text)).context, (await recalling.ask(text)).context];
    expect(whole.tokens - without.tokens).toBeGreaterThanOrEqual(
      without.recalled?.tokens ?? Infinity,
    );
  });

  test.each([
    ['the deployment', {}, { RECALL_TOKENS: '0' }, {}],
    ['the conversation', { settings: { thresholdTokens: 1_000, recallTokens: 0 } }, {}, {}],
    ['the message', {}, {}, { recallTokens: 0 }],
  ] as const)(
    'a message recalls nothing where %s says so',
    async (...[, conversation, environment, request]) => {
      const { ask } = await folded({ conversation }, environment);
      expect((await ask('Who keeps parrots?', request)).text).not.toContain('<recalled>');
    },
  );
});

describe('the index of recall', () => {
  test('an instance reads the recall index once a generation', async () => {
    const { ask, chat, conversationId } = await folded();
    const path = recallPath(conversationId, 1);
    let reads = 0;
    const get = chat.store.get.bind(chat.store);
    chat.store.get = (paths) => {
      reads += paths.filter((each) => each === path).length;
      return get(paths);
    };
    for (const text of ['The parrots?', 'The cat and her drops?', 'Parrots again?'])
      await ask(text);
    expect(reads).toBe(1);
  });

  test('a message does not wait long for the recall index', async () => {
    const { ask, chat, conversationId, logged } = await folded();
    const get = chat.store.get.bind(chat.store);
    chat.store.get = (paths) =>
      paths.includes(recallPath(conversationId, 1)) ? new Promise(() => undefined) : get(paths);
    expect((await ask('Who keeps parrots?')).text).not.toContain('<recalled>');
    expect(logged.map(({ event }) => event)).toContain('recall_late');
  });

  test('a missing recall index is requested and built by the worker', async () => {
    const { ask, chat, bench, conversationId } = await folded();
    await chat.store.commit([{ op: 'delete', path: recallPath(conversationId, 1) }]);
    expect((await ask('Who keeps parrots?')).text).not.toContain('<recalled>');
    expect(chat.published).toContainEqual({
      topic: 'compaction',
      data: { schemaVersion: 1, kind: 'index', conversationId, isBroken: true },
    });
    await indexConversation(bench, { conversationId, isBroken: true }, neverAborted());
    expect((await ask('Who keeps parrots?')).text).toContain('green parrots');
  });

  test('the recall index has nothing of a deleted message', async () => {
    const { ask, chat, conversationId } = await folded();
    await ask('Who keeps parrots?');
    await deleteMessage(chat, { caller, conversationId, messageId: 'message-3' });
    expect((await ask('Who keeps parrots?')).text).not.toContain('green parrots');
  });
});
