import { once } from 'node:events';
import { createServer, get, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { setImmediate as endOfTurn } from 'node:timers/promises';
import { expect, onTestFinished, test } from 'vitest';
import { breakOff, writeText } from '#functions/chat/http/write-text.ts';
import type { SentText } from '#functions/chat/http/response-body.ts';

const conversation = { status: 200, headers: new Headers({ 'x-turn-id': 't_1' }) };

/** Serves one text; resolves to the response as a client gets it, and to the end of the writing. */
async function serve(pieces: SentText['pieces'], watch?: (response: ServerResponse) => void) {
  const written = Promise.withResolvers<void>();
  const server = createServer((_, response) => {
    watch?.(response);
    const onBroken = () => breakOff(response);
    written.resolve(writeText(response, { pieces, onBroken }, conversation));
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  const { port } = server.address() as AddressInfo;
  const request = get({ host: '127.0.0.1', port, agent: false });
  const [response] = (await once(request, 'response')) as [IncomingMessage];
  return { response, written: written.promise };
}

async function* say(...pieces: string[]): AsyncGenerator<string> {
  for (const piece of pieces) yield await Promise.resolve(piece);
}

test('the text writer batches text of one event-loop turn and sends later text separately', async () => {
  const writes: unknown[] = [];
  const watch = (response: ServerResponse) => {
    const write = response.write.bind(response);
    response.write = (chunk: unknown) => {
      writes.push(chunk);
      return write(chunk);
    };
  };
  async function* pieces() {
    yield* say('a', 'b', 'c');
    await endOfTurn();
    await endOfTurn();
    yield* say('d');
  }
  const { response } = await serve(pieces, watch);

  expect(await text(response)).toBe('abcd');
  expect(writes).toEqual(['abc', 'd']);
});

test('a client that does not read stops the text', async () => {
  const piece = 'x'.repeat(64 * 1024);
  let said = 0;
  async function* pieces(left: AbortSignal) {
    while (!left.aborted && said < 10_000) {
      said += 1;
      yield await Promise.resolve(piece);
    }
  }
  const { response } = await serve(pieces);
  let before = -1;
  while (before !== said) {
    before = said;
    for (let turn = 0; turn < 200; turn++) await endOfTurn();
  }

  expect(said).toBeLessThan(1_000);
  response.destroy();
});

test('a reader who has gone before the text begins is told of', async () => {
  const gone = Promise.withResolvers<boolean>();
  const server = createServer((_, response) => {
    response.once('close', () => {
      const pieces = (left: AbortSignal) => {
        left.addEventListener('abort', () => gone.resolve(true));
        return say('too late');
      };
      void writeText(response, { pieces, onBroken: () => undefined }, conversation);
    });
    request.destroy();
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  onTestFinished(() => void server.close());
  const { port } = server.address() as AddressInfo;
  const request = get({ host: '127.0.0.1', port, agent: false }).on('error', () => undefined);

  expect(await gone.promise).toBe(true);
});
