import { gzipSync } from 'node:zlib';
import { afterAll, describe, expect, test } from 'vitest';
import { errorOf, startChatServer } from '#test/support/chat/chat-server.ts';
import { expectClean } from '#test/support/chat/http-answers.ts';
import { idTokenClaims } from '#test/support/token-keys.ts';

const chat = await startChatServer();
afterAll(() => chat.stop());

const sendStream = async (body: ReadableStream, headers: Record<string, string> = {}) => {
  const token = await chat.keys.sign(idTokenClaims(chat.project, 'alice'));
  return fetch(`${chat.url}/v1/conversations`, {
    method: 'POST',
    body,
    duplex: 'half',
    headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json', ...headers },
  });
};

describe('a body is refused when', () => {
  test('a body that announces too large a size is refused before it is read', async () => {
    const response = await chat.call('/v1/conversations', {
      body: { title: 'x'.repeat(2 * 1024 * 1024) },
    });

    const error = await errorOf(response);
    expectClean(error);
    expect(error).toMatchObject({ http: 413, reason: 'BODY_TOO_LARGE' });
    expect(error.message).toContain('1048576');
  });

  test('a body that grows too large in chunks is refused', async () => {
    const chunk = new TextEncoder().encode('x'.repeat(64 * 1024));
    const body = new ReadableStream({
      pull: (controller) => controller.enqueue(chunk),
    });

    const response = await sendStream(body);

    const error = await errorOf(response);
    expect(error).toMatchObject({ http: 413, reason: 'BODY_TOO_LARGE' });
  });

  test('a compressed body is refused: 20 MB are not inflated', async () => {
    const bomb = gzipSync(JSON.stringify({ title: 'x'.repeat(20_000_000) }));

    const response = await sendStream(new Blob([new Uint8Array(bomb)]).stream(), {
      'content-encoding': 'gzip',
    });

    const error = await errorOf(response);
    expectClean(error);
    expect(error).toMatchObject({ http: 415, reason: 'ENCODING_UNSUPPORTED' });
  });

  test('a body that is not UTF-8 is refused', async () => {
    const response = await sendStream(
      new Blob([new Uint8Array([0x22, 0xff, 0xfe, 0x22])]).stream(),
    );

    expect(await errorOf(response)).toMatchObject({ http: 400, reason: 'BAD_JSON' });
  });
});
