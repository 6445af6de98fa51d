import type { DocumentFields, DocumentStore, Write } from '../ports.ts';
import { statusPath } from './paths.ts';

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
  return document
    ? { op: 'update', path, fields, guard: { exists: true } }
    : { op: 'create', path, fields };
}
