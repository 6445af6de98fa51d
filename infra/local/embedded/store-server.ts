import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { buffer } from 'node:stream/consumers';
import type { DocumentStore, EventPublisher } from '#shared/ports/ports.ts';
import { openServer } from '../processes/open-server.ts';
import { decodeCall, encode, sentError, type StoreCall } from './store-wire.ts';

interface StoreServer {
  url: string;
  close(): Promise<void>;
}

/** Length of a batch of a watch, before the batch. */
const LENGTH_BYTES = 4;

/** Documents as one piece of a watch's answer. */
function piece(bytes: Buffer): Buffer {
  const length = Buffer.alloc(LENGTH_BYTES);
  length.writeUInt32BE(bytes.length);
  return Buffer.concat([length, bytes]);
}

/** Lets other processes of this machine that know the token use a store and a bus. */
export async function serveStore(options: {
  store: DocumentStore;
  bus: EventPublisher;
  token: string;
  /** 0 or absent: any free port. */
  port?: number;
}): Promise<StoreServer> {
  const { store, bus, token } = options;

  async function run(call: Exclude<StoreCall, { name: 'watch' }>, gone: AbortSignal) {
    switch (call.name) {
      case 'get':
        return store.get(call.paths);
      case 'commit':
        return store.commit(call.writes);
      case 'query':
        return store.query(call.query);
      case 'sum':
        return store.sum(call.collection, call.field);
      case 'deleteBelow':
        return store.deleteBelow(call.path, gone);
      case 'publish':
        return bus.publish(call.event);
    }
  }

  async function serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    if (request.headers.authorization !== `Bearer ${token}`) {
      response.writeHead(403).end();
      return;
    }
    const gone = new AbortController();
    response.once('close', () => gone.abort());
    const call = decodeCall(await buffer(request));
    if (call.name === 'watch') {
      response.writeHead(200);
      for await (const documents of store.watch(call.collection, gone.signal))
        response.write(piece(encode(documents)));
      response.end();
      return;
    }
    const answer = await run(call, gone.signal).then(
      (value) => ({ value }),
      (error: unknown) => ({ error: sentError(error) }),
    );
    response.writeHead(200).end(encode(answer));
  }

  const server = createServer((request, response) => {
    // Whoever asked sees a broken connection, which is a store that does not answer.
    serve(request, response).catch(() => response.destroy());
  });
  return openServer(server, options.port);
}
