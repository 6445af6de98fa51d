import { randomUUID } from 'node:crypto';
import { expect, test } from 'vitest';
import { sendMessage } from '#functions/chat/turns/send/send-message.ts';
import type { SendRequest } from '#functions/chat/turns/send/send-request.ts';
import { contentText } from '#shared/conversation/documents/content.ts';
import { readConversation } from '#shared/conversation/context/read-conversation.ts';
import { isTerminal } from '#shared/conversation/documents/turn.ts';
import { passTime } from '#test/support/pass-time.ts';
import { edit, shownTexts } from '#test/support/chat/replacing.ts';
import { request } from '#test/support/chat/sending.ts';
import {
  instances,
  interrupting,
  queued,
  turnsOf,
  type Instances,
} from '#test/support/chat/starts.ts';

/** Sends until it is answered or refused for good, as a patient client does. */
async function insist(world: Instances, asked: SendRequest): Promise<void> {
  const chat = world.instance();
  for (let tries = 0; tries < 20; tries++) {
    try {
      await (
        await sendMessage(chat, asked)
      ).result;
      return;
    } catch (error) {
      const isRetryable =
        typeof error === 'object' && error !== null && 'retryable' in error && error.retryable;
      if (isRetryable !== true) return;
      await world.clock.wait(5_000);
    }
  }
  throw new Error('never answered');
}

test.each([
  'turn-queued',
  'turn-rejoined',
  'queued-turn-begun',
  'queued-turn-failed',
  'turns-interrupted',
  'before-cancel',
  'cancel-stored',
  'turn-started',
  'before-finish',
  'turn-finished',
])(
  'an instance that dies at %s leaves a conversation where everybody is answered',
  async (point) => {
    const world = instances();
    const id = randomUUID();
    const first = request(id, 'first');
    const all: SendRequest[] = [
      first,
      queued(id, 'second'),
      queued(id, 'third'),
      { ...edit(id, first.message.id, 'first, corrected'), onBusy: 'queue' },
      interrupting(id, 'last'),
    ];
    world.answerAll();
    const dying = world.dyingAt(point);
    for (const asked of all)
      void sendMessage(dying, asked).then(
        ({ result }) => result.catch(() => undefined),
        () => undefined,
      );
    await passTime(world.clock, world.clock.wait(10_000));

    for (const asked of all) await passTime(world.clock, insist(world, asked));

    const conversation = (await readConversation(world.store, id))?.value;
    const turns = await turnsOf(world.instance(), id, conversation?.lastSeq ?? 0);
    expect(conversation?.open).toBeUndefined();
    expect(turns.map(({ seq }) => seq)).toEqual(turns.map((_, i) => i + 1));
    expect(turns.every(({ state }) => isTerminal(state))).toBe(true);
    expect(new Set(turns.map(({ messageId }) => messageId)).size).toBe(turns.length);
    await passTime(world.clock, insist(world, request(id, 'afterwards')));
    const shown = await shownTexts(world.instance(), id);
    expect(shown.slice(-2)).toEqual(['afterwards', 'Answer to afterwards.']);
    const prompt = world.calls.at(-1)?.request.contents.map(contentText);
    expect(prompt).toEqual(shown.slice(0, -1));
  },
);
