import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { sendMessage } from '#functions/chat/turns/send/send-message.ts';
import { assembleContext } from '#shared/conversation/context/assemble-context.ts';
import { contentText } from '#shared/conversation/documents/content.ts';
import { historyPath } from '#shared/conversation/documents/paths.ts';
import {
  readContextParts,
  readConversation,
  readTurns,
} from '#shared/conversation/context/read-conversation.ts';
import { plainSource } from '../support/stored-histories.ts';
import { startEmulatorStack, type EmulatorStack } from '../support/processes/emulator-stack.ts';
import { eventually } from '../support/eventually.ts';

let stack: EmulatorStack;
beforeAll(async () => {
  stack = await startEmulatorStack({ THRESHOLD_TOKENS: '1200', COMPACTION_LEASE_MS: '2000' });
});
afterAll(() => stack.stop());

async function send(conversationId: string, text: string) {
  const handle = await sendMessage(stack.chat, {
    caller: { uid: 'u1', tier: 'signedIn' },
    conversationId,
    message: { id: randomUUID(), parts: [{ text }] },
  });
  return handle.result;
}

/** Talks until the threshold is crossed; returns what was said. */
async function talkOverThreshold(conversationId: string): Promise<string[]> {
  const said: string[] = [];
  for (let i = 1; i <= 40; i++) {
    const text = `Order ORD-20${i} goes to door ${i}. ${'It should be wrapped with care. '.repeat(8)}`;
    said.push(text);
    await send(conversationId, text);
    if ((await readConversation(stack.chat.store, conversationId))?.value.compactionRequests.auto)
      return said;
  }
  throw new Error('the threshold was not crossed');
}

const settledConversation = (conversationId: string) =>
  eventually('one swap, settled', async () => {
    const conversation = (await readConversation(stack.chat.store, conversationId))?.value;
    return conversation && conversation.generation > 0 && !conversation.compactionRequests.auto
      ? conversation
      : undefined;
  });

test.each(['claimed', 'planned', 'summarised', 'verified', 'swapped'])(
  'a worker killed after it has %s leaves a usable conversation that the next worker compacts once',
  async (point) => {
    const conversationId = randomUUID();
    const first = await stack.startWorker(point);
    const said = await talkOverThreshold(conversationId);
    await first.held;
    const meanwhile = 'Meanwhile the customer asks for a receipt.';
    await send(conversationId, meanwhile);
    await first.kill();

    const second = await stack.startWorker();
    const conversation = await settledConversation(conversationId);
    await second.kill();

    expect(conversation.generation).toBe(1);
    const { store } = stack.chat;
    expect(await store.get([historyPath(conversationId, 2)])).toEqual([undefined]);
    const seqs = Array.from({ length: conversation.lastSeq }, (_, i) => i + 1);
    const transcript = await readTurns(store, conversationId, seqs);
    expect(transcript.map(({ value }) => contentText(value.user))).toEqual([...said, meanwhile]);
    const parts = await readContextParts(plainSource(store), { conversationId, conversation });
    const context = assembleContext({ ...conversation, ...parts });
    expect(context[0]?.kind).toBe('snapshot');
    expect(context.filter(({ kind }) => kind === 'turn').map(({ seq }) => seq)).toEqual(
      seqs.filter((seq) => seq > conversation.coveredThrough.seq).flatMap((seq) => [seq, seq]),
    );
  },
  120_000,
);
