import { messageGuardPath } from '#shared/conversation/documents/paths.ts';
import type { DocumentStore } from '#shared/ports/ports.ts';
import type { SendRequest } from './turns/send/send-request.ts';

/**
 * A client's id, in lower case: a UUID is the same one in capitals. It stays as it was written where a document
 * stands under that: earlier releases stored ids so. Costs a read for an id with capitals alone.
 */
export async function idAsStored(
  { store }: { store: Pick<DocumentStore, 'get'> },
  id: string,
  pathOf: (id: string) => string,
): Promise<string> {
  const lower = id.toLowerCase();
  if (lower === id) return id;
  const [document] = await store.get([pathOf(id)]);
  return document ? id : lower;
}

/** The request with the ids of messages as they are stored. */
export async function withStoredIds(
  dependencies: { store: Pick<DocumentStore, 'get'> },
  request: SendRequest,
): Promise<SendRequest> {
  const { conversationId, message, replacing } = request;
  const asStored = (id: string) =>
    idAsStored(dependencies, id, (each) => messageGuardPath(conversationId, each));
  return {
    ...request,
    message: { ...message, id: await asStored(message.id) },
    ...(replacing && {
      replacing: { ...replacing, messageId: await asStored(replacing.messageId) },
    }),
  };
}
