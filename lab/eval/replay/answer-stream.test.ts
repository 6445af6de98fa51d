import { describe, expect, test } from 'vitest';
import { readAnswerStream } from './answer-stream.ts';

const bodyOf = (...pieces: (string | Uint8Array)[]) =>
  ReadableStream.from(
    pieces.map((piece) => (typeof piece === 'string' ? new TextEncoder().encode(piece) : piece)),
  );

const event = (chunk: object) => `id: 1\ndata: ${JSON.stringify(chunk)}\n\n`;
const start = event({ type: 'start', messageId: 'm_3', messageMetadata: { generation: 2 } });
const finish = event({ type: 'finish', finishReason: 'stop', messageMetadata: {} });
const done = 'data: [DONE]\n\n';

describe('readAnswerStream', () => {
  test('joins the deltas and keeps id, generation and reason', async () => {
    const deltas = ['an', 'swer'].map((delta) => event({ type: 'text-delta', id: 'p0', delta }));

    const answer = await readAnswerStream(
      bodyOf(start, ...deltas, ': heartbeat\n\n', finish, done),
    );

    expect(answer).toMatchObject({
      messageId: 'm_3',
      text: 'answer',
      generation: 2,
      finishReason: 'stop',
    });
  });

  test('joins a character that was cut between two packets', async () => {
    const bytes = new TextEncoder().encode(event({ type: 'text-delta', id: 'p0', delta: '한' }));
    const cut = bytes.indexOf(0xed) + 1;

    const answer = await readAnswerStream(
      bodyOf(start, bytes.subarray(0, cut), bytes.subarray(cut), finish, done),
    );

    expect(answer.text).toBe('한');
  });

  test.each([
    { title: 'ends without finish', body: bodyOf(start, done) },
    { title: 'ends without [DONE]', body: bodyOf(start, finish) },
    { title: 'reports an error', body: bodyOf(start, event({ type: 'error', errorText: 'x' })) },
  ])('throws STREAM_BROKEN when the stream $title', async ({ body }) => {
    await expect(readAnswerStream(body)).rejects.toMatchObject({
      reason: 'STREAM_BROKEN',
      isRetryable: true,
    });
  });
});
