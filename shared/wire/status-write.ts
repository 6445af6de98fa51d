import { statusPath } from '#shared/conversation/documents/paths.ts';
import type { DocumentFields, DocumentStore, Write } from '#shared/ports/ports.ts';
import type { ContextObject } from './resources/context-object.ts';

/** What a context object has only at times: nothing of the one before may stay. */
const optionalFields: readonly (keyof ContextObject)[] = ['leftOut', 'recalled'];

/**
 * The write that tells the owner's devices, to be put into the batch that makes it true. Chat and worker
 * may create the document at once: then one batch loses its guard, and its next try updates.
 */
export async function statusWrite(
  store: Pick<DocumentStore, 'get'>,
  conversationId: string,
  fields: DocumentFields,
): Promise<Write> {
  const path = statusPath(conversationId);
  const [document] = await store.get([path]);
  const remove = optionalFields.filter((name) => !(name in fields));
  return document
    ? { op: 'update', path, fields, remove, guard: { exists: true } }
    : { op: 'create', path, fields };
}
