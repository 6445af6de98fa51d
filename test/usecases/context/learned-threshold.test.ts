import { describe, expect, test } from 'vitest';
import { requestCompaction } from '#functions/chat/context/manual-compaction.ts';
import { showContext } from '#functions/chat/context/show-context.ts';
import { conversationPath } from '#shared/conversation/documents/paths.ts';
import { chatDependencies } from '#test/support/chat/chat-dependencies.ts';
import { buildConversation } from '#test/support/compaction/conversation-builder.ts';
import { fixedPolicy } from '#test/support/fixed-policy.ts';

const caller = { uid: 'alice', tier: 'signedIn' } as const;

/** A conversation of about 2,600 tokens under a document `config/compaction`. */
async function world(fields: object) {
  const { config } = chatDependencies();
  const chat = chatDependencies({
    config: { ...config, remotePolicy: fixedPolicy({ ...fields }) },
  });
  const conversation = { ownerUid: caller.uid };
  const { conversationId } = await buildConversation(chat.store, { turns: 20, conversation });
  return { chat, target: { caller, conversationId } };
}

const shiftOf = async ({ chat, target }: Awaited<ReturnType<typeof world>>) =>
  (await chat.store.get([conversationPath(target.conversationId)]))[0]?.fields['thresholdShift'];

describe('a compaction by hand', () => {
  test('a manual compaction far below the threshold lowers it where learning is enabled', async () => {
    const learning = await world({ learnThreshold: true });
    const { chat, target } = learning;

    await requestCompaction(chat, target);

    expect(await shiftOf(learning)).toBe(-0.05);
    expect((await showContext(chat, target)).policy?.threshold).toEqual({
      tokens: 22_800,
      source: 'default',
      learned: -0.05,
    });
  });

  test('a manual compaction does not change the threshold unless learning is enabled', async () => {
    const plain = await world({});

    await requestCompaction(plain.chat, plain.target);

    expect(await shiftOf(plain)).toBeUndefined();
  });
});
