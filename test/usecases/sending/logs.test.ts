import { randomUUID } from 'node:crypto';
import { afterEach, describe, expect, test } from 'vitest';
import { createJsonLogger } from '#functions/adapters/system/json-logger.ts';
import { logRequest } from '#functions/chat/http/log-request.ts';
import { startChatServer, type ChatServer } from '#test/support/chat/chat-server.ts';

let chat: ChatServer | undefined;
afterEach(async () => {
  await chat?.stop();
  chat = undefined;
});

/** Collects what a stream of this process is given until `restore`. */
function capture(stream: NodeJS.WriteStream, written: string[]): { restore: () => void } {
  const original = stream.write.bind(stream);
  stream.write = (piece: string | Uint8Array) => {
    written.push(typeof piece === 'string' ? piece : Buffer.from(piece).toString());
    return true;
  };
  return { restore: () => (stream.write = original) };
}

/** Everything that this process writes to its two outputs while `work` runs. */
async function outputOf(work: () => Promise<void>): Promise<string> {
  const written: string[] = [];
  const captures = [capture(process.stdout, written), capture(process.stderr, written)];
  try {
    await work();
  } finally {
    for (const { restore } of captures) restore();
  }
  return written.join('');
}

describe('what is logged', () => {
  test('logs have nothing of what users send, whatever goes wrong', async () => {
    const lines: string[] = [];
    const logger = createJsonLogger({
      write: (line) => lines.push(line),
      clock: { now: () => new Date() },
    });
    const sendMessage = () => Promise.reject(new Error(`broke on ${canary}`));
    const canary = `canary-${randomUUID()}`;
    const server = await startChatServer({ overrides: { logger }, collaborators: { sendMessage } });
    chat = server;
    const path = `/v1/conversations/${randomUUID()}/messages`;
    const message = { id: randomUUID(), parts: [{ type: 'text', text: canary }] };

    const output = await outputOf(async () => {
      const bodies = [
        { message },
        { message: { ...message, [canary]: canary } },
        { message: { ...message, id: canary } },
        `{"message": ${canary}`,
        `"${canary}`,
        { message, locale: canary },
      ];
      for (const body of bodies) await server.call(path, { body });
      await server.call(`/v1/${canary}`);
      await server.call(`/v1/conversations/${canary}`);
      await server.call(`/v1/conversations?${canary}=${canary}`);
      await server.call(`/v1/conversations?pageToken=${canary}`);
      await server.call('/v1/conversations', { token: canary });
    });

    expect(lines).toHaveLength(11);
    expect(lines.join('') + output).not.toContain(canary);
  });

  test('logs have one line per request with operation, status and a hashed user', async () => {
    chat = await startChatServer();

    const response = await chat.call('/v1/conversations', {
      uid: 'alice@example',
      headers: { 'x-cloud-trace-context': `${'a'.repeat(32)}/1;o=1` },
    });

    expect(chat.logs).toMatchObject([
      {
        severity: 'INFO',
        event: 'request',
        fields: {
          operation: 'listConversations',
          status: 200,
          requestId: response.headers.get('x-request-id'),
          uidHash: expect.stringMatching(/^[0-9a-f]{16}$/),
          'logging.googleapis.com/trace': `projects/${chat.project}/traces/${'a'.repeat(32)}`,
        },
      },
    ]);
    expect(JSON.stringify(chat.logs)).not.toContain('alice');
  });

  test('logs of a defect say where, not what', () => {
    const lines: string[] = [];
    const logger = createJsonLogger({
      write: (line) => lines.push(line),
      clock: { now: () => new Date(0) },
    });

    logRequest(logger, {
      operation: 'o',
      method: 'GET',
      status: 500,
      durationMs: 1,
      requestId: 'r',
      error: new TypeError('cannot read\n    at canary text'),
    });

    const line = JSON.parse(lines[0] ?? '');
    expect(line).toMatchObject({ severity: 'ERROR', error: 'TypeError' });
    expect(line.stack).toContain('logs.test.ts');
    expect(line.stack).not.toContain('canary');
  });
});

describe('the logger', () => {
  test('the logger writes one line for every reader, whatever a field holds', () => {
    const lines: string[] = [];
    const logger = createJsonLogger({
      write: (line) => lines.push(line),
      clock: { now: () => new Date(0) },
    });

    logger.log('INFO', 'file_named', { name: 'a\u2028b\u2029c\u0085d' });

    expect(lines.join('')).toContain(String.raw`"a\u2028b\u2029c\u0085d"`);
  });

  test('the logger writes one JSON line in the form of Cloud Logging', () => {
    const lines: string[] = [];
    const logger = createJsonLogger({
      write: (line) => lines.push(line),
      clock: { now: () => new Date(0) },
    });

    logger.log('WARNING', 'something', {
      count: 2,
      text: 'a\nb',
      severity: 'DEBUG',
      none: undefined,
    });

    expect(lines).toEqual([
      '{"count":2,"text":"a\\nb","severity":"WARNING","time":"1970-01-01T00:00:00.000Z","event":"something","message":"something"}\n',
    ]);
  });

  test('the logger never throws', () => {
    const logger = createJsonLogger({
      write: () => {
        throw new Error('EPIPE');
      },
      clock: { now: () => new Date(0) },
    });

    expect(() => logger.log('INFO', 'x', {})).not.toThrow();
  });
});
