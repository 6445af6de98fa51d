import type { StoredDocument, Write } from '#shared/ports/ports.ts';
import { encodeUsage, type Usage } from '#shared/quota/usage.ts';

/** A user's document of a day as it becomes, guarded by how it was read. */
export const usageWrite = (
  input: { path: string; document: StoredDocument | undefined },
  usage: Usage,
  now: Date,
): Write => {
  const { path, document } = input;
  const expireTime = document?.fields['expireTime'];
  // The figures that an erasure has left go earlier than others, whatever is counted after it.
  const fields = { ...encodeUsage(usage, now), ...(expireTime instanceof Date && { expireTime }) };
  return document
    ? { op: 'update', path, fields, guard: { updateTime: document.updateTime } }
    : { op: 'create', path, fields };
};
