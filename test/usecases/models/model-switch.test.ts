import {
  updateConversation,
  type UpdateRequest,
} from '#functions/chat/conversations/write-conversation.ts';
import { readConversation } from '#shared/conversation/context/read-conversation.ts';
import { chatDependencies } from '#test/support/chat/chat-dependencies.ts';
import {
  buildConversation,
  type ConversationToBuild,
} from '#test/support/compaction/conversation-builder.ts';
import { expect, test } from 'vitest';

const LARGE = 'gemini-2.5-flash';
const SMALL = 'gemma-4-31b-it';

const bench = () =>
  chatDependencies(
    {},
    {
      THRESHOLD_FRACTION: '0.5',
      CLIENT_WRITABLE: 'model,windowTokens,compaction',
      MODEL_WINDOWS: JSON.stringify({ [SMALL]: 4_000 }),
    },
  );

/** About 2,600 tokens with a model of 1,048,576. */
async function build(
  { store }: ReturnType<typeof bench>,
  conversation: ConversationToBuild['conversation'] = {},
): Promise<(patch: UpdateRequest['patch']) => UpdateRequest> {
  const { conversationId } = await buildConversation(store, {
    turns: 20,
    conversation: { model: LARGE, ...conversation },
  });
  const caller = { uid: 'u1', tier: 'signedIn' } as const;
  return (patch) => ({ caller, conversationId, patch });
}

test('switching to a smaller window requests a compaction and publishes it', async () => {
  const dependencies = bench();
  const request = (await build(dependencies))({ model: SMALL });

  const conversation = await updateConversation(dependencies, request);

  const { conversationId } = request;
  const stored = await readConversation(dependencies.store, conversationId);
  expect(stored?.value).toMatchObject({
    model: SMALL,
    compactionRequests: { auto: { trigger: 'modelSwitch' } },
  });
  expect(conversation.compactionRequests).toEqual(stored?.value.compactionRequests);
  expect(dependencies.published).toEqual([
    {
      topic: 'compaction',
      data: {
        schemaVersion: 1,
        conversationId,
        requestId: conversation.compactionRequests.auto?.requestId,
      },
    },
  ]);
});

test.each<[string, ConversationToBuild['conversation'], UpdateRequest['patch']]>([
  ['below its threshold', {}, { settings: { windowTokens: 9_000 } }],
  ['to a larger window', { model: SMALL }, { model: LARGE }],
  ['of a title', { model: SMALL }, { title: 'Trip' }],
  ['while compaction is manual', { settings: { compaction: 'manual' } }, { model: SMALL }],
  ['while compaction is off', { settings: { compaction: 'off' } }, { model: SMALL }],
  ['that switches it off', {}, { model: SMALL, settings: { compaction: 'off' } }],
])('a model change %s requests no compaction', async (_, conversation, patch) => {
  const dependencies = bench();
  const request = (await build(dependencies, conversation))(patch);

  const changed = await updateConversation(dependencies, request);

  expect(changed.compactionRequests).toEqual({});
  expect(dependencies.published).toEqual([]);
});
