import type { StoredDocument, Write } from '../../../shared/ports.ts';
import { encodeUsage, type Usage } from '../../../shared/quota/usage.ts';

/** A user's document of a day as it becomes, guarded by how it was read. */
export const usageWrite = (
  of: { path: string; document: StoredDocument | undefined },
  usage: Usage,
  now: Date,
): Write => {
  const { path, document } = of;
  const fields = encodeUsage(usage, now);
  return document
    ? { op: 'update', path, fields, guard: { updateTime: document.updateTime } }
    : { op: 'create', path, fields };
};
