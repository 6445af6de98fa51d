import { expect, test } from 'vitest';
import { createDeadLetters, type DeadLetter } from '#infra/ops/dead-letters.ts';
import type { DocumentFields } from '#shared/ports/ports.ts';
import { buildDue } from '#test/support/compaction/compacted-conversation.ts';
import { verifyWorld } from '../support/compaction/verifying.ts';
import { setConversation } from '#test/support/chat/lifecycle.ts';
import { ops } from '../support/processes/ops.ts';

const letter = (messageId: string, data: object | string): DeadLetter => ({
  ackId: `ack-${messageId}`,
  messageId,
  data: Buffer.from(typeof data === 'string' ? data : JSON.stringify(data)),
  attributes: { CloudPubSubDeadLetterSourceDeliveryCount: '8' },
  publishTime: new Date('2026-01-02T02:04:05.000Z'),
});

/** A subscription in memory: what is pulled is held until it is put back; one that is published is noted. */
function boxOf(letters: DeadLetter[]) {
  const waiting = [...letters];
  const published: { data: Buffer; attributes: Record<string, string> }[] = [];
  const steps: string[] = [];
  const deadLetters = createDeadLetters({
    pull: (_, most) => {
      steps.push('pulled');
      return Promise.resolve(waiting.splice(0, most));
    },
    putBack: (_, back) => {
      steps.push('put back');
      return Promise.resolve(void waiting.push(...back));
    },
    acknowledge: () => Promise.resolve(),
    publish: (_, message) => {
      published.push(message);
      return Promise.resolve();
    },
    close: () => Promise.resolve(void steps.push('closed')),
  });
  const left = () => waiting.map(({ messageId }) => messageId).toSorted();
  return { deadLetters, left, published, steps };
}

const request = (conversationId: string, requestId: string) => ({
  schemaVersion: 1,
  conversationId,
  requestId,
});

test('ops lists dead letters with the state of their conversations, and none of their content', async () => {
  const world = verifyWorld();
  const states: [DocumentFields, string][] = [
    [{}, 'still needed'],
    [{ compactionRequests: {} }, 'settled since'],
    [{ state: 'deleted' }, 'the conversation is deleted'],
    [{ schemaVersion: 2 }, 'deploy that one, or a later one'],
  ];
  const letters: DeadLetter[] = [];
  const expected: string[] = [];
  for (const [fields, why] of states) {
    const id = await buildDue(world);
    await setConversation(world, id, fields);
    letters.push(letter(`m${letters.length}`, request(id, 'request-1')));
    expected.push(`compact +${id} +.*${why}`);
  }
  letters.push(
    letter('m4', request('c-none', 'r')),
    letter('m5', { schemaVersion: 1, kind: 'sweep' }),
    letter('m6', 'never JSON: my secret'),
  );
  expected.push(
    'compact +c-none +.*no such conversation',
    '.*not about one conversation',
    '.*no event that this version knows',
  );
  const { deadLetters, steps } = boxOf(letters);

  const { code, out } = await ops(world, ['dead-letters'], { deadLetters });

  expected.forEach((line, index) =>
    expect(out).toMatch(new RegExp(`^m${index} +60 min +8 +${line}`, 'mu')),
  );
  expect(out).not.toContain('secret');
  expect(code).toBe(1);
  expect(steps.slice(-2)).toEqual(['put back', 'closed']);
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
