import { randomUUID } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import { createDeadLetters } from '#infra/ops/letters/dead-letters.ts';
import type { DeadLetter } from '#infra/ops/letters/dead-letter-client.ts';
import { buildDue } from '../support/compaction/compacted-conversation.ts';
import { setConversation } from '../support/chat/lifecycle.ts';
import { ops } from '../support/processes/ops.ts';
import { verifyWorld } from '../support/compaction/verifying.ts';

const letter = (messageId: string, data: object | string): DeadLetter => ({
  ackId: `ack-${messageId}`,
  messageId,
  data: Buffer.from(typeof data === 'string' ? data : JSON.stringify(data)),
  attributes: { CloudPubSubDeadLetterSourceDeliveryCount: '8' },
  publishTime: new Date('2026-01-02T02:04:05.000Z'),
});

/** A subscription in memory: what is pulled is held until it is put back; one that is published is noted. */
function boxOf(letters: DeadLetter[], failing?: string) {
  const waiting = [...letters];
  const published: { data: Buffer; attributes: Record<string, string> }[] = [];
  const box = createDeadLetters({
    pull: (_, most) => Promise.resolve(waiting.splice(0, most)),
    putBack: (_, back) => Promise.resolve(void waiting.push(...back)),
    acknowledge: () => Promise.resolve(),
    publish: (_, message) => {
      if (failing !== undefined && message.data.toString().includes(failing))
        return Promise.reject(new Error('the bus is away'));
      published.push(message);
      return Promise.resolve();
    },
    close: () => Promise.resolve(),
  });
  const left = () => waiting.map(({ messageId }) => messageId).toSorted();
  return { deadLetters: box, left, published };
}

const request = (conversationId: string, requestId: string) => ({
  schemaVersion: 1,
  conversationId,
  requestId,
});

describe('dead letters', () => {
  test.each([
    ['is needed still', {}, 'still needed'],
    ['was served since', { compactionRequests: {} }, 'settled since'],
    ['is in the bin', { state: 'deleted' }, 'the conversation is deleted'],
    ['a later release wrote', { schemaVersion: 2 }, 'deploy that one, or a later one'],
  ])('a dead letter shows the state of a conversation that %s', async (_, conversation, why) => {
    const world = verifyWorld();
    const id = await buildDue(world);
    await setConversation(world, id, conversation);
    const { deadLetters } = boxOf([letter('m1', request(id, 'request-1'))]);

    const { code, out } = await ops(world, ['dead-letters'], { deadLetters });

    expect(out).toContain(why);
    expect(out).toMatch(new RegExp(`m1 +60 min +8 +compact +${id}`, 'u'));
    expect(code).toBe(1);
  });

  test.each([
    ['a conversation that is not there', request(randomUUID(), 'r'), 'no such conversation'],
    ['all conversations', { schemaVersion: 1, kind: 'sweep' }, 'not about one conversation'],
    ['nothing that can be read', 'never JSON: my secret', 'no event that this version knows'],
  ])('a dead letter about %s is described without its content', async (_, data, why) => {
    const { deadLetters } = boxOf([letter('m1', data)]);

    const { out } = await ops(verifyWorld(), ['dead-letters'], { deadLetters });

    expect(out).toContain(why);
    expect(out).not.toContain('secret');
  });

  test('dead letters are replayed only with --yes, and only those named', async () => {
    const letters = ['m1', 'm2', 'm3'].map((id) => letter(id, request(id, 'r')));
    const { deadLetters, left, published } = boxOf(letters);
    const world = verifyWorld();

    const dry = await ops(world, ['dead-letters', 'm2'], { deadLetters });
    expect(dry.out).toContain(
      '1 dead letter in recap-compaction-dead; --yes publishes them to recap-compaction again',
    );
    expect(left()).toEqual(['m1', 'm2', 'm3']);

    const done = await ops(world, ['dead-letters', 'm2', '--yes'], { deadLetters });
    expect(done.out).toContain('1 dead letter published to recap-compaction again');
    expect(left()).toEqual(['m1', 'm3']);
    expect(published).toEqual([{ data: letters[1]?.data, attributes: {} }]);
  });

  test('dead letters that cannot be published stay', async () => {
    const letters = ['c-1', 'c-2', 'c-3'].map((id) => letter(id, request(id, 'r')));
    const { deadLetters, left } = boxOf(letters, 'c-2');

    const { code, err } = await ops(verifyWorld(), ['dead-letters', '--yes'], {
      deadLetters,
    });

    expect({ code, err }).toEqual({ code: 1, err: 'the bus is away\n' });
    expect(left()).toEqual(['c-2', 'c-3']);
  });

  test('the connection to Pub/Sub is closed once the command has ended, not before', async () => {
    const steps: string[] = [];
    const deadLetters = createDeadLetters({
      pull: async () => {
        await Promise.resolve();
        steps.push('pulled');
        return [];
      },
      putBack: () => Promise.resolve(void steps.push('put back')),
      acknowledge: () => Promise.resolve(),
      publish: () => Promise.resolve(),
      close: () => Promise.resolve(void steps.push('closed')),
    });

    await ops(verifyWorld(), ['dead-letters'], { deadLetters });

    expect(steps).toEqual(['pulled', 'pulled', 'put back', 'closed']);
  });

  test('the dead-letter command reports that there are none', async () => {
    const { deadLetters } = boxOf([]);

    const { code, out } = await ops(verifyWorld(), ['dead-letters'], { deadLetters });

    expect({ code, out }).toEqual({ code: 0, out: '0 dead letters in recap-compaction-dead\n' });
  });
});
