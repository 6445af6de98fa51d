import { expect, test } from 'vitest';
import { readAnswer } from './client.ts';

const encoder = new TextEncoder();
const start = { type: 'start', messageMetadata: { generation: 2 } };
const said = (delta: string) => ({ type: 'text-delta', id: 'p0', delta });
const spoken = [start, { type: 'text-start', id: 'p0' }, said('한'), said('국')];
const context = { type: 'data-context', data: { thresholdTokens: 900 } };
const finish = { type: 'finish', messageMetadata: { usage: { promptTokens: 7 } } };

/** The stream of turn 3 with these frames, and what closes it. */
function replyOf(frames: readonly object[], end: string): Response {
  const events = frames.map((frame, id) => `id: ${id}\ndata: ${JSON.stringify(frame)}\n\n`);
  const bytes = encoder.encode(`${events.join(': heartbeat\n\n')}${end}`);
  // In the midst of the first character that has several bytes.
  const cut = bytes.indexOf(0xed) + 1;
  const body = ReadableStream.from([bytes.subarray(0, cut), bytes.subarray(cut)]);
  return new Response(body, { headers: { 'x-turn-id': 't_3' } });
}

const done = 'data: [DONE]\n\n';

test('a stream is joined, also a character that was cut between two packets', async () => {
  expect(await readAnswer(replyOf([...spoken, context, finish], done))).toEqual({
    kind: 'answered',
    seq: 3,
    text: '한국',
    generation: 2,
    promptTokens: 7,
    thresholdTokens: 900,
  });
});

test.each([
  ['ends without finish', spoken, done],
  ['ends without [DONE]', [...spoken, finish], ''],
  ['reports an error', [...spoken, { type: 'error', errorText: 'x' }], done],
])('a stream that %s is broken, and the message is sent again', async (_, frames, end) => {
  expect(await readAnswer(replyOf(frames, end))).toMatchObject({ kind: 'again' });
});

test('a stream that goes on after its finish is no stream of this interface', async () => {
  const reply = replyOf([...spoken, finish, said('.')], done);

  expect(await readAnswer(reply)).toMatchObject({ kind: 'odd' });
});
