import { StoreUnavailableError } from '#shared/errors.ts';
import type { DocumentStore, EventPublisher, StoredDocument } from '#shared/ports/ports.ts';
import { checkQuery } from '#shared/store/checked-query.ts';
import { checkWrites } from '#shared/store/checked-write.ts';
import { checkCollectionPath, checkDocumentPath } from '#shared/store/names.ts';
import {
  decodeAnswer,
  decodeDocuments,
  encode,
  receivedError,
  type StoreCall,
} from './store-wire.ts';

interface StoreAddress {
  url: string;
  token: string;
}

const LENGTH_BYTES = 4;

/** The batches of a watch, as they come. */
async function* batchesOf(body: AsyncIterable<Uint8Array>): AsyncGenerator<StoredDocument[]> {
  let rest = Buffer.alloc(0);
  for await (const chunk of body) {
    rest = Buffer.concat([rest, chunk]);
    while (rest.length >= LENGTH_BYTES) {
      const end = LENGTH_BYTES + rest.readUInt32BE();
      if (rest.length < end) break;
      yield decodeDocuments(rest.subarray(LENGTH_BYTES, end));
      rest = rest.subarray(end);
    }
  }
}

/** The documents of a watch until `signal` fires. Throws StoreUnavailableError where they break off before. */
async function* whileWanted(
  signal: AbortSignal,
  open: (left: AbortSignal) => Promise<Response>,
): AsyncGenerator<StoredDocument[]> {
  if (signal.aborted) return;
  // One of our own: fetch would hold on to the caller's for as long as that lives.
  const left = new AbortController();
  const leave = (): void => left.abort();
  signal.addEventListener('abort', leave, { once: true });
  try {
    const { body } = await open(left.signal);
    if (body) yield* batchesOf(body);
  } catch (cause) {
    if (!signal.aborted) throw new StoreUnavailableError({ operation: 'watch', cause });
  } finally {
    signal.removeEventListener('abort', leave);
    left.abort();
  }
}

/** Calls to a store server. Both throw StoreUnavailableError where it does not answer. */
function createCaller(address: () => Promise<StoreAddress>) {
  async function post(call: StoreCall, signal?: AbortSignal): Promise<Response> {
    // At once: what the caller changes later is not of this call.
    const body = Uint8Array.from(encode(call));
    try {
      const { url, token } = await address();
      const response = await fetch(url, {
        method: 'POST',
        headers: { authorization: `Bearer ${token}` },
        body,
        ...(signal && { signal }),
      });
      if (response.status !== 200) throw new Error(`the store answered ${response.status}`);
      return response;
    } catch (cause) {
      signal?.throwIfAborted();
      throw new StoreUnavailableError({ operation: call.name, cause });
    }
  }

  /** What the operation gave, as the port declares it: both ends are of one version. */
  async function ask<T>(call: StoreCall, signal?: AbortSignal): Promise<T> {
    const response = await post(call, signal);
    const bytes = await response.arrayBuffer().catch((cause: unknown) => {
      signal?.throwIfAborted();
      throw new StoreUnavailableError({ operation: call.name, cause });
    });
    const answer = decodeAnswer(new Uint8Array(bytes));
    if ('error' in answer) throw receivedError(call, answer.error);
    return answer.value as T;
  }

  return { post, ask };
}

/**
 * The store and the bus of another process of this machine (`store-server.ts`). A connection that breaks is a
 * store that did not answer: what was committed over it may stand.
 */
export function createRemoteStore(address: () => Promise<StoreAddress>): {
  store: DocumentStore;
  publisher: EventPublisher;
} {
  const { post, ask } = createCaller(address);
  const store: DocumentStore = {
    async get(paths) {
      for (const path of paths) checkDocumentPath(path);
      return ask({ name: 'get', paths: [...paths] });
    },
    async commit(writes) {
      // Here already, so that the error names what is wrong.
      checkWrites(writes);
      return ask({ name: 'commit', writes });
    },
    async query(query) {
      checkQuery(query);
      return ask({ name: 'query', query });
    },
    async sum(collection, field) {
      checkCollectionPath(collection);
      return ask({ name: 'sum', collection, field });
    },
    async *watch(collection, signal) {
      checkCollectionPath(collection);
      yield* whileWanted(signal, (left) => post({ name: 'watch', collection }, left));
    },
    async deleteBelow(path, signal) {
      checkDocumentPath(path);
      signal?.throwIfAborted();
      return ask({ name: 'deleteBelow', path }, signal);
    },
  };
  return {
    store,
    publisher: { publish: (event) => ask<void>({ name: 'publish', event }) },
  };
}
