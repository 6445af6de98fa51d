import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

/** One request of the client, and the connection on which it is answered. */
export interface Exchange {
  method: string;
  path: string;
  query: URLSearchParams;
  headers: Readonly<Record<string, string>>;
  /** As it came. */
  bytes: Buffer;
  /** Of a JSON body. */
  body: unknown;
  arrivedAt: number;
  isClosed(): boolean;
  /** Resolves when no end has the connection any more. */
  closed: Promise<void>;
  reply(status: number, headers: Readonly<Record<string, string>>, json?: unknown): void;
  /** Begins a stream of events; comments say that it lives, unless it is silent. */
  begin(headers: Readonly<Record<string, string>>, heartbeatMs: number | undefined): void;
  write(text: string): void;
  /** Bytes in a write of their own; resolves when they are on their way. */
  writeBytes(bytes: Buffer): Promise<void>;
  /** In good order. */
  end(): void;
  reset(): void;
}

const crossOrigin = {
  'access-control-allow-origin': '*',
  'access-control-allow-headers': '*, authorization',
  'access-control-allow-methods': 'GET, POST, PUT, PATCH, DELETE',
  'access-control-expose-headers':
    'date, retry-after, x-should-retry, x-turn-id, x-request-id, etag',
  'access-control-max-age': '600',
};

function parsed(bytes: Buffer, type: string | undefined): unknown {
  if (!type?.includes('json')) return undefined;
  try {
    return JSON.parse(bytes.toString());
  } catch {
    return undefined;
  }
}

function createExchange(
  request: IncomingMessage,
  response: ServerResponse,
  { bytes, now }: { bytes: Buffer; now: () => Date },
): Exchange {
  const { pathname, searchParams } = new URL(request.url ?? '/', 'http://service');
  let isClosed = false;
  let heartbeat: NodeJS.Timeout | undefined;
  let isWithinEvent = false;
  const closed = new Promise<void>((resolve) => {
    response.on('close', () => {
      isClosed = true;
      clearInterval(heartbeat);
      resolve();
    });
  });
  // A connection of its own for each request: browsers repeat by themselves what fails on a used one.
  const head = (headers: Readonly<Record<string, string>>) => ({
    ...crossOrigin,
    connection: 'close',
    date: now().toUTCString(),
    ...headers,
  });
  return {
    method: request.method ?? '',
    path: decodeURIComponent(pathname),
    query: searchParams,
    headers: request.headers as Record<string, string>,
    bytes,
    body: parsed(bytes, request.headers['content-type']),
    arrivedAt: performance.now(),
    isClosed: () => isClosed,
    closed,
    reply(status, headers, json) {
      const type: Record<string, string> =
        json === undefined ? {} : { 'content-type': 'application/json' };
      response.writeHead(status, head({ ...type, ...headers }));
      response.end(json === undefined ? undefined : JSON.stringify(json));
    },
    begin(headers, heartbeatMs) {
      response.writeHead(200, head({ 'content-type': 'text/event-stream', ...headers }));
      response.write(': the stream begins\n\n');
      if (heartbeatMs === undefined) return;
      heartbeat = setInterval(() => {
        if (!isWithinEvent) response.write(': still here\n\n');
      }, heartbeatMs);
    },
    write(text) {
      if (!isClosed) response.write(text);
    },
    async writeBytes(piece) {
      if (isClosed) return;
      isWithinEvent = true;
      await new Promise<void>((resolve) => void response.write(piece, () => resolve()));
      // The next write is to be another packet, whatever the kernel joins.
      await new Promise((resolve) => void setTimeout(resolve, 2));
      isWithinEvent = !piece.toString().endsWith('\n');
    },
    end() {
      clearInterval(heartbeat);
      response.end();
    },
    reset() {
      clearInterval(heartbeat);
      if (request.socket.destroyed) return;
      request.socket.resetAndDestroy();
    },
  };
}

/** Listens on a free port of this machine; `arrived` is told of each request with its whole body. */
export async function listen(
  now: () => Date,
  arrived: (exchange: Exchange) => void,
): Promise<{ url: string; stop: () => void }> {
  const server = createServer((request, response) => {
    if (request.method === 'OPTIONS') {
      response.writeHead(204, { ...crossOrigin, connection: 'close' }).end();
      return;
    }
    const pieces: Buffer[] = [];
    request.on('data', (piece: Buffer) => void pieces.push(piece));
    request.on('error', () => undefined);
    request.on('end', () =>
      arrived(createExchange(request, response, { bytes: Buffer.concat(pieces), now })),
    );
  });
  await new Promise<void>((resolve) => void server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}`,
    stop: () => {
      server.close();
      server.closeAllConnections();
    },
  };
}
